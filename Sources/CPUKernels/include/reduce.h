#pragma once
// Reductions of dense, row-major arrays.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    /// Integers wrap, and bools are counted as or; floats add in f32 (f64 in f64), pairwise.
    CK_REDUCE_SUM,
    /// Floats only.
    CK_REDUCE_MEAN,
    CK_REDUCE_PRODUCT,
    /// NaN if any is.
    CK_REDUCE_MAX,
    CK_REDUCE_MIN,
    /// Bool only.
    CK_REDUCE_ANY,
    CK_REDUCE_ALL,
    /// Floats only.
    CK_REDUCE_SUM_SQUARES
} ck_reduce_op;

/// Reduces the middle of [outer, count, inner] to [outer, inner], of the same type. Of nothing: sum 0, product 1,
/// mean
/// NaN, max −inf or the least integer, min likewise, any false, all true. False if the type has no such reduction or
/// memory is short.
bool ck_reduce(
    ck_reduce_op op, ck_type type, void *output, const void *input, size_t outer, size_t count, size_t inner);

/// Reduces the dimensions d whose bit `1 << d` is set in `axes` (rank at most 16).
bool ck_reduce_axes(
    ck_reduce_op op, ck_type type, void *output, const void *input, int rank, const int64_t *extents, uint32_t axes);

/// The index along the middle of [outer, count, inner] of the greatest (or least) element, the first of equal ones.
/// Only
/// an element that beats `initial` (of the input's type; NULL: −inf or the least integer, for the least element
/// +inf or
/// the greatest) is counted, so NaN never is; if none does the result is `initial_index`.
bool ck_arg_reduce(
    bool greatest, ck_type type, uint32_t *output, const void *input, size_t outer, size_t count, size_t inner,
    const void *initial, uint32_t initial_index);

#ifdef __cplusplus
}
#endif
