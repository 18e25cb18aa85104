#pragma once
// Copies between strided arrays.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Copies a box of `rank` dimensions (16 at most), element by element of `size` bytes. Strides are in elements, 0 and
/// negative ones allowed in the source. Source and target must not overlap.
void ck_copy_strided(
    size_t size, int rank, const int64_t *extents, void *target, const int64_t *target_strides, const void *source,
    const int64_t *source_strides);

#ifdef __cplusplus
}
#endif
