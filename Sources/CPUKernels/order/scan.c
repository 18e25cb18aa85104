#include "../reduce/reduce_internal.h"
#include "../vector_kernels.h"

enum { COLUMNS = 128, WORTH_A_TASK = 8192 };

typedef struct {
    ck_reduce_op op;
    ck_type type;
    char *output;
    const char *input;
    size_t count, inner;
    bool reverse;
} job;

/// One line of T at a time, with A as the type that adds and multiplies without undefined steps.
#define LINE(name, T, A, load, store)                                                                  \
    static void name(const job *j, T *d, const T *a) {                                                 \
        int64_t step = j->reverse ? -1 : 1, i = j->reverse ? (int64_t)j->count - 1 : 0;                \
        A sum = (A)load(a[i]);                                                                         \
        for (size_t k = 0; k < j->count; k++, i += step) {                                             \
            A x = (A)load(a[i]);                                                                       \
            if (k > 0) sum = (A)JOIN(T, A, sum, x);                                                    \
            d[i] = (T)store(sum);                                                                      \
        }                                                                                              \
    }

// Comparing needs the element's own sign; the accumulator of integers is unsigned.
#define JOIN(T, A, sum, x)                                                                             \
    (j->op == CK_REDUCE_SUM       ? sum + x                                                            \
     : j->op == CK_REDUCE_PRODUCT ? sum * x                                                            \
     : j->op == CK_REDUCE_MAX     ? ((T)x > (T)sum ? x : sum)                                          \
                                  : ((T)x < (T)sum ? x : sum))

LINE(line_i8, int8_t, uint32_t, , )
LINE(line_i16, int16_t, uint32_t, , )
LINE(line_i32, int32_t, uint32_t, , )
LINE(line_i64, int64_t, uint64_t, , )
LINE(line_u8, uint8_t, uint32_t, , )
LINE(line_u16, uint16_t, uint32_t, , )
LINE(line_u32, uint32_t, uint32_t, , )
LINE(line_u64, uint64_t, uint64_t, , )

#undef JOIN
#define JOIN(T, A, sum, x)                                                                             \
    (j->op == CK_REDUCE_SUM       ? sum + x                                                            \
     : j->op == CK_REDUCE_PRODUCT ? sum * x                                                            \
     : j->op == CK_REDUCE_MAX     ? (x > sum || x != x ? x : sum)                                      \
                                  : (x < sum || x != x ? x : sum))

LINE(line_f16, uint16_t, float, ck_f16_to_f32, ck_f32_to_f16)
LINE(line_bf16, uint16_t, float, ck_bf16_to_f32, ck_f32_to_bf16)
LINE(line_f32, float, float, , )
LINE(line_f64, double, double, , )

static void run_lines(void *context, size_t begin, size_t end) {
    const job *j = context;
    size_t bytes = j->count * ck_type_size(j->type);
    for (size_t line = begin; line < end; line++) {
        void *d = j->output + line * bytes;
        const void *a = j->input + line * bytes;
        switch (j->type) {
            case CK_I8: line_i8(j, d, a); break;
            case CK_I16: line_i16(j, d, a); break;
            case CK_I32: line_i32(j, d, a); break;
            case CK_I64: line_i64(j, d, a); break;
            case CK_U8: line_u8(j, d, a); break;
            case CK_U16: line_u16(j, d, a); break;
            case CK_U32: line_u32(j, d, a); break;
            case CK_U64: line_u64(j, d, a); break;
            case CK_F16: line_f16(j, d, a); break;
            case CK_BF16: line_bf16(j, d, a); break;
            case CK_F32: line_f32(j, d, a); break;
            case CK_F64: line_f64(j, d, a); break;
            default: break;
        }
    }
}

/// Blocks of columns: each row is added to the accumulators, which are then stored.
static void run_columns(void *context, size_t begin, size_t end) {
    const job *j = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t blocks = (j->inner + COLUMNS - 1) / COLUMNS, size = ck_type_size(j->type);
    bool floats = j->type == CK_F16 || j->type == CK_BF16 || j->type == CK_F32;
    ck_type wide_type = floats ? CK_F32 : j->type;
    for (size_t item = begin; item < end; item++) {
        size_t column = item % blocks * COLUMNS, n = j->inner - column < COLUMNS ? j->inner - column : COLUMNS;
        size_t start = (item / blocks * j->count * j->inner + column) * size;
        _Alignas(64) char sums[COLUMNS * 8];
        float wide[COLUMNS];
        ck_reduce_start(j->op, wide_type, sums, n);
        for (size_t k = 0; k < j->count; k++) {
            size_t row = start + (j->reverse ? j->count - 1 - k : k) * j->inner * size;
            if (floats) {
                v->widen(j->type, wide, j->input + row, n);
                v->float_column(j->op, (float *)(void *)sums, wide, n);
                v->narrow(j->type, j->output + row, (float *)(void *)sums, n);
            } else {
                v->plain_column(j->op, j->type, sums, j->input + row, n);
                memcpy(j->output + row, sums, n * size);
            }
        }
    }
}

bool ck_scan(
    ck_scan_op op, ck_type type, void *output, const void *input, size_t outer, size_t count, size_t inner,
    bool reverse) {
    static const ck_reduce_op ops[] = {CK_REDUCE_SUM, CK_REDUCE_PRODUCT, CK_REDUCE_MIN, CK_REDUCE_MAX};
    if ((unsigned)op > CK_SCAN_MAX || type == CK_BOOL || (unsigned)type > CK_F64) return false;
    if (outer == 0 || count == 0 || inner == 0) return true;
    job j = {ops[op], type, output, input, count, inner, reverse};
    if (inner == 1) {
        ck_parallel_for(outer, WORTH_A_TASK / count + 1, run_lines, &j);
    } else {
        size_t blocks = (inner + COLUMNS - 1) / COLUMNS, columns = inner < COLUMNS ? inner : COLUMNS;
        ck_parallel_for(outer * blocks, WORTH_A_TASK / (count * columns) + 1, run_columns, &j);
    }
    return true;
}
