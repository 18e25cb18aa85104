// Attention over blocks of keys, with everything transposed: scores are keys × queries, so that the softmax runs along
// whole vectors of queries, and the weights are, as they come, the packed right operand of the product with Vᵀ.

#include "attention.h"

#include <stdatomic.h>

#include "attention_internal.h"
#include "thread_pool.h"

enum { KEY_BLOCK = 256, CHUNK_ROWS = 512, DECODE_QUERIES = 4, MAX_NR = 32 };

static const ck_attention_kernels *kernels_at(int level) {
#if defined(__x86_64__)
    if (level == 2) return &ck_attention_kernels_avx512;
    if (level == 1) return &ck_attention_kernels_avx2;
#endif
    (void)level;
    return &ck_attention_kernels_portable;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceiling(size_t a, size_t b) { return (a + b - 1) / b; }

static float widened(ck_type type, const void *p, ptrdiff_t at) {
    if (type == CK_F32) return ((const float *)p)[at];
    if (type == CK_BOOL) return ((const uint8_t *)p)[at] ? 0.0f : -__builtin_inff();
    uint16_t bits = ((const uint16_t *)p)[at];
    return type == CK_F16 ? ck_f16_to_f32(bits) : ck_bf16_to_f32(bits);
}

void ck_mask_row(const ck_attention *a, size_t batch, size_t head, size_t query, size_t key, size_t count, float *to) {
    ptrdiff_t step = a->mask_stride[3];
    const char *from = ck_row(a->mask, a->mask_type, a->mask_stride, batch, head, query);
    from += (ptrdiff_t)key * step * (ptrdiff_t)ck_type_size(a->mask_type);
    if (a->mask_type == CK_F32 && step == 1) {
        memcpy(to, from, count * sizeof(float));
    } else if (a->mask_type == CK_BOOL && step == 1) {
        for (size_t i = 0; i < count; i++) to[i] = from[i] ? 0.0f : -__builtin_inff();
    } else {
        for (size_t i = 0; i < count; i++) to[i] = widened(a->mask_type, from, (ptrdiff_t)i * step);
    }
}

// Panels of `rows` × k at any strides; one of the two is usually 1, which is what the packing takes.
static void pack_panels(const ck_gemm_kernels *gemm, ck_type type, const char *from, ptrdiff_t row, ptrdiff_t column,
    size_t rows, size_t k, size_t panels, float *to) {
    for (size_t p = 0; p < panels; p++) {
        size_t start = ck_panel_start(p, panels, rows), height = ck_panel_start(p + 1, panels, rows) - start;
        const char *at = from + (ptrdiff_t)start * row * (ptrdiff_t)ck_type_size(type);
        float *panel = to + start * k;
        if (row == 1 || column == 1) {
            gemm->pack_a(type, at, row, column, height, k, panel);
            continue;
        }
        for (size_t s = 0; s < k; s++) {
            for (size_t i = 0; i < height; i++) {
                panel[s * height + i] = widened(type, at, (ptrdiff_t)i * row + (ptrdiff_t)s * column);
            }
        }
    }
}

// One task's place in memory: everything that it keeps.
typedef struct {
    const ck_attention_job *job;
    size_t batch, head, first, rows, blocks;  // rows of Q from `first`, in blocks of nr
    float *q, *out, *greatest, *sum;          // per block
    float *k, *v, *scores, *mask, *rows_mask, *tile;
} task;

static size_t size_task(const ck_attention_job *job, float *memory, task *t) {
    const ck_attention *a = job->a;
    size_t nr = job->gemm->nr, blocks = ceiling(job->chunk_rows, nr), used = 0;
    float **parts[] = {&t->q, &t->out, &t->greatest, &t->sum, &t->k, &t->v, &t->scores, &t->mask, &t->rows_mask,
        &t->tile};
    bool masks = a->mask != NULL;
    const size_t sizes[] = {blocks * nr * a->depth, blocks * nr * a->value_depth, blocks * nr, blocks * nr,
        KEY_BLOCK * a->depth, KEY_BLOCK * a->value_depth, KEY_BLOCK * nr, masks ? KEY_BLOCK * nr : 0,
        masks ? KEY_BLOCK * nr : 0, nr * a->value_depth};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (memory) *parts[i] = memory + used;
        used += (sizes[i] + 15) & ~(size_t)15;
    }
    return used;
}

static void pack_queries(task *t) {
    const ck_attention *a = t->job->a;
    const ck_gemm_kernels *gemm = t->job->gemm;
    size_t nr = gemm->nr;
    ptrdiff_t step = a->q_stride[3];
    for (size_t i = 0; i < t->blocks; i++) {
        size_t columns = least(t->rows - i * nr, nr);
        const char *from = ck_row(a->q, a->q_type, a->q_stride, t->batch, t->head, t->first + i * nr);
        float *panel = t->q + i * nr * a->depth;
        if (step == 1) {
            gemm->pack_b(a->q_type, from, 1, a->q_stride[2], a->depth, columns, panel);
        } else {
            memset(panel, 0, a->depth * nr * sizeof(float));
            for (size_t d = 0; d < a->depth; d++) {
                for (size_t j = 0; j < columns; j++) {
                    ptrdiff_t at = (ptrdiff_t)j * a->q_stride[2] + (ptrdiff_t)d * step;
                    panel[d * nr + j] = widened(a->q_type, from, at);
                }
            }
        }
        for (size_t j = 0; j < a->depth * nr; j++) panel[j] *= a->scale;
    }
    for (size_t j = 0; j < t->blocks * nr; j++) {
        t->greatest[j] = -__builtin_inff();
        t->sum[j] = 0;
    }
}

// The block's masks as keys × nr; or, where all queries share them, one a key.
static void load_masks(task *t, size_t block, size_t key, size_t keys, const float **mask, const float **key_mask) {
    const ck_attention *a = t->job->a;
    size_t nr = t->job->gemm->nr, first = t->first + block * nr, rows = least(t->rows - block * nr, nr);
    *mask = *key_mask = NULL;
    if (!a->mask) return;
    if (a->mask_stride[2] == 0) {
        ck_mask_row(a, t->batch, t->head, 0, key, keys, t->rows_mask);
        *key_mask = t->rows_mask;
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        ck_mask_row(a, t->batch, t->head, first + i, key, keys, t->rows_mask + i * KEY_BLOCK);
    }
    t->job->gemm->pack_b(CK_F32, t->rows_mask, 1, KEY_BLOCK, keys, rows, t->mask);
    *mask = t->mask;
}

static void attend(task *t, size_t block, size_t key, size_t keys, size_t key_panels, size_t value_panels) {
    const ck_attention *a = t->job->a;
    const ck_gemm_kernels *gemm = t->job->gemm;
    const ck_attention_kernels *kernels = t->job->kernels;
    size_t nr = gemm->nr, rows = least(t->rows - block * nr, nr), wide = rows > gemm->width;
    size_t columns = wide ? nr : gemm->width;
    float limits[MAX_NR], factor[MAX_NR], *limit = NULL;
    if (a->causal) {
        ptrdiff_t sight = (ptrdiff_t)(t->first + block * nr) + a->causal_offset - (ptrdiff_t)key;
        // No query of the block sees these keys, or all see all of them.
        if (sight + (ptrdiff_t)rows - 1 < 0) return;
        if (sight < (ptrdiff_t)keys - 1) {
            for (size_t i = 0; i < nr; i++) limits[i] = (float)(sight + (ptrdiff_t)i);
            limit = limits;
        }
    }
    const float *q = t->q + block * nr * a->depth;
    float *greatest = t->greatest + block * nr, *sum = t->sum + block * nr, *out = t->out + block * nr * a->value_depth;
    for (size_t p = 0; p < key_panels; p++) {
        size_t start = ck_panel_start(p, key_panels, keys), height = ck_panel_start(p + 1, key_panels, keys) - start;
        gemm->micro[0][wide][height - 1](
            a->depth, t->k + start * a->depth, q, t->scores + start * nr, (ptrdiff_t)nr, columns, false);
    }
    const float *mask, *key_mask;
    load_masks(t, block, key, keys, &mask, &key_mask);
    kernels->soften_columns(t->scores, keys, columns, mask, key_mask, limit, greatest, sum, factor);
    if (key > 0) kernels->scale_columns(out, a->value_depth, columns, factor);
    for (size_t p = 0; p < value_panels; p++) {
        size_t start = ck_panel_start(p, value_panels, a->value_depth);
        size_t height = ck_panel_start(p + 1, value_panels, a->value_depth) - start;
        gemm->micro[0][wide][height - 1](
            keys, t->v + start * keys, t->scores, out + start * nr, (ptrdiff_t)nr, columns, key > 0);
    }
}

static void store(task *t) {
    const ck_attention *a = t->job->a;
    size_t nr = t->job->gemm->nr;
    static const ck_epilogue nothing;
    for (size_t i = 0; i < t->blocks; i++) {
        size_t rows = least(t->rows - i * nr, nr), depth = a->value_depth;
        float *out = t->out + i * nr * depth, factor[MAX_NR];
        for (size_t j = 0; j < nr; j++) factor[j] = ck_last_factor(t->sum[i * nr + j]);
        t->job->kernels->scale_columns(out, depth, nr, factor);
        t->job->gemm->pack_a(CK_F32, out, (ptrdiff_t)nr, 1, depth, rows, t->tile);
        char *to = (char *)ck_row(a->out, a->out_type, a->out_stride, t->batch, t->head, t->first + i * nr);
        if (a->out_stride[3] == 1) {
            t->job->gemm->finish(&nothing, NULL, 0, 0, rows, depth, t->tile, (ptrdiff_t)depth, a->out_type, to,
                a->out_stride[2]);
            continue;
        }
        for (size_t r = 0; r < rows; r++) {
            for (size_t d = 0; d < depth; d++) {
                ptrdiff_t at = (ptrdiff_t)r * a->out_stride[2] + (ptrdiff_t)d * a->out_stride[3];
                char *element = to + at * (ptrdiff_t)ck_type_size(a->out_type);
                t->job->gemm->finish(
                    &nothing, NULL, 0, 0, 1, 1, t->tile + r * depth + d, 1, a->out_type, element, 1);
            }
        }
    }
}

// A chunk of one head's queries against all keys, a block of them at a time.
static void run_task(task *t) {
    const ck_attention *a = t->job->a;
    const ck_gemm_kernels *gemm = t->job->gemm;
    size_t group = t->head / (a->heads / a->kv_heads), value_panels = ceiling(a->value_depth, gemm->mr);
    t->blocks = ceiling(t->rows, gemm->nr);
    pack_queries(t);
    memset(t->out, 0, t->blocks * gemm->nr * a->value_depth * sizeof(float));
    ptrdiff_t sight = (ptrdiff_t)(t->first + t->rows) + a->causal_offset;  // one past the last key that is seen
    for (size_t key = 0; key < a->keys; key += KEY_BLOCK) {
        if (a->causal && sight <= (ptrdiff_t)key) break;
        size_t keys = least(a->keys - key, KEY_BLOCK), key_panels = ceiling(keys, gemm->mr);
        const char *k = ck_row(a->k, a->k_type, a->k_stride, t->batch, group, key);
        const char *v = ck_row(a->v, a->v_type, a->v_stride, t->batch, group, key);
        pack_panels(gemm, a->k_type, k, a->k_stride[2], a->k_stride[3], keys, a->depth, key_panels, t->k);
        pack_panels(gemm, a->v_type, v, a->v_stride[3], a->v_stride[2], a->value_depth, keys, value_panels, t->v);
        for (size_t i = 0; i < t->blocks; i++) attend(t, i, key, keys, key_panels, value_panels);
    }
    store(t);
}

static void run_tasks(void *context, size_t begin, size_t end) {
    ck_attention_job *job = context;
    task t = {.job = job};
    float *memory = ck_scratch(CK_SCRATCH_OUTER, size_task(job, NULL, &t) * sizeof(float));
    if (!memory) {
        atomic_store(&job->failed, true);
        return;
    }
    size_task(job, memory, &t);
    for (size_t i = begin; i < end; i++) {
        size_t chunk = i % job->chunks, unit = i / job->chunks;
        t.head = unit % job->a->heads;
        t.batch = unit / job->a->heads;
        t.first = chunk * job->chunk_rows;
        t.rows = least(job->a->queries - t.first, job->chunk_rows);
        run_task(&t);
    }
}

bool ck_attention_run(const ck_attention *a) {
    if (a->batch * a->heads * a->queries * a->value_depth == 0) return true;
    if (a->kv_heads == 0 || a->heads % a->kv_heads != 0) return false;
    int level = ck_cpu_level();
    ck_attention_job job = {.a = a, .kernels = kernels_at(level), .gemm = ck_gemm_kernels_at(level)};
    size_t threads = (size_t)ck_thread_count(), nr = job.gemm->nr, units = a->batch * a->heads;
    bool is_dense = a->q_stride[3] == 1 && a->k_stride[3] == 1 && a->v_stride[3] == 1 && a->out_stride[3] == 1;
    if (a->queries <= DECODE_QUERIES && is_dense) {
        double rows = (double)(a->heads / a->kv_heads * a->queries);
        double work = 4.0 * rows * (double)a->keys * (double)(a->depth + a->value_depth);
        size_t grain = work > 2e5 ? 1 : (size_t)(2e5 / (work + 1000));
        ck_parallel_for(a->batch * a->kv_heads, grain, ck_attention_decode, &job);
    } else {
        // Tasks enough for all threads, but as many queries as may be for each packing of the keys.
        size_t wanted = ceiling(4 * threads, units), most = ceiling(a->queries, nr);
        job.chunks = threads == 1 ? 1 : least(wanted, most);
        if (job.chunks < ceiling(a->queries, CHUNK_ROWS)) job.chunks = ceiling(a->queries, CHUNK_ROWS);
        job.chunk_rows = ceiling(ceiling(a->queries, job.chunks), nr) * nr;
        job.chunks = ceiling(a->queries, job.chunk_rows);
        double work = 2.0 * (double)(job.chunk_rows * a->keys) * (double)(a->depth + a->value_depth);
        size_t grain = work > 5e5 ? 1 : (size_t)(5e5 / (work + 1000));
        ck_parallel_for(units * job.chunks, grain, run_tasks, &job);
    }
    return !atomic_load(&job.failed);
}
