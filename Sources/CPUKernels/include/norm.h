#pragma once
// Normalization: (x − mean) / sqrt(variance + ε) · weight + bias, or x / sqrt(mean of squares + ε) · weight + bias.
// Types are F16, BF16 or F32 throughout; statistics and arithmetic are in f32.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Over the last dimension of [rows, length].
typedef struct {
    /// Of input, residual, sum and output.
    ck_type type;
    const void *input;
    /// (optional) Added to the input first.
    const void *residual;
    /// (optional) Receives input + residual, rounded to the type. What is normalized is the unrounded sum.
    void *sum;
    /// May be `input` or `residual`.
    void *output;
    size_t rows, length;
    float epsilon;
    /// Root mean square: the mean is not subtracted.
    bool root_mean_square;
    /// (optional) `length` elements each.
    const void *weight, *bias;
    ck_type weight_type, bias_type;
} ck_row_norm;

bool ck_normalize_rows(const ck_row_norm *norm);

/// Over each group of [batch, groups, channels, length]: `channels` per group, `length` elements per channel. Instance
/// normalization has one channel per group. Weight and bias (optional) have groups · channels elements.
typedef struct {
    ck_type type;
    const void *input;
    /// May be `input`.
    void *output;
    size_t batch, groups, channels, length;
    float epsilon;
    const void *weight, *bias;
    ck_type weight_type, bias_type;
} ck_group_norm;

bool ck_normalize_groups(const ck_group_norm *norm);

#ifdef __cplusplus
}
#endif
