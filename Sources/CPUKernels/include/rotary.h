#pragma once
// Rotary embedding.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CK_ROTARY_MAX_RANK = 8, CK_ROTARY_MAX_WIDTH = 1024 };

/// Turns each pair (x[i], x[i + width / 2]) of a row by an angle, whose cosine and sine are at [i] and at
/// [i + width / 2] of a row of the tables, or at [i] for both where the tables are halves. Types are F16, BF16 or F32
/// throughout; arithmetic is in f32.
typedef struct {
    ck_type type;
    /// [extents…, width], dense. The output may be the input.
    const void *input;
    void *output;
    /// Dimensions before the last one, and the tables' strides along them, in elements.
    int rank;
    int64_t extents[CK_ROTARY_MAX_RANK], cos_strides[CK_ROTARY_MAX_RANK], sin_strides[CK_ROTARY_MAX_RANK];
    size_t width;
    const void *cos, *sin;
    bool half_tables;
} ck_rotary;

/// Runs on the thread pool. False for other types, or a rank or a width beyond the limits.
bool ck_rotary_run(const ck_rotary *rotary);

#ifdef __cplusplus
}
#endif
