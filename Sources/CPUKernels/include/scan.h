#pragma once

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { CK_SCAN_SUM, CK_SCAN_PRODUCT, CK_SCAN_MIN, CK_SCAN_MAX } ck_scan_op;

/// Each element joined with all before it (after it, if `reverse`) along the middle of [outer, count, inner]. 16-bit
/// floats accumulate in f32; integers wrap; min and max are NaN from the first NaN on. `output` may be `input`. False
/// for bool and unknown types.
bool ck_scan(
    ck_scan_op op, ck_type type, void *output, const void *input, size_t outer, size_t count, size_t inner,
    bool reverse);

#ifdef __cplusplus
}
#endif
