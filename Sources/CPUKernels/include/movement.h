#pragma once
// Moving elements about. `size` is an element's bytes: 1, 2, 4, 8 or 16. Strides are in elements.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CK_MOVE_MAX_RANK = 16 };

/// What functions that read indices return: the position of the first bad index (which entry of the index array, or
/// row
/// of entries), or one of these.
enum { CK_INDEX_OK = -1, CK_INDEX_UNSUPPORTED = -2 };

/// Copies an N-dimensional array between two strided layouts: permutations, slices, concatenations, reversals
/// (negative
/// strides) and broadcasts (source stride 0) are all this, with the addresses moved to the first element. The two
/// must
/// not overlap, and no element of the destination may be named twice. False if rank or size are out of range.
bool ck_copy(
    size_t size, int rank, const int64_t *extents, void *destination, const int64_t *destination_strides,
    const void *source, const int64_t *source_strides);

/// `count` copies of one element.
void ck_fill(size_t size, void *destination, size_t count, const void *value);

typedef enum { CK_PAD_CONSTANT, CK_PAD_REFLECT, CK_PAD_REPLICATE, CK_PAD_SYMMETRIC, CK_PAD_CIRCULAR } ck_pad_mode;

/// Dense [extents] to dense [before + extents + after]. Negative amounts crop. `value` is used by CONSTANT only.
/// False if
/// the mode cannot reach that far, an extent becomes negative or memory is short.
bool ck_pad(
    ck_pad_mode mode, size_t size, int rank, const int64_t *extents, const int64_t *before, const int64_t *after,
    void *output, const void *input, const void *value);

/// Dense: output[i0, i1, …] = input[indices[0][i0], indices[1][i1], …]. `indices` holds each output dimension's
/// table in
/// turn; an entry of −1 takes `value`.
void ck_pick(
    size_t size, int rank, const int64_t *output_extents, const int64_t *input_extents, const int64_t *indices,
    void *output, const void *input, const void *value);

/// output[i] = input[indices[i, 0], …, indices[i, depth − 1]], each a slice of `slice` bytes, for `count` rows of
/// indices
/// (any integer type; a negative one counts from the end). `extents` are the input's first `depth`.
int64_t ck_gather_nd(
    void *output, const void *input, int depth, const int64_t *extents, size_t slice, ck_type index_type,
    const void *indices, size_t count);

/// output[o, i, k] = input[o, indices[o, i, k], k]: input [outer, extent, inner], indices and output [outer, count,
/// inner].
int64_t ck_gather_along(
    size_t size, void *output, const void *input, size_t outer, size_t extent, size_t inner, ck_type index_type,
    const void *indices, size_t count);

typedef enum {
    CK_SCATTER_UPDATE,
    CK_SCATTER_ADD,
    CK_SCATTER_SUB,
    CK_SCATTER_MUL,
    CK_SCATTER_DIV,
    CK_SCATTER_MAX,
    CK_SCATTER_MIN
} ck_scatter_mode;

/// The reverse of ck_gather_nd, into `output`, which holds the old values: slices of `slice` elements, in order, so
/// that
/// the last of several updates of one place stays. `type` is not looked at by UPDATE.
int64_t ck_scatter_nd(
    ck_scatter_mode mode, ck_type type, size_t size, void *output, int depth, const int64_t *extents, size_t slice,
    ck_type index_type, const void *indices, size_t count, const void *updates);

/// The reverse of ck_gather_along, likewise.
int64_t ck_scatter_along(
    ck_scatter_mode mode, ck_type type, size_t size, void *output, size_t outer, size_t extent, size_t inner,
    ck_type index_type, const void *indices, size_t count, const void *updates);

#ifdef __cplusplus
}
#endif
