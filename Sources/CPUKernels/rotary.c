#include "rotary.h"

#include "thread_pool.h"
#include "vector_kernels.h"

/// Elements that make a task worth a thread.
enum { WORTH_A_TASK = 1 << 14 };

/// A row as floats: in place, or widened into `buffer`.
static const float *row(const ck_vector_kernels *v, ck_type type, const void *base, size_t at, size_t n, float *buffer) {
    if (type == CK_F32) return (const float *)base + at;
    v->widen(type, buffer, (const char *)base + at * 2, n);
    return buffer;
}

static void turn(float *low, float *high, const float *x, const float *cos, const float *sin, size_t half, size_t upper) {
    for (size_t i = 0; i < half; i++) {
        float a = x[i], b = x[i + half];
        low[i] = a * cos[i] - b * sin[i];
        high[i] = b * cos[i + upper] + a * sin[i + upper];
    }
}

static void run_rows(void *context, size_t begin, size_t end) {
    const ck_rotary *r = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t width = r->width, half = width / 2, table = r->half_tables ? half : width;
    float input[CK_ROTARY_MAX_WIDTH], cosines[CK_ROTARY_MAX_WIDTH], sines[CK_ROTARY_MAX_WIDTH];
    float result[CK_ROTARY_MAX_WIDTH];
    for (size_t index = begin; index < end; index++) {
        size_t rest = index;
        int64_t cos_at = 0, sin_at = 0;
        for (int d = r->rank - 1; d >= 0; d--) {
            int64_t place = (int64_t)(rest % (size_t)r->extents[d]);
            rest /= (size_t)r->extents[d];
            cos_at += place * r->cos_strides[d];
            sin_at += place * r->sin_strides[d];
        }
        const float *x = row(v, r->type, r->input, index * width, width, input);
        const float *cos = row(v, r->type, r->cos, (size_t)cos_at, table, cosines);
        const float *sin = row(v, r->type, r->sin, (size_t)sin_at, table, sines);
        turn(result, result + half, x, cos, sin, half, r->half_tables ? 0 : half);
        if (r->type == CK_F32) {
            memcpy((float *)r->output + index * width, result, width * sizeof *result);
        } else {
            v->narrow(r->type, (char *)r->output + index * width * 2, result, width);
        }
    }
}

bool ck_rotary_run(const ck_rotary *rotary) {
    if (rotary->type != CK_F32 && rotary->type != CK_F16 && rotary->type != CK_BF16) return false;
    if (rotary->rank < 0 || rotary->rank > CK_ROTARY_MAX_RANK) return false;
    if (rotary->width > CK_ROTARY_MAX_WIDTH || rotary->width % 2 != 0) return false;
    size_t rows = 1;
    for (int d = 0; d < rotary->rank; d++) rows *= (size_t)rotary->extents[d];
    if (rows == 0 || rotary->width == 0) return true;
    ck_parallel_for(rows, WORTH_A_TASK / rotary->width + 1, run_rows, (void *)rotary);
    return true;
}
