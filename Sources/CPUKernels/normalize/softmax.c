#include <math.h>

#include "../vector_kernels.h"
#include "cpu_kernels.h"

enum { CHUNK = 2048, COLUMNS = 64, WORTH_A_TASK = 8192 };

typedef struct {
    ck_type type;
    const char *input;
    char *output;
    size_t count, inner;
} job;

/// What exponentials are multiplied with. A slice of −inf alone hides everything: it gives zeros, where an average of what
/// is hidden, or NaN, would poison what is computed from it.
static double share(double greatest, double sum) { return greatest == -INFINITY ? 0 : 1 / sum; }

/// One row of f32: the output holds the exponentials in between.
static void softmax_row(const ck_vector_kernels *v, float *d, const float *a, size_t count) {
    float greatest = v->float_row(CK_REDUCE_MAX, a, count, 0);
    double sum = 0;
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t n = count - i < CHUNK ? count - i : CHUNK;
        sum += v->exp_row(d + i, a + i, n, greatest);
    }
    v->scale_row(d, d, count, (float)share(greatest, sum));
}

/// One row of 16-bit floats: too long ones are worked out twice, as there is no room for the exponentials.
static void softmax_half_row(const ck_vector_kernels *v, ck_type type, char *d, const char *a, size_t count) {
    float part[CHUNK], greatest = -INFINITY;
    if (count <= CHUNK) {
        v->widen(type, part, a, count);
        softmax_row(v, part, part, count);
        v->narrow(type, d, part, count);
        return;
    }
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t n = count - i < CHUNK ? count - i : CHUNK;
        v->widen(type, part, a + i * 2, n);
        float found = v->float_row(CK_REDUCE_MAX, part, n, 0);
        if (found > greatest || found != found) greatest = found;
    }
    double sum = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i += CHUNK) {
            size_t n = count - i < CHUNK ? count - i : CHUNK;
            v->widen(type, part, a + i * 2, n);
            float added = v->exp_row(part, part, n, greatest);
            if (pass == 0) {
                sum += added;
                continue;
            }
            v->scale_row(part, part, n, (float)share(greatest, sum));
            v->narrow(type, d + i * 2, part, n);
        }
    }
}

static void softmax_double(double *d, const double *a, size_t count, size_t stride) {
    double greatest = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) {
        double x = a[i * stride];
        if (x > greatest || x != x) greatest = x;
    }
    for (size_t i = 0; i < count; i++) {
        double x = a[i * stride];
        d[i * stride] = x == greatest ? 1 : exp(x - greatest);
        sum += d[i * stride];
    }
    double factor = share(greatest, sum);
    for (size_t i = 0; i < count; i++) d[i * stride] *= factor;
}

static void run_rows(void *context, size_t begin, size_t end) {
    const job *j = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t bytes = j->count * ck_type_size(j->type);
    for (size_t row = begin; row < end; row++) {
        const void *a = j->input + row * bytes;
        void *d = j->output + row * bytes;
        if (j->type == CK_F32) softmax_row(v, d, a, j->count);
        else if (j->type == CK_F64) softmax_double(d, a, j->count, 1);
        else softmax_half_row(v, j->type, d, a, j->count);
    }
}

/// Blocks of columns, a row at a time. 16-bit floats are worked out twice.
static void run_columns(void *context, size_t begin, size_t end) {
    const job *j = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t blocks = (j->inner + COLUMNS - 1) / COLUMNS, size = ck_type_size(j->type), pitch = j->inner * size;
    bool half = j->type != CK_F32;
    for (size_t item = begin; item < end; item++) {
        size_t column = item % blocks * COLUMNS, n = j->inner - column < COLUMNS ? j->inner - column : COLUMNS;
        size_t start = item / blocks * j->count * pitch + column * size;
        const char *a = j->input + start;
        char *d = j->output + start;
        if (j->type == CK_F64) {
            for (size_t i = 0; i < n; i++) {
                softmax_double((double *)(void *)d + i, (const double *)(const void *)a + i, j->count, j->inner);
            }
            continue;
        }
        float greatest[COLUMNS], sums[COLUMNS], factors[COLUMNS], wide[COLUMNS], ignored[COLUMNS] = {0};
        for (size_t i = 0; i < n; i++) greatest[i] = -INFINITY, sums[i] = 0;
        for (size_t r = 0; r < j->count; r++) {
            v->widen(j->type, wide, a + r * pitch, n);
            v->float_column(CK_REDUCE_MAX, greatest, wide, n);
        }
        for (size_t r = 0; r < j->count; r++) {
            v->widen(j->type, wide, a + r * pitch, n);
            v->exp_columns(half ? wide : (float *)(void *)(d + r * pitch), wide, greatest, sums, n);
        }
        for (size_t i = 0; i < n; i++) factors[i] = (float)share(greatest[i], sums[i]);
        for (size_t r = 0; r < j->count; r++) {
            v->widen(j->type, wide, (half ? a : d) + r * pitch, n);
            if (half) v->exp_columns(wide, wide, greatest, ignored, n);
            v->float_column(CK_REDUCE_PRODUCT, wide, factors, n);
            v->narrow(j->type, d + r * pitch, wide, n);
        }
    }
}

bool ck_softmax(ck_type type, void *output, const void *input, size_t outer, size_t count, size_t inner) {
    if (type < CK_F16 || type > CK_F64) return false;
    if (outer == 0 || count == 0 || inner == 0) return true;
    job j = {type, input, output, count, inner};
    if (inner == 1) {
        ck_parallel_for(outer, WORTH_A_TASK / count + 1, run_rows, &j);
    } else {
        size_t blocks = (inner + COLUMNS - 1) / COLUMNS, columns = inner < COLUMNS ? inner : COLUMNS;
        ck_parallel_for(outer * blocks, WORTH_A_TASK / (count * columns) + 1, run_columns, &j);
    }
    return true;
}
