// What the parts of the attention share.
#pragma once

#include "attention.h"
#include "../gemm/gemm_internal.h"

typedef struct {
    /// Scores to weights, column by column: `scores` is keys × nr, one query a column. Keeps each column's greatest
    /// score and sum over the calls, and leaves in `factor` what earlier sums must be multiplied by. `mask`, keys × nr,
    /// and `key_mask`, one a key, are added; keys beyond a column's `limit` are hidden. All three may be null.
    void (*soften_columns)(float *scores, size_t keys, size_t columns, const float *mask, const float *key_mask,
        const float *limit, float *greatest, float *sum, float *factor);
    /// Each of the rows of nr floats times `factor`.
    void (*scale_columns)(float *rows, size_t count, size_t columns, const float *factor);
    /// The same for one query whose scores lie in a row; returns the factor.
    float (*soften_row)(float *scores, size_t keys, const float *mask, float *greatest, float *sum);
} ck_attention_kernels;

extern const ck_attention_kernels ck_attention_kernels_portable;
#if defined(__x86_64__)
extern const ck_attention_kernels ck_attention_kernels_avx2, ck_attention_kernels_avx512;
#endif

/// One call's description with the kernels that it uses.
typedef struct {
    const ck_attention *a;
    const ck_attention_kernels *kernels;
    const ck_gemm_kernels *gemm;
    size_t chunks, chunk_rows;
    /// An atomic flag.
    _Atomic bool failed;
} ck_attention_job;

/// Where a tensor's (batch, head, row) starts.
static inline const char *ck_row(const void *base, ck_type type, const ptrdiff_t stride[4], size_t batch, size_t head,
    size_t row) {
    ptrdiff_t at = (ptrdiff_t)batch * stride[0] + (ptrdiff_t)head * stride[1] + (ptrdiff_t)row * stride[2];
    return (const char *)base + at * (ptrdiff_t)ck_type_size(type);
}

/// What a query's weighted values are multiplied by at the end: none seen is zero over zero, none there is nothing.
static inline float ck_last_factor(float sum) {
    return sum == 0 ? 0.0f : 1.0f / sum;
}

/// Masks of `count` keys from `key`, as numbers to add.
void ck_mask_row(const ck_attention *a, size_t batch, size_t head, size_t query, size_t key, size_t count, float *to);

/// Attention of few queries: keys and values are read where they lie. Tasks count batch × kv_heads.
void ck_attention_decode(void *job, size_t begin, size_t end);
