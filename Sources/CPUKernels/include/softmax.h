#pragma once

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// e^(x − max) over its sum, along the middle of [outer, count, inner], for a float type. Elements of +inf share 1
/// between them, −inf gives 0 (a slice of nothing else is all 0), NaN makes its whole slice NaN.
/// `output` may be `input`. False for other types.
bool ck_softmax(ck_type type, void *output, const void *input, size_t outer, size_t count, size_t inner);

#ifdef __cplusplus
}
#endif
