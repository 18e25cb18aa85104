#include <stdlib.h>

#include "../vector_kernels.h"
#include "interpolate_internal.h"
#include "thread_pool.h"

enum { WORTH_A_TASK = 16384 };

/// Rows: what is needed of one of the input, the same widened, the sum of several, and the result before narrowing.
typedef struct {
    const ck_vector_kernels *v;
    char *taken, *widened, *joined, *narrowed;
} buffers;

static void widen(const ck_grid *grid, const buffers *b, char *to, const char *from, size_t n) {
    if (grid->type == CK_F16 || grid->type == CK_BF16) b->v->widen(grid->type, (float *)(void *)to, from, n);
    else ck_cast(grid->wide, to, grid->type, from, n);
}

static void narrow(const ck_grid *grid, const buffers *b, char *to, const char *from, size_t n) {
    if (grid->type == CK_F16 || grid->type == CK_BF16)
        b->v->narrow(grid->type, to, (const float *)(const void *)from, n);
    else ck_cast(grid->type, to, grid->wide, from, n);
}

/// The elements around the row `item` of the result, in the dimensions before the one that rows run along.
static void find_corners(const ck_grid *grid, size_t item, ck_corners *corners) {
    size_t places[CK_INTERPOLATE_MAX_RANK];
    for (int d = grid->outer_rank - 1; d >= 0; d--) {
        places[d] = item % grid->outer[d].count;
        item /= grid->outer[d].count;
    }
    corners->count = 1;
    corners->offsets[0] = 0;
    corners->weights[0] = 1;
    for (int d = 0; d < grid->outer_rank; d++) {
        const ck_axis *axis = &grid->outer[d];
        ck_place place = {places[d], places[d], 0};
        if (axis->places != NULL) place = axis->places[places[d]];
        ck_interpolate_split(corners, axis->extent, place);
    }
}

#define COPY(TYPE)                                                                                     \
    for (size_t i = 0; i < n; i++)                                                                     \
        ((TYPE *)(void *)to)[i] = ((const TYPE *)(const void *)from)[*(const size_t *)(const void *)at], at += step;

/// The pieces whose indices are at `at`, every `step` bytes.
static void take(char *to, const char *from, size_t bytes, const char *at, size_t step, size_t n) {
    switch (bytes) {
        case 1: COPY(uint8_t) break;
        case 2: COPY(uint16_t) break;
        case 4: COPY(uint32_t) break;
        case 8: COPY(uint64_t) break;
        default:
            for (size_t i = 0; i < n; i++, at += step)
                memcpy(to + i * bytes, from + *(const size_t *)(const void *)at * bytes, bytes);
    }
}

// A place of weight 0 takes its element as it is: 0 times infinity is not 0.
#define ROWS(TYPE, S)                                                                               \
    static void scale_##S(TYPE *d, const TYPE *a, TYPE weight, size_t n) {                          \
        for (size_t i = 0; i < n; i++) d[i] = a[i] * weight;                                        \
    }                                                                                               \
    static void add_##S(TYPE *d, const TYPE *a, TYPE weight, size_t n) {                            \
        for (size_t i = 0; i < n; i++) d[i] += a[i] * weight;                                       \
    }                                                                                               \
    static inline TYPE mix_##S(TYPE low, TYPE high, TYPE weight) {                                  \
        TYPE mixed = low * (1 - weight) + high * weight;                                            \
        return weight == 0 ? low : mixed;                                                           \
    }                                                                                               \
    static void along_##S(TYPE *d, const TYPE *a, const ck_place *places, size_t n, size_t inner) { \
        if (inner == 1) {                                                                           \
            for (size_t i = 0; i < n; i++)                                                          \
                d[i] = mix_##S(a[places[i].low], a[places[i].high], (TYPE)places[i].weight);        \
            return;                                                                                 \
        }                                                                                           \
        for (size_t i = 0; i < n; i++) {                                                            \
            const TYPE *low = a + places[i].low * inner, *high = a + places[i].high * inner;        \
            TYPE weight = (TYPE)places[i].weight;                                                   \
            for (size_t k = 0; k < inner; k++) d[i * inner + k] = mix_##S(low[k], high[k], weight); \
        }                                                                                           \
    }
ROWS(float, f32)
ROWS(double, f64)

/// The row of the input that the corners' shares make. Returns a row of the wide type.
static const char *join(const ck_grid *grid, const buffers *b, const ck_corners *corners) {
    size_t size = ck_type_size(grid->type), piece = grid->inner * size, n = grid->column_count * grid->inner;
    for (size_t i = 0; i < corners->count; i++) {
        const char *row = grid->input + corners->offsets[i] * grid->along.extent * piece;
        if (grid->columns != NULL) {
            take(b->taken, row, piece, (const char *)grid->columns, sizeof *grid->columns, grid->column_count);
            row = b->taken;
        }
        if (grid->type != grid->wide) {
            widen(grid, b, b->widened, row, n);
            row = b->widened;
        }
        double weight = corners->weights[i];
        if (corners->count == 1) return row;
        if (grid->wide == CK_F64) {
            double *joined = (double *)(void *)b->joined;
            const double *wide = (const double *)(const void *)row;
            if (i == 0) scale_f64(joined, wide, weight, n);
            else add_f64(joined, wide, weight, n);
        } else {
            float *joined = (float *)(void *)b->joined;
            const float *wide = (const float *)(const void *)row;
            if (i == 0) scale_f32(joined, wide, (float)weight, n);
            else add_f32(joined, wide, (float)weight, n);
        }
    }
    return b->joined;
}

static void run_nearest(void *context, size_t begin, size_t end) {
    const ck_grid *grid = context;
    size_t piece = grid->inner * ck_type_size(grid->type), count = grid->along.count;
    ck_corners corners;
    for (size_t item = begin; item < end; item++) {
        find_corners(grid, item, &corners);
        const char *row = grid->input + corners.offsets[0] * grid->along.extent * piece;
        const ck_place *places = grid->along.places;
        take(grid->output + item * count * piece, row, piece, (const char *)&places->low, sizeof *places, count);
    }
}

static void run_linear(void *context, size_t begin, size_t end) {
    ck_grid *grid = context;
    size_t count = grid->along.count, made = count * grid->inner;
    size_t longest = grid->column_count > count ? grid->column_count : count;
    size_t bytes = (longest * grid->inner * ck_type_size(grid->wide) + 63) & ~(size_t)63;
    char *memory = aligned_alloc(64, 4 * bytes);
    if (memory == NULL) {
        __atomic_store_n(&grid->failed, true, __ATOMIC_RELAXED);
        return;
    }
    buffers b = {ck_vectors(), memory, memory + bytes, memory + 2 * bytes, memory + 3 * bytes};
    const ck_place *places = grid->along.places;
    ck_corners corners;
    for (size_t item = begin; item < end; item++) {
        find_corners(grid, item, &corners);
        const void *row = join(grid, &b, &corners);
        char *output = grid->output + item * made * ck_type_size(grid->type);
        void *to = grid->type == grid->wide ? output : b.narrowed;
        if (grid->wide == CK_F64) along_f64(to, row, places, count, grid->inner);
        else along_f32(to, row, places, count, grid->inner);
        if (to == b.narrowed) narrow(grid, &b, output, to, made);
    }
    free(memory);
}

bool ck_interpolate_rows(ck_grid *grid) {
    size_t rows = 1, row = (grid->column_count + grid->along.count) * grid->inner;
    for (int d = 0; d < grid->outer_rank; d++) rows *= grid->outer[d].count;
    ck_parallel_for(rows, WORTH_A_TASK / (row + 1) + 1, grid->nearest ? run_nearest : run_linear, grid);
    return !grid->failed;
}
