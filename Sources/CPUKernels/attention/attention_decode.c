// Attention of a few queries, as in decoding: bound by reading keys and values once, so they are not packed. One query
// a head means that the heads of a group can be the rows of one product; several queries are the rows themselves.

#include <stdatomic.h>

#include "attention_internal.h"

enum { KEY_BLOCK = 512, ROWS = 4 };

typedef struct {
    const ck_attention_job *job;
    size_t batch, group;
    size_t head[ROWS], query[ROWS], rows;
    float *q, *scores, *out, *part, *mask;
} decoding;

static void load_queries(const decoding *d) {
    const ck_attention *a = d->job->a;
    for (size_t i = 0; i < d->rows; i++) {
        const char *from = ck_row(a->q, a->q_type, a->q_stride, d->batch, d->head[i], d->query[i]);
        // One row of a panel of A is the row itself.
        float *to = d->q + i * a->depth;
        d->job->gemm->pack_a(a->q_type, from, 1, 1, 1, a->depth, to);
        for (size_t j = 0; j < a->depth; j++) to[j] *= a->scale;
    }
}

static void run_rows(const decoding *d) {
    const ck_attention *a = d->job->a;
    const ck_gemm_kernels *gemm = d->job->gemm;
    size_t depth = a->value_depth;
    float greatest[ROWS], sum[ROWS] = {0};
    for (size_t i = 0; i < ROWS; i++) greatest[i] = -__builtin_inff();
    load_queries(d);
    memset(d->out, 0, d->rows * depth * sizeof(float));
    for (size_t key = 0; key < a->keys; key += KEY_BLOCK) {
        size_t keys = a->keys - key < KEY_BLOCK ? a->keys - key : KEY_BLOCK;
        const char *k = ck_row(a->k, a->k_type, a->k_stride, d->batch, d->group, key);
        const char *v = ck_row(a->v, a->v_type, a->v_stride, d->batch, d->group, key);
        gemm->thin(d->rows, a->depth, keys, d->q, (ptrdiff_t)a->depth, a->k_type, k, 1, a->k_stride[2], d->scores,
            KEY_BLOCK);
        for (size_t i = 0; i < d->rows; i++) {
            float *scores = d->scores + i * KEY_BLOCK;
            ptrdiff_t sight = (ptrdiff_t)d->query[i] + a->causal_offset - (ptrdiff_t)key + 1;
            for (size_t j = a->causal && sight > 0 ? (size_t)sight : 0; a->causal && j < keys; j++) {
                scores[j] = -__builtin_inff();
            }
            if (a->mask) ck_mask_row(a, d->batch, d->head[i], d->query[i], key, keys, d->mask);
            float factor = d->job->kernels->soften_row(scores, keys, a->mask ? d->mask : NULL, &greatest[i], &sum[i]);
            for (size_t j = 0; key > 0 && j < depth; j++) d->out[i * depth + j] *= factor;
        }
        gemm->thin(d->rows, keys, depth, d->scores, KEY_BLOCK, a->v_type, v, a->v_stride[2], 1, d->part,
            (ptrdiff_t)depth);
        for (size_t j = 0; j < d->rows * depth; j++) d->out[j] += d->part[j];
    }
    static const ck_epilogue nothing;
    for (size_t i = 0; i < d->rows; i++) {
        float factor = ck_last_factor(sum[i]);
        for (size_t j = 0; j < depth; j++) d->out[i * depth + j] *= factor;
        char *to = (char *)ck_row(a->out, a->out_type, a->out_stride, d->batch, d->head[i], d->query[i]);
        gemm->finish(&nothing, NULL, 0, 0, 1, depth, d->out + i * depth, 0, a->out_type, to, 0);
    }
}

void ck_attention_decode(void *context, size_t begin, size_t end) {
    ck_attention_job *job = context;
    const ck_attention *a = job->a;
    size_t heads = a->heads / a->kv_heads, q_size = ROWS * a->depth + 16, out_size = ROWS * a->value_depth + 16;
    float *memory = ck_scratch(CK_SCRATCH_OUTER, (q_size + 2 * out_size + (ROWS + 1) * KEY_BLOCK) * sizeof(float));
    if (!memory) {
        atomic_store(&job->failed, true);
        return;
    }
    decoding d = {.job = job, .scores = memory, .mask = memory + ROWS * KEY_BLOCK};
    d.q = d.mask + KEY_BLOCK;
    d.out = d.q + q_size;
    d.part = d.out + out_size;
    for (size_t unit = begin; unit < end; unit++) {
        d.group = unit % a->kv_heads;
        d.batch = unit / a->kv_heads;
        size_t count = heads * a->queries;
        bool by_query = a->queries > 1;
        for (size_t row = 0; row < count; row += d.rows) {
            // Rows of one product share their keys, whether they are queries of one head or heads of one group.
            d.rows = count - row < ROWS ? count - row : ROWS;
            for (size_t i = 0; i < d.rows; i++) {
                d.head[i] = d.group * heads + (by_query ? (row + i) / a->queries : row + i);
                d.query[i] = by_query ? (row + i) % a->queries : 0;
            }
            run_rows(&d);
        }
    }
}
