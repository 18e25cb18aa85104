#include "pool.h"

#include <stdlib.h>

#include "../reduce/reduce_internal.h"
#include "../vector_kernels.h"

enum {
    WORTH_A_TASK = 16384,
    /// What one call of a row kernel adds up.
    CHUNK = 2048,
};

typedef struct {
    ck_pool pool;
    ck_reduce_op op;
    /// What it is computed in.
    ck_type wide;
    /// How far into a row of the input the windows reach, and the length of one of the output.
    size_t used, made;
    /// The number that changes nothing.
    union {
        char bytes[8];
        double alignment;
    } identity;
    bool failed;
} job;

/// Rows of the wide type.
typedef struct {
    const ck_vector_kernels *v;
    /// The rows of a window joined into one; a row of the input, widened; what windows have at one place; the result.
    char *joined, *widened, *taken, *result;
} buffers;

static void fill_identity(const job *j, char *row, size_t n) {
    size_t size = ck_type_size(j->wide);
    for (size_t i = 0; i < n; i++) memcpy(row + i * size, j->identity.bytes, size);
}

/// Joins each of `n` numbers with the one in the other row.
static void join_rows(const job *j, const buffers *b, char *into, const char *row, size_t n) {
    if (j->wide == CK_F32) b->v->float_column(j->op, (float *)(void *)into, (const float *)(const void *)row, n);
    else b->v->plain_column(j->op, j->wide, into, row, n);
}

/// All of a row into one number.
static void join_row(const job *j, const buffers *b, char *into, const char *row, size_t n) {
    if (j->wide != CK_F32) {
        b->v->plain_row(j->op, j->wide, into, row, n);
        return;
    }
    for (size_t i = 0; i < n; i += CHUNK) {
        float part = b->v->float_row(j->op, (const float *)(const void *)row + i, n - i < CHUNK ? n - i : CHUNK, 0);
        b->v->float_column(j->op, (float *)(void *)into, &part, 1);
    }
}

/// The rows of a window, joined element by element. Returns a row of the wide type.
static const char *join_window(const job *j, const buffers *b, int64_t plane, int64_t depth, int64_t line) {
    const ck_pool *p = &j->pool;
    size_t size = ck_type_size(p->type), row_bytes = (size_t)p->input_extents[2] * size, count = 0;
    const char *first = NULL;
    for (int64_t kz = 0; kz < p->kernel[0]; kz++) {
        int64_t z = depth * p->stride[0] - p->before[0] + kz * p->dilation[0];
        if (z < 0 || z >= p->input_extents[0]) continue;
        for (int64_t ky = 0; ky < p->kernel[1]; ky++) {
            int64_t y = line * p->stride[1] - p->before[1] + ky * p->dilation[1];
            if (y < 0 || y >= p->input_extents[1]) continue;
            size_t index = (size_t)((plane * p->input_extents[0] + z) * p->input_extents[1] + y);
            const char *row = (const char *)p->input + index * row_bytes;
            if (j->wide != p->type) {
                // The first goes where the others are joined to.
                char *to = count == 0 ? b->joined : b->widened;
                b->v->widen(p->type, (float *)(void *)to, row, j->used);
                row = to;
            } else if (count == 1) {
                memcpy(b->joined, first, j->used * size);
            }
            if (count++ == 0) first = row;
            else join_rows(j, b, b->joined, row, j->used);
        }
    }
    if (count > 1) return b->joined;
    if (count == 1) return first;
    fill_identity(j, b->joined, j->used);
    return b->joined;
}

#define TAKE(TYPE, STEP) \
    for (size_t i = 0; i < n; i++) ((TYPE *)(void *)to)[i] = ((const TYPE *)(const void *)from)[i * (STEP)]

/// Every `step`-th element, side by side.
static void take(char *to, const char *from, size_t bytes, size_t step, size_t n) {
    if (step == 1) {
        memcpy(to, from, n * bytes);
        return;
    }
    switch (bytes) {
        case 1: TAKE(uint8_t, step); break;
        case 2: TAKE(uint16_t, step); break;
        case 4:
            // With the stride known the compiler has shuffles for it.
            if (step == 2) TAKE(uint32_t, 2);
            else TAKE(uint32_t, step);
            break;
        default: TAKE(uint64_t, step);
    }
}

/// The windows along one row, all at once: what they have at one place after another is joined.
static void join_along(const job *j, const buffers *b, const char *row, char *result) {
    const ck_pool *p = &j->pool;
    size_t size = ck_type_size(j->wide);
    int64_t stride = p->stride[2], width = (int64_t)j->used;
    bool is_filled = false;
    if (p->output_extents[2] == 1 && p->dilation[2] == 1 && p->before[2] == 0) {
        fill_identity(j, result, 1);
        join_row(j, b, result, row, (size_t)(p->kernel[2] < width ? p->kernel[2] : width));
        return;
    }
    for (int64_t k = 0; k < p->kernel[2]; k++) {
        // The windows `low ..< high` have this place inside of the input.
        int64_t place = k * p->dilation[2] - p->before[2], low = place < 0 ? (-place + stride - 1) / stride : 0;
        int64_t high = place < width ? (width - place + stride - 1) / stride : 0;
        if (high > p->output_extents[2]) high = p->output_extents[2];
        if (low >= high) continue;
        size_t n = (size_t)(high - low);
        const char *from = row + (size_t)(low * stride + place) * size;
        if (!is_filled) {
            is_filled = true;
            if (n < j->made) fill_identity(j, result, j->made);
            take(result + (size_t)low * size, from, size, (size_t)stride, n);
            continue;
        }
        if (stride > 1) {
            take(b->taken, from, size, (size_t)stride, n);
            from = b->taken;
        }
        join_rows(j, b, result + (size_t)low * size, from, n);
    }
    if (!is_filled) fill_identity(j, result, j->made);
}

static void run_rows(void *context, size_t begin, size_t end) {
    job *j = context;
    const ck_pool *p = &j->pool;
    size_t size = ck_type_size(j->wide), bytes = (j->used * size + 63) & ~(size_t)63;
    size_t made_bytes = (j->made * size + 63) & ~(size_t)63;
    char *memory = aligned_alloc(64, 2 * bytes + 2 * made_bytes);
    if (memory == NULL) {
        __atomic_store_n(&j->failed, true, __ATOMIC_RELAXED);
        return;
    }
    buffers b = {ck_vectors(), memory, memory + bytes, memory + 2 * bytes, memory + 2 * bytes + made_bytes};
    for (size_t item = begin; item < end; item++) {
        int64_t row_index = (int64_t)item, height = p->output_extents[1], depth = p->output_extents[0];
        int64_t plane = row_index / height / depth;
        const char *row = join_window(j, &b, plane, row_index / height % depth, row_index % height);
        char *output = (char *)p->output + item * j->made * ck_type_size(p->type);
        if (j->wide == p->type) {
            join_along(j, &b, row, output);
        } else {
            join_along(j, &b, row, b.result);
            b.v->narrow(p->type, output, (const float *)(const void *)b.result, j->made);
        }
    }
    free(memory);
}

static void shift(int64_t *extents, int64_t fill) {
    extents[1] = extents[0];
    extents[0] = fill;
}

/// Where one window takes the whole of the two innermost dimensions, they are one.
static void merge(ck_pool *p) {
    for (int i = 0; i < 2; i++) {
        if (p->output_extents[2] != 1 || p->kernel[2] != p->input_extents[2] || p->dilation[2] != 1) return;
        if (p->output_extents[1] != 1 || p->kernel[1] > p->input_extents[1] || p->dilation[1] != 1) return;
        if (p->before[1] != 0 || p->before[2] != 0) return;
        p->kernel[2] *= p->kernel[1];
        p->input_extents[2] *= p->input_extents[1];
        shift(p->input_extents, 1), shift(p->output_extents, 1), shift(p->kernel, 1);
        shift(p->stride, 1), shift(p->dilation, 1), shift(p->before, 0);
    }
}

bool ck_pool_run(const ck_pool *pool) {
    if ((unsigned)pool->op > CK_POOL_SUM || pool->type == CK_BOOL || (unsigned)pool->type > CK_F64) return false;
    size_t rows = pool->planes, work = 1;
    for (int d = 0; d < 3; d++) {
        // Within this, no product below leaves int64_t.
        const int64_t numbers[] = {pool->input_extents[d], pool->output_extents[d], pool->kernel[d],
                                   pool->stride[d],        pool->dilation[d],       pool->before[d]};
        for (int i = 0; i < 6; i++) {
            if (numbers[i] < 0 || numbers[i] > 1 << 30) return false;
        }
        if (pool->stride[d] == 0 || pool->dilation[d] == 0) return false;
        rows *= d < 2 ? (size_t)pool->output_extents[d] : 1;
        if (d < 2) work *= pool->kernel[d] < 128 ? (size_t)pool->kernel[d] + 1 : 128;
    }
    if (rows == 0 || pool->output_extents[2] == 0) return true;
    job j = {.pool = *pool, .op = pool->op == CK_POOL_MAX ? CK_REDUCE_MAX : CK_REDUCE_SUM};
    j.wide = pool->type == CK_F16 || pool->type == CK_BF16 ? CK_F32 : pool->type;
    ck_reduce_identity(j.op, j.wide, &j.identity);
    merge(&j.pool);
    const ck_pool *p = &j.pool;
    int64_t reach = (p->output_extents[2] - 1) * p->stride[2] + (p->kernel[2] - 1) * p->dilation[2] + 1 - p->before[2];
    if (reach > p->input_extents[2]) reach = p->input_extents[2];
    j.used = reach > 0 && p->kernel[2] > 0 ? (size_t)reach : 0;
    j.made = (size_t)p->output_extents[2];
    work *= j.used + j.made;
    ck_parallel_for(rows, WORTH_A_TASK / (work + 1) + 1, run_rows, &j);
    return !j.failed;
}
