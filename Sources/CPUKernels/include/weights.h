#pragma once
// Compressed weights: elements narrower than a byte, and 8-bit floats.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CK_PACKED_SIGNED,
    CK_PACKED_UNSIGNED,
    CK_PACKED_F8E5M2,
    CK_PACKED_F8E4M3FN,
    CK_PACKED_F8E8M0FN,
    CK_PACKED_F4E2M1FN
} ck_packed_kind;

/// Writes `count` elements of `bits` (1 to 8) bits each, from element `first` on, as f32. Elements are packed least
/// significant bit first and may cross bytes.
void ck_unpack_f32(ck_packed_kind kind, int bits, const void *source, size_t first, size_t count, float *output);

/// The same for unsigned indices.
void ck_unpack_u8(int bits, const void *source, size_t first, size_t count, uint8_t *output);

#ifdef __cplusplus
}
#endif
