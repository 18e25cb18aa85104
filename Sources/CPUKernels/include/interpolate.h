#pragma once

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { CK_INTERPOLATE_LINEAR, CK_INTERPOLATE_NEAREST } ck_interpolate_mode;

/// Resizes a dense array of rank 1 to 8: output position i reads the input at (i + ½ − offset) / scale − ½, clamped
/// to the edge; nearest rounds ties to even and takes every type. Linear mixes in f32 (f64 in f64), cuts off the
/// fraction of integers, and takes no bools; a neighbour without a share does not count, even if it is NaN. False for
/// other types or ranks, an empty input, or if memory is short.
bool ck_interpolate(
    ck_interpolate_mode mode, ck_type type, void *output, const void *input, int rank, const int64_t *input_extents,
    const int64_t *output_extents, const float *scale, const float *offset);

/// One value of the array for each of `count` points, given as `rank` coordinates of its elements each.
bool ck_interpolate_points(
    ck_interpolate_mode mode, ck_type type, void *output, const void *input, int rank, const int64_t *extents,
    const float *points, size_t count);

#ifdef __cplusplus
}
#endif
