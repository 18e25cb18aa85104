#pragma once
// What every kernel shares: element types, the CPU level that kernels are chosen by, 16-bit float conversion.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CK_BOOL,
    CK_I8,
    CK_I16,
    CK_I32,
    CK_I64,
    CK_U8,
    CK_U16,
    CK_U32,
    CK_U64,
    CK_F16,
    CK_BF16,
    CK_F32,
    CK_F64
} ck_type;

/// Bytes of one element; 0 for an unknown type.
static inline size_t ck_type_size(ck_type type) {
    switch (type) {
        case CK_BOOL:
        case CK_I8:
        case CK_U8:
            return 1;
        case CK_I16:
        case CK_U16:
        case CK_F16:
        case CK_BF16:
            return 2;
        case CK_I32:
        case CK_U32:
        case CK_F32:
            return 4;
        case CK_I64:
        case CK_U64:
        case CK_F64:
            return 8;
    }
    return 0;
}

/// What the kernels may use of this CPU: 0 plain C, 1 AVX2 + FMA + F16C, 2 also AVX-512 F, BW, DQ and VL.
int ck_cpu_level(void);

/// Lowers the level (never above what the CPU has) for the calling thread and the loops that it runs, and returns the
/// level now in force; a negative level takes the limit away. For tests. Packed operands keep the level that they were
/// packed at, and are used at it.
int ck_set_cpu_level(int level);

static inline uint32_t ck_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float ck_f32_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/// Exact; signalling NaNs become quiet ones, as the hardware's conversion does it.
static inline float ck_f16_to_f32(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 31u, fraction = half & 1023u;
    if (exponent == 0) return ck_f32_from_bits(sign | ck_f32_bits((float)fraction * 0x1p-24f));
    if (exponent == 31) return ck_f32_from_bits(sign | 0x7f800000u | (fraction ? 0x400000u : 0u) | fraction << 13);
    return ck_f32_from_bits(sign | (exponent + 112u) << 23 | fraction << 13);
}

/// Rounds to nearest, ties to even.
static inline uint16_t ck_f32_to_f16(float value) {
    uint32_t bits = ck_f32_bits(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (bits >> 13 & 0x3ffu));
    if (bits >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
    // Below the normal range: the float unit rounds at the right place, since 0.5's last bit is worth 2^-24.
    if (bits < 0x38800000u) return (uint16_t)(sign | (ck_f32_bits(ck_f32_from_bits(bits) + 0.5f) - 0x3f000000u));
    bits += 0xfffu + (bits >> 13 & 1u);
    return (uint16_t)(sign | (bits - 0x38000000u) >> 13);
}

/// Exact.
static inline float ck_bf16_to_f32(uint16_t brain) { return ck_f32_from_bits((uint32_t)brain << 16); }

/// Rounds to nearest, ties to even.
static inline uint16_t ck_f32_to_bf16(float value) {
    uint32_t bits = ck_f32_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#ifdef __cplusplus
}
#endif
