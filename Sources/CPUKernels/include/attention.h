#pragma once
// Scaled dot-product attention: softmax(scale · Q Kᵀ + mask) V, without the matrix of scores in memory.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Q is batch × heads × queries × depth, K batch × kv_heads × keys × depth, V batch × kv_heads × keys × value_depth,
/// the output batch × heads × queries × value_depth: f32, f16 or bf16, with a stride in elements for each dimension. A
/// group of heads / kv_heads neighbouring heads shares its keys and values.
typedef struct {
    size_t batch, heads, kv_heads, queries, keys, depth, value_depth;
    const void *q, *k, *v;
    void *out;
    ck_type q_type, k_type, v_type, out_type;
    ptrdiff_t q_stride[4], k_stride[4], v_stride[4], out_stride[4];
    float scale;
    /// Added to the scores where it is f32, f16 or bf16; where it is bool, false hides a key. Strides of batch, head,
    /// query, key (0 repeats). Null: none.
    const void *mask;
    ck_type mask_type;
    ptrdiff_t mask_stride[4];
    /// Query i sees keys up to i + causal_offset.
    bool causal;
    ptrdiff_t causal_offset;
} ck_attention;

/// Runs on the thread pool. A query that sees no key comes out as zeros, as softmax over minus infinities does. False
/// where memory ran out or the heads are no multiple of kv_heads. Each thread keeps a buffer of at most 512 rows of Q
/// and of the output and 256 keys and values, f32.
bool ck_attention_run(const ck_attention *attention);

#ifdef __cplusplus
}
#endif
