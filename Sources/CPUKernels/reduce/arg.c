#include "../vector_kernels.h"
#include "reduce_internal.h"

enum { CHUNK = 1024, COLUMNS = 128, WORTH_A_TASK = 16384 };

typedef struct {
    bool greatest;
    ck_type type;
    const char *input;
    uint32_t *output;
    size_t count, inner;
    uint32_t initial_index;
    /// The value to beat, as a float for the 16-bit ones.
    union {
        float single;
        char bytes[8];
    } initial;
} job;

static bool is_float(ck_type type) { return type == CK_F16 || type == CK_BF16 || type == CK_F32; }

static void run_rows(void *context, size_t begin, size_t end) {
    const job *j = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t size = ck_type_size(j->type);
    for (size_t row = begin; row < end; row++) {
        const char *a = j->input + row * j->count * size;
        size_t best = j->initial_index;
        if (is_float(j->type)) {
            float value = j->initial.single, wide[CHUNK];
            for (size_t i = 0; i < j->count; i += CHUNK) {
                size_t n = j->count - i < CHUNK ? j->count - i : CHUNK, found = SIZE_MAX;
                const float *part = (const float *)(const void *)(a + i * size);
                if (j->type != CK_F32) v->widen(j->type, wide, part, n), part = wide;
                value = v->float_arg_row(j->greatest, part, n, value, &found);
                if (found != SIZE_MAX) best = i + found;
            }
        } else {
            char value[8];
            memcpy(value, j->initial.bytes, sizeof value);
            v->plain_arg_row(j->greatest, j->type, value, &best, a, j->count);
        }
        j->output[row] = (uint32_t)best;
    }
}

static void run_columns(void *context, size_t begin, size_t end) {
    const job *j = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t blocks = (j->inner + COLUMNS - 1) / COLUMNS, size = ck_type_size(j->type);
    bool floats = is_float(j->type);
    size_t wide_size = floats ? sizeof(float) : size;
    for (size_t item = begin; item < end; item++) {
        size_t outer = item / blocks, column = item % blocks * COLUMNS;
        size_t n = j->inner - column < COLUMNS ? j->inner - column : COLUMNS;
        const char *a = j->input + (outer * j->count * j->inner + column) * size;
        uint32_t *index = j->output + outer * j->inner + column;
        _Alignas(64) char best[COLUMNS * 8];
        float wide[COLUMNS];
        for (size_t i = 0; i < n; i++) {
            memcpy(best + i * wide_size, j->initial.bytes, wide_size);
            index[i] = j->initial_index;
        }
        for (size_t r = 0; r < j->count; r++, a += j->inner * size) {
            if (!floats) {
                v->plain_arg_column(j->greatest, j->type, best, index, a, n, (uint32_t)r);
                continue;
            }
            const float *row = (const float *)(const void *)a;
            if (j->type != CK_F32) v->widen(j->type, wide, row, n), row = wide;
            v->float_arg_column(j->greatest, (float *)(void *)best, index, row, n, (uint32_t)r);
        }
    }
}

bool ck_arg_reduce(
    bool greatest, ck_type type, uint32_t *output, const void *input, size_t outer, size_t count, size_t inner,
    const void *initial, uint32_t initial_index) {
    if ((unsigned)type > CK_F64 || count > UINT32_MAX) return false;
    job j = {
        .greatest = greatest, .type = type, .input = input, .output = output, .count = count, .inner = inner,
        .initial_index = initial_index};
    ck_type wide = is_float(type) ? CK_F32 : type;
    if (initial != NULL) ck_cast(wide, j.initial.bytes, type, initial, 1);
    else ck_reduce_identity(greatest ? CK_REDUCE_MAX : CK_REDUCE_MIN, wide, j.initial.bytes);
    if (outer == 0 || inner == 0) return true;
    if (inner == 1) {
        ck_parallel_for(outer, WORTH_A_TASK / (count + 1) + 1, run_rows, &j);
    } else {
        size_t blocks = (inner + COLUMNS - 1) / COLUMNS, columns = inner < COLUMNS ? inner : COLUMNS;
        ck_parallel_for(outer * blocks, WORTH_A_TASK / (count * columns + 1) + 1, run_columns, &j);
    }
    return true;
}
