#pragma once

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { CK_POOL_MAX, CK_POOL_SUM } ck_pool_op;

/// Windows over `planes` (batch · channels) planes of up to three dimensions; a 2-D pool has a first extent of 1.
/// Places outside of the input count as −inf (max; integers: the least) or 0 (sum), which covers ceil mode and, with
/// `before`, a padding by that value. NaN passes through; integer sums wrap; 16-bit floats add in f32.
typedef struct {
    ck_pool_op op;
    ck_type type;
    const void *input;
    void *output;
    size_t planes;
    /// output[i] covers input[i · stride − before + k · dilation] for k in 0 ..< kernel.
    int64_t input_extents[3], output_extents[3], kernel[3], stride[3], dilation[3], before[3];
} ck_pool;

/// False for bool, if an extent, stride or dilation is out of range, or if memory is short.
bool ck_pool_run(const ck_pool *pool);

#ifdef __cplusplus
}
#endif
