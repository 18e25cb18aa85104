#include "include/weights.h"

#include <math.h>
#include <string.h>

static inline unsigned field(const uint8_t *bytes, size_t index, int bits) {
    size_t bit = index * (size_t)bits;
    unsigned value = bytes[bit / 8] >> (bit % 8);
    // A field crosses into the next byte only where that byte is part of the array.
    if (bit % 8 + (size_t)bits > 8) value |= (unsigned)bytes[bit / 8 + 1] << (8 - bit % 8);
    return value & ((1u << bits) - 1);
}

static float minifloat(unsigned code, int exponent_bits, int mantissa_bits, int bias) {
    unsigned mantissa = code & ((1u << mantissa_bits) - 1);
    unsigned exponent = (code >> mantissa_bits) & ((1u << exponent_bits) - 1);
    float sign = (code >> (exponent_bits + mantissa_bits)) & 1 ? -1.0f : 1.0f;
    if (exponent == 0) return sign * ldexpf((float)mantissa, 1 - bias - mantissa_bits);
    return sign * ldexpf((float)(mantissa | 1u << mantissa_bits), (int)exponent - bias - mantissa_bits);
}

static float decode(ck_packed_kind kind, unsigned code, int bits) {
    switch (kind) {
    case CK_PACKED_SIGNED: return (float)((int)(code << (32 - bits)) >> (32 - bits));
    case CK_PACKED_UNSIGNED: return (float)code;
    case CK_PACKED_F8E5M2:
        // Infinities and NaNs as IEEE has them.
        if ((code & 0x7C) == 0x7C) return code & 3 ? NAN : (code & 0x80 ? -INFINITY : INFINITY);
        return minifloat(code, 5, 2, 15);
    case CK_PACKED_F8E4M3FN: return (code & 0x7F) == 0x7F ? NAN : minifloat(code, 4, 3, 7);
    case CK_PACKED_F8E8M0FN: return code == 0xFF ? NAN : ldexpf(1.0f, (int)code - 127);
    case CK_PACKED_F4E2M1FN: return minifloat(code, 2, 1, 1);
    }
    return NAN;
}

void ck_unpack_f32(ck_packed_kind kind, int bits, const void *source, size_t first, size_t count, float *output) {
    if (bits < 1 || bits > 8) return;
    float table[256];
    for (unsigned code = 0; code < 1u << bits; code++) table[code] = decode(kind, code, bits);
    for (size_t i = 0; i < count; i++) output[i] = table[field(source, first + i, bits)];
}

void ck_unpack_u8(int bits, const void *source, size_t first, size_t count, uint8_t *output) {
    if (bits < 1 || bits > 8) return;
    if (bits == 8) {
        if (count) memcpy(output, (const uint8_t *)source + first, count);
        return;
    }
    for (size_t i = 0; i < count; i++) output[i] = (uint8_t)field(source, first + i, bits);
}
