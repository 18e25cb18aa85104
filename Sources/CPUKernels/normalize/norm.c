#include <math.h>

#include "../vector_kernels.h"
#include "cpu_kernels.h"

enum {
    /// Floats of a row that are kept on the stack; longer rows are read again for each pass.
    KEPT = 4096,
    WORTH_A_TASK = 16384,
};

static bool is_storage(ck_type type) { return type == CK_F16 || type == CK_BF16 || type == CK_F32; }

/// A run of elements that is walked through several times in parts.
typedef struct {
    const ck_vector_kernels *v;
    ck_type type;
    const char *input, *residual;
    size_t length;
    float *buffer;
    bool kept;
} run;

/// The floats `i ..< i + n`; in `buffer` unless they can be read where they are.
static const float *part(run *r, size_t i, size_t n) {
    if (r->kept) return r->buffer + i;
    size_t size = ck_type_size(r->type);
    const void *input = r->input + i * size;
    if (r->type == CK_F32 && r->residual == NULL) return input;
    r->v->widen(r->type, r->buffer, input, n);
    if (r->residual != NULL) {
        float other[256];
        for (size_t k = 0; k < n; k += 256) {
            size_t count = n - k < 256 ? n - k : 256;
            r->v->widen(r->type, other, r->residual + (i + k) * size, count);
            r->v->float_column(CK_REDUCE_SUM, r->buffer + k, other, count);
        }
    }
    r->kept = n == r->length;
    return r->buffer;
}

static double total(run *r, ck_reduce_op op, float shift) {
    double sum = 0;
    for (size_t i = 0; i < r->length; i += KEPT) {
        size_t n = r->length - i < KEPT ? r->length - i : KEPT;
        sum += r->v->float_row(op, part(r, i, n), n, shift);
    }
    return sum;
}

static void statistics(run *r, bool root_mean_square, float epsilon, float *mean, float *scale) {
    double count = (double)r->length;
    *mean = root_mean_square ? 0 : (float)(total(r, CK_REDUCE_SUM, 0) / count);
    *scale = (float)(1 / sqrt(total(r, CK_REDUCE_SUM_SQUARES, *mean) / count + (double)epsilon));
}

/// Weights or biases `i ..< i + n` as floats.
static const float *parameters(
    const ck_vector_kernels *v, ck_type type, const void *values, float *buffer, size_t i, size_t n) {
    if (values == NULL) return NULL;
    const char *from = (const char *)values + i * ck_type_size(type);
    if (type == CK_F32) return (const float *)(const void *)from;
    v->widen(type, buffer, from, n);
    return buffer;
}

static void run_rows(void *context, size_t begin, size_t end) {
    const ck_row_norm *norm = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t size = ck_type_size(norm->type), bytes = norm->length * size;
    float buffer[KEPT], weights[KEPT], biases[KEPT], result[KEPT];
    const float *weight = NULL, *bias = NULL;
    for (size_t row = begin; row < end; row++) {
        run r = {v, norm->type, (const char *)norm->input + row * bytes, NULL, norm->length, buffer, false};
        if (norm->residual != NULL) r.residual = (const char *)norm->residual + row * bytes;
        float mean, scale;
        statistics(&r, norm->root_mean_square, norm->epsilon, &mean, &scale);
        for (size_t i = 0; i < norm->length; i += KEPT) {
            size_t n = norm->length - i < KEPT ? norm->length - i : KEPT;
            // The parameters of short rows are the same for all of them.
            if (row == begin || norm->length > KEPT) {
                weight = parameters(v, norm->weight_type, norm->weight, weights, i, n);
                bias = parameters(v, norm->bias_type, norm->bias, biases, i, n);
            }
            const float *x = part(&r, i, n);
            if (norm->sum != NULL) v->narrow(norm->type, (char *)norm->sum + row * bytes + i * size, x, n);
            char *output = (char *)norm->output + row * bytes + i * size;
            float *to = norm->type == CK_F32 ? (float *)(void *)output : result;
            v->norm_row(to, x, n, mean, scale, 0, weight, bias);
            if (to == result) v->narrow(norm->type, output, result, n);
        }
    }
}

bool ck_normalize_rows(const ck_row_norm *norm) {
    if (!is_storage(norm->type)) return false;
    if (norm->weight != NULL && !is_storage(norm->weight_type)) return false;
    if (norm->bias != NULL && !is_storage(norm->bias_type)) return false;
    if (norm->rows == 0 || norm->length == 0) return true;
    ck_parallel_for(norm->rows, WORTH_A_TASK / norm->length + 1, run_rows, (void *)norm);
    return true;
}

static float parameter(ck_type type, const void *values, size_t i, float otherwise) {
    if (values == NULL) return otherwise;
    if (type == CK_F32) return ((const float *)values)[i];
    uint16_t bits = ((const uint16_t *)values)[i];
    return type == CK_F16 ? ck_f16_to_f32(bits) : ck_bf16_to_f32(bits);
}

static void run_groups(void *context, size_t begin, size_t end) {
    const ck_group_norm *norm = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t size = ck_type_size(norm->type), count = norm->channels * norm->length;
    float buffer[KEPT], result[KEPT];
    for (size_t group = begin; group < end; group++) {
        run all = {v, norm->type, (const char *)norm->input + group * count * size, NULL, count, buffer, false};
        float mean, scale;
        statistics(&all, false, norm->epsilon, &mean, &scale);
        for (size_t c = 0; c < norm->channels; c++) {
            size_t channel = group % norm->groups * norm->channels + c;
            float weight = parameter(norm->weight_type, norm->weight, channel, 1);
            float bias = parameter(norm->bias_type, norm->bias, channel, 0);
            for (size_t i = 0; i < norm->length; i += KEPT) {
                size_t n = norm->length - i < KEPT ? norm->length - i : KEPT, at = c * norm->length + i;
                const float *x = part(&all, at, n);
                char *output = (char *)norm->output + (group * count + at) * size;
                float *to = norm->type == CK_F32 ? (float *)(void *)output : result;
                v->norm_row(to, x, n, mean, scale * weight, bias, NULL, NULL);
                if (to == result) v->narrow(norm->type, output, result, n);
            }
        }
    }
}

bool ck_normalize_groups(const ck_group_norm *norm) {
    if (!is_storage(norm->type)) return false;
    if (norm->weight != NULL && !is_storage(norm->weight_type)) return false;
    if (norm->bias != NULL && !is_storage(norm->bias_type)) return false;
    size_t count = norm->channels * norm->length;
    if (norm->batch == 0 || norm->groups == 0 || count == 0) return true;
    ck_parallel_for(norm->batch * norm->groups, WORTH_A_TASK / count + 1, run_groups, (void *)norm);
    return true;
}
