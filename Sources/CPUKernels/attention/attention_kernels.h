// The attention's softmax at one level: attention_portable.c, attention_avx2.c and attention_avx512.c include it.

#include "attention_internal.h"
#include "../gemm/simd_math.h"

#define NR (2 * CK_W)

CK_LEVEL_BEGIN

// Minus infinity minus itself would be NaN: a column that has seen no key yet keeps zeros, as softmax gives them.
CK_INLINE vf finite_or_zero(vf x) { return vf_select(x == -__builtin_inff(), vf_set1(0.0f), x); }

CK_INLINE void soften_vector(float *scores, size_t keys, const float *mask, const float *key_mask, const float *limit,
    float *greatest, float *sum, float *factor) {
    const vf hidden = vf_set1(-__builtin_inff());
    vf old = vf_load(greatest), most = old, total = {0};
    if (mask || key_mask || limit) {
        for (size_t i = 0; i < keys; i++) {
            vf s = vf_load(scores + i * NR);
            if (mask) s += vf_load(mask + i * NR);
            if (key_mask) s += vf_set1(key_mask[i]);
            if (limit) s = vf_select(vf_load(limit) >= vf_set1((float)i), s, hidden);
            vf_store(scores + i * NR, s);
            most = vf_max(most, s);
        }
    } else {
        for (size_t i = 0; i < keys; i++) most = vf_max(most, vf_load(scores + i * NR));
    }
    vf base = finite_or_zero(most);
    for (size_t i = 0; i < keys; i++) {
        vf p = vf_exp(vf_load(scores + i * NR) - base);
        vf_store(scores + i * NR, p);
        total += p;
    }
    vf f = vf_exp(old - base);
    vf_store(factor, f);
    vf_store(sum, vf_load(sum) * f + total);
    vf_store(greatest, most);
}

static void soften_columns(float *scores, size_t keys, size_t columns, const float *mask, const float *key_mask,
    const float *limit, float *greatest, float *sum, float *factor) {
    for (size_t j = 0; j < columns; j += CK_W) {
        soften_vector(scores + j, keys, mask ? mask + j : NULL, key_mask, limit ? limit + j : NULL, greatest + j,
            sum + j, factor + j);
    }
}

static void scale_columns(float *rows, size_t count, size_t columns, const float *factor) {
    for (size_t j = 0; j < columns; j += CK_W) {
        vf f = vf_load(factor + j);
        for (size_t i = 0; i < count; i++) vf_store(rows + i * NR + j, vf_load(rows + i * NR + j) * f);
    }
}

static float soften_row(float *scores, size_t keys, const float *mask, float *greatest, float *sum) {
    vf most = vf_set1(*greatest);
    size_t whole = keys / CK_W * CK_W;
    for (size_t i = 0; mask && i < keys; i++) scores[i] += mask[i];
    for (size_t i = 0; i < whole; i += CK_W) most = vf_max(most, vf_load(scores + i));
    float top = *greatest;
    for (int i = 0; i < CK_W; i++) top = most[i] > top ? most[i] : top;
    for (size_t i = whole; i < keys; i++) top = scores[i] > top ? scores[i] : top;
    float base = top == -__builtin_inff() ? 0.0f : top;
    vf total = {0};
    for (size_t i = 0; i < whole; i += CK_W) {
        vf p = vf_exp(vf_load(scores + i) - base);
        vf_store(scores + i, p);
        total += p;
    }
    float rest = 0;
    if (whole < keys) {
        vf p = vf_exp(vf_load_n(scores + whole, keys - whole) - base);
        vf_store_n(scores + whole, p, keys - whole);
        for (size_t i = whole; i < keys; i++) rest += scores[i];
    }
    float factor = vf_exp(vf_set1(*greatest - base))[0];
    *sum = *sum * factor + vf_sum(total) + rest;
    *greatest = top;
    return factor;
}

const ck_attention_kernels CK_NAME(ck_attention_kernels) = {
    .soften_columns = soften_columns, .scale_columns = scale_columns, .soften_row = soften_row};

CK_LEVEL_END
