#include "pool.h"

#include "../reduce/reduce_internal.h"
#include "../vector_kernels.h"

/// Outputs of a row that are worked on together.
enum { BLOCK = 256 };

typedef struct {
    const ck_pool *pool;
    ck_reduce_op op;
    bool floats;
    size_t size;
    /// A block of the value that results start from.
    _Alignas(64) char start[BLOCK * 8];
} job;

#define GATHER(T) \
    for (int64_t i = 0; i < n; i++) memcpy(d + i * (int64_t)sizeof(T), a + i * step * (int64_t)sizeof(T), sizeof(T));

/// Input elements `first`, `first + step`, … as floats or as they are; in place where they are adjacent and need no
/// conversion.
static const void *fetch(
    const job *j, const ck_vector_kernels *v, const char *row, int64_t first, int64_t n, void *to) {
    int64_t step = j->pool->stride[2], size = (int64_t)j->size;
    const char *a = row + first * size;
    char gathered[BLOCK * 8];
    bool half = j->floats && j->size == 2;
    if (step == 1 && !half) return a;
    if (step != 1) {
        char *d = half ? gathered : to;
        switch (size) {
            case 1: GATHER(uint8_t) break;
            case 2: GATHER(uint16_t) break;
            case 4: GATHER(uint32_t) break;
            default: GATHER(uint64_t) break;
        }
        a = d;
    }
    if (half) v->widen(j->pool->type, to, a, (size_t)n);
    return to;
}

/// One input row into the accumulators of the outputs `first ..< first + count`.
static void add_row(
    const job *j, const ck_vector_kernels *v, const char *row, char *sums, int64_t first, int64_t count) {
    const ck_pool *p = j->pool;
    int64_t step = p->stride[2];
    _Alignas(64) char buffer[BLOCK * 8];
    size_t wide = j->floats ? sizeof(float) : j->size;
    for (int64_t k = 0; k < p->kernel[2]; k++) {
        // Output i reads i · step + shift, which must be within the row.
        int64_t shift = k * p->dilation[2] - p->before[2], low = first, high = first + count;
        if (low * step + shift < 0) low = (-shift + step - 1) / step;
        int64_t room = p->input_extents[2] - shift;
        int64_t bound = room <= 0 ? 0 : (room + step - 1) / step;
        if (high > bound) high = bound;
        if (low >= high) continue;
        const void *a = fetch(j, v, row, low * step + shift, high - low, buffer);
        char *to = sums + (size_t)(low - first) * wide;
        if (j->floats) v->float_column(j->op, (float *)(void *)to, a, (size_t)(high - low));
        else v->plain_column(j->op, p->type, to, a, (size_t)(high - low));
    }
}

static void run(void *context, size_t begin, size_t end) {
    const job *j = context;
    const ck_pool *p = j->pool;
    const ck_vector_kernels *v = ck_vectors();
    size_t wide = j->floats ? sizeof(float) : j->size;
    size_t height = (size_t)p->output_extents[1], depth = (size_t)p->output_extents[0];
    for (size_t item = begin; item < end; item++) {
        int64_t y = (int64_t)(item % height), z = (int64_t)(item / height % depth);
        size_t plane_size = (size_t)(p->input_extents[0] * p->input_extents[1] * p->input_extents[2]) * j->size;
        const char *plane = (const char *)p->input + item / height / depth * plane_size;
        for (int64_t x = 0; x < p->output_extents[2]; x += BLOCK) {
            int64_t n = p->output_extents[2] - x < BLOCK ? p->output_extents[2] - x : BLOCK;
            _Alignas(64) char sums[BLOCK * 8];
            memcpy(sums, j->start, (size_t)n * wide);
            for (int64_t kz = 0; kz < p->kernel[0]; kz++) {
                int64_t from_z = z * p->stride[0] - p->before[0] + kz * p->dilation[0];
                if (from_z < 0 || from_z >= p->input_extents[0]) continue;
                for (int64_t ky = 0; ky < p->kernel[1]; ky++) {
                    int64_t from_y = y * p->stride[1] - p->before[1] + ky * p->dilation[1];
                    if (from_y < 0 || from_y >= p->input_extents[1]) continue;
                    int64_t row = (from_z * p->input_extents[1] + from_y) * p->input_extents[2];
                    add_row(j, v, plane + (size_t)row * j->size, sums, x, n);
                }
            }
            char *output = (char *)p->output + (item * (size_t)p->output_extents[2] + (size_t)x) * j->size;
            if (j->floats) v->narrow(p->type, output, (const float *)(const void *)sums, (size_t)n);
            else memcpy(output, sums, (size_t)n * j->size);
        }
    }
}

bool ck_pool_run(const ck_pool *p) {
    if ((unsigned)p->op > CK_POOL_SUM || p->type == CK_BOOL || (unsigned)p->type > CK_F64) return false;
    int64_t window = 1;
    for (int d = 0; d < 3; d++) {
        // Within this, no product below leaves int64_t.
        const int64_t numbers[] = {p->input_extents[d], p->output_extents[d], p->kernel[d],
                                   p->stride[d],        p->dilation[d],       p->before[d]};
        for (int i = 0; i < 6; i++) {
            if (numbers[i] < 0 || numbers[i] > 1 << 30) return false;
        }
        if (p->stride[d] == 0 || p->dilation[d] == 0) return false;
        window *= p->kernel[d] < 1024 ? p->kernel[d] + 1 : 1024;
    }
    if (p->output_extents[2] == 0) return true;
    job j = {
        .pool = p, .op = p->op == CK_POOL_MAX ? CK_REDUCE_MAX : CK_REDUCE_SUM, .size = ck_type_size(p->type),
        .floats = p->type == CK_F16 || p->type == CK_BF16 || p->type == CK_F32};
    ck_reduce_start(j.op, j.floats ? CK_F32 : p->type, j.start, BLOCK);
    size_t rows = p->planes * (size_t)p->output_extents[0] * (size_t)p->output_extents[1];
    ck_parallel_for(rows, (size_t)(32768 / (p->output_extents[2] * window) + 1), run, &j);
    return true;
}
