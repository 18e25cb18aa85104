#pragma once

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The indices that sort the middle of [outer, count, inner], stably; NaN comes last in both orders, −0 equals 0. The
/// result serves as int32 too. False if memory is short or `count` is beyond int32.
bool ck_argsort(
    ck_type type, uint32_t *output, const void *input, size_t outer, size_t count, size_t inner, bool descending);

/// The sorted elements. `output` may be `input`.
bool ck_sort(
    ck_type type, void *output, const void *input, size_t outer, size_t count, size_t inner, bool descending);

#ifdef __cplusplus
}
#endif
