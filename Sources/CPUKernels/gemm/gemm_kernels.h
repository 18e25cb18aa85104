// The matrix product's inner kernels at one level: gemm_portable.c, gemm_avx2.c and gemm_avx512.c include it.

#include "gemm_internal.h"
#include "simd_math.h"

#if CK_LEVEL == 2
#define MR 14
#else
#define MR 6
#endif
#define NR (2 * CK_W)
#define UNROLL CK_PRAGMA(clang loop unroll(full))

CK_LEVEL_BEGIN

// ROWS and VECTORS are constants wherever this is inlined, so that the sums live in registers. Few rows leave most
// registers free: then STEPS sums run side by side, to cover the latency of the multiply-add.
#define MICRO_BODY(ROWS, VECTORS, STEPS, TYPE)                                                           \
    vf sum[STEPS][ROWS][VECTORS];                                                                         \
    UNROLL for (int u = 0; u < STEPS; u++) UNROLL for (int i = 0; i < ROWS; i++)                          \
        UNROLL for (int j = 0; j < VECTORS; j++) sum[u][i][j] = (vf){0};                                  \
    /* By the time that the sums are done, C's tile is near. */                                          \
    UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int j = 0; j < VECTORS; j++)                        \
        __builtin_prefetch(c + i * ldc + j * CK_W, 1);                                                    \
    const size_t size = TYPE == CK_F32 ? 4 : 2;                                                           \
    const char *p = b;                                                                                    \
    size_t left = k;                                                                                      \
    for (; left >= STEPS; left -= STEPS, a += ROWS * STEPS, p += NR * STEPS * size) {                     \
        UNROLL for (int u = 0; u < STEPS; u++) {                                                          \
            vf y[VECTORS];                                                                                \
            UNROLL for (int j = 0; j < VECTORS; j++)                                                      \
                y[j] = vf_load_as(TYPE, p, u * NR + j * CK_W, CK_W);                                      \
            UNROLL for (int i = 0; i < ROWS; i++) {                                                       \
                vf x = vf_set1(a[u * ROWS + i]);                                                          \
                UNROLL for (int j = 0; j < VECTORS; j++) sum[u][i][j] = x * y[j] + sum[u][i][j];          \
            }                                                                                             \
        }                                                                                                 \
    }                                                                                                     \
    for (; left > 0; left--, a += ROWS, p += NR * size) {                                                 \
        UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int j = 0; j < VECTORS; j++) sum[0][i][j] =     \
            vf_set1(a[i]) * vf_load_as(TYPE, p, j * CK_W, CK_W) + sum[0][i][j];                           \
    }                                                                                                     \
    UNROLL for (int u = 1; u < STEPS; u++) UNROLL for (int i = 0; i < ROWS; i++)                          \
        UNROLL for (int j = 0; j < VECTORS; j++) sum[0][i][j] += sum[u][i][j];                            \
    if (columns == VECTORS * CK_W) {                                                                      \
        if (add) {                                                                                        \
            UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int j = 0; j < VECTORS; j++)                \
                sum[0][i][j] += vf_load(c + i * ldc + j * CK_W);                                          \
        }                                                                                                 \
        UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int j = 0; j < VECTORS; j++)                    \
            vf_store(c + i * ldc + j * CK_W, sum[0][i][j]);                                               \
    } else {                                                                                              \
        UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int j = 0; j < VECTORS; j++) {                  \
            if (columns > (size_t)j * CK_W) {                                                             \
                size_t n = columns - (size_t)j * CK_W;                                                    \
                float *to = c + i * ldc + j * CK_W;                                                       \
                vf_store_n(to, add ? sum[0][i][j] + vf_load_n(to, n) : sum[0][i][j], n);                  \
            }                                                                                             \
        }                                                                                                 \
    }

#define MICRO(ROWS, VECTORS, STEPS, TYPE)                                                                        \
    static void micro_##ROWS##_##VECTORS##_##TYPE(                                                               \
        size_t k, const float *a, const void *b, float *c, ptrdiff_t ldc, size_t columns, bool add) {            \
        MICRO_BODY(ROWS, VECTORS, STEPS, TYPE)                                                                   \
    }
#define MICROS_OF(VECTORS, TYPE)                                                                              \
    MICRO(1, VECTORS, 4, TYPE)                                                                                \
    MICRO(2, VECTORS, 2, TYPE)                                                                                \
    MICRO(3, VECTORS, 2, TYPE)                                                                                \
    MICRO(4, VECTORS, 1, TYPE)                                                                                \
    MICRO(5, VECTORS, 1, TYPE)                                                                                \
    MICRO(6, VECTORS, 1, TYPE)
#define MORE_MICROS_OF(VECTORS, TYPE)                                                                         \
    MICRO(7, VECTORS, 1, TYPE)                                                                                \
    MICRO(8, VECTORS, 1, TYPE)                                                                                \
    MICRO(9, VECTORS, 1, TYPE)                                                                                \
    MICRO(10, VECTORS, 1, TYPE)                                                                               \
    MICRO(11, VECTORS, 1, TYPE)                                                                               \
    MICRO(12, VECTORS, 1, TYPE)                                                                               \
    MICRO(13, VECTORS, 1, TYPE)                                                                               \
    MICRO(14, VECTORS, 1, TYPE)
#define NAMES_OF(V, T) \
    micro_1_##V##_##T, micro_2_##V##_##T, micro_3_##V##_##T, micro_4_##V##_##T, micro_5_##V##_##T, micro_6_##V##_##T
#define MORE_NAMES_OF(V, T)                                                                                    \
    , micro_7_##V##_##T, micro_8_##V##_##T, micro_9_##V##_##T, micro_10_##V##_##T, micro_11_##V##_##T,         \
        micro_12_##V##_##T, micro_13_##V##_##T, micro_14_##V##_##T

MICROS_OF(1, CK_F32)
MICROS_OF(2, CK_F32)
MICROS_OF(1, CK_F16)
MICROS_OF(2, CK_F16)
MICROS_OF(1, CK_BF16)
MICROS_OF(2, CK_BF16)
#if MR > 6
MORE_MICROS_OF(1, CK_F32)
MORE_MICROS_OF(2, CK_F32)
MORE_MICROS_OF(1, CK_F16)
MORE_MICROS_OF(2, CK_F16)
MORE_MICROS_OF(1, CK_BF16)
MORE_MICROS_OF(2, CK_BF16)
#else
#undef MORE_NAMES_OF
#define MORE_NAMES_OF(V, T)
#endif

// Packing.

// to[column * step + row] = from[row * ld + column]
static void transpose(const float *from, ptrdiff_t ld, size_t rows, size_t columns, float *to, size_t step) {
    size_t j = 0;
    if (rows >= 4) {
        for (; j + 4 <= columns; j += 4) {
            for (size_t i = 0;;) {
                const float *p = from + (ptrdiff_t)i * ld + (ptrdiff_t)j;
                v4 a = *(const v4_any *)p, b = *(const v4_any *)(p + ld), c = *(const v4_any *)(p + 2 * ld),
                   d = *(const v4_any *)(p + 3 * ld);
                v4 ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
                v4 cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
                float *q = to + j * step + i;
                *(v4_any *)q = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
                *(v4_any *)(q + step) = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
                *(v4_any *)(q + 2 * step) = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
                *(v4_any *)(q + 3 * step) = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
                if (i + 4 >= rows) break;
                // The last four rows may overlap the ones before.
                i = i + 8 <= rows ? i + 4 : rows - 4;
            }
        }
    }
    for (; j < columns; j++) {
        for (size_t i = 0; i < rows; i++) to[j * step + i] = from[(ptrdiff_t)i * ld + (ptrdiff_t)j];
    }
}

// The same for any storage type: 16-bit rows are widened in pieces first.
static void transpose_as(
    ck_type type, const void *from, ptrdiff_t ld, size_t rows, size_t columns, float *to, size_t step) {
    if (type == CK_F32) {
        transpose(from, ld, rows, columns, to, step);
        return;
    }
    enum { PIECE = 64 };
    float wide[NR * PIECE];
    for (size_t j = 0; j < columns; j += PIECE) {
        size_t n = columns - j < PIECE ? columns - j : PIECE;
        for (size_t i = 0; i < rows; i++) {
            ptrdiff_t at = (ptrdiff_t)i * ld + (ptrdiff_t)j;
            for (size_t v = 0; v < n; v += CK_W) {
                vf_store_n(wide + i * PIECE + v, vf_load_as(type, from, at + (ptrdiff_t)v, n - v), n - v);
            }
        }
        transpose(wide, PIECE, rows, n, to + j * step, step);
    }
}

static void copy_rows(
    ck_type type, const void *from, ptrdiff_t ld, size_t rows, size_t columns, float *to, size_t step) {
    for (size_t i = 0; i < rows; i++) {
        ptrdiff_t at = (ptrdiff_t)i * ld;
        for (size_t j = 0; j < columns; j += CK_W) {
            vf_store_n(to + i * step + j, vf_load_as(type, from, at + (ptrdiff_t)j, columns - j), columns - j);
        }
    }
}

static void pack_a(
    ck_type type, const void *a, ptrdiff_t row, ptrdiff_t column, size_t rows, size_t k, float *panel) {
    if (column == 1) {
        transpose_as(type, a, row, rows, k, panel, rows);
    } else {
        copy_rows(type, a, column, k, rows, panel, rows);
    }
}

static void pack_b(
    ck_type type, const void *b, ptrdiff_t row, ptrdiff_t column, size_t k, size_t columns, float *panel) {
    if (columns < NR) memset(panel, 0, k * NR * sizeof(float));
    if (column == 1) {
        copy_rows(type, b, row, k, columns, panel, NR);
    } else {
        transpose_as(type, b, column, columns, k, panel, NR);
    }
}

static void pack_b16(
    const uint16_t *b, ptrdiff_t row, ptrdiff_t column, size_t k, size_t columns, uint16_t *panel) {
    for (size_t i = 0; i < k; i++, panel += NR) {
        for (size_t j = 0; j < columns; j++) panel[j] = b[(ptrdiff_t)i * row + (ptrdiff_t)j * column];
        for (size_t j = columns; j < NR; j++) panel[j] = 0;
    }
}

// Products of few rows.

// B stored k × n: runs along its rows.
#define THIN_ROWS(ROWS, VECTORS, TYPE)                                                                           \
    {                                                                                                            \
        vf sum[ROWS][VECTORS];                                                                                   \
        UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < VECTORS; v++) sum[i][v] = (vf){0};      \
        const char *p = (const char *)b + j * (TYPE == CK_F32 ? 4 : 2);                                          \
        for (size_t s = 0; s < k; s++, p += row * (TYPE == CK_F32 ? 4 : 2)) {                                    \
            vf y[VECTORS];                                                                                       \
            UNROLL for (int v = 0; v < VECTORS; v++) y[v] = vf_load_as(TYPE, p, v * CK_W, CK_W);                 \
            UNROLL for (int i = 0; i < ROWS; i++) {                                                              \
                vf x = vf_set1(a[i * lda + (ptrdiff_t)s]);                                                       \
                UNROLL for (int v = 0; v < VECTORS; v++) sum[i][v] = x * y[v] + sum[i][v];                       \
            }                                                                                                    \
        }                                                                                                        \
        UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < VECTORS; v++)                           \
            vf_store(c + i * ldc + (ptrdiff_t)j + v * CK_W, sum[i][v]);                                          \
    }

// B stored n × k: dot products, four columns of C at a time.
#define THIN_DOTS(ROWS, COLUMNS, TYPE)                                                                           \
    {                                                                                                            \
        vf sum[ROWS][COLUMNS];                                                                                   \
        UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < COLUMNS; v++) sum[i][v] = (vf){0};      \
        const char *p = (const char *)b + (ptrdiff_t)j * column * (TYPE == CK_F32 ? 4 : 2);                      \
        for (size_t s = 0; s < k; s += CK_W) {                                                                   \
            vf y[COLUMNS];                                                                                       \
            size_t n = k - s;                                                                                    \
            UNROLL for (int v = 0; v < COLUMNS; v++) y[v] = vf_load_as(TYPE, p, v * column + (ptrdiff_t)s, n);   \
            UNROLL for (int i = 0; i < ROWS; i++) {                                                              \
                vf x = vf_load_n(a + i * lda + s, n);                                                            \
                UNROLL for (int v = 0; v < COLUMNS; v++) sum[i][v] = x * y[v] + sum[i][v];                       \
            }                                                                                                    \
        }                                                                                                        \
        UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int v = 0; v < COLUMNS; v++)                           \
            c[i * ldc + (ptrdiff_t)j + v] = vf_sum(sum[i][v]);                                                   \
    }

#define THIN(ROWS, TYPE)                                                                                       \
    static void thin_##ROWS##_##TYPE(size_t k, size_t columns, const float *a, ptrdiff_t lda, const void *b,   \
        ptrdiff_t row, ptrdiff_t column, float *c, ptrdiff_t ldc) {                                            \
        size_t j = 0;                                                                                          \
        if (column == 1) {                                                                                     \
            for (; j + 4 * CK_W <= columns; j += 4 * CK_W) THIN_ROWS(ROWS, 4, TYPE)                            \
            for (; j + CK_W <= columns; j += CK_W) THIN_ROWS(ROWS, 1, TYPE)                                    \
            for (; j < columns; j++) {                                                                         \
                for (int i = 0; i < ROWS; i++) {                                                               \
                    float sum = 0;                                                                             \
                    for (size_t s = 0; s < k; s++)                                                             \
                        sum += a[i * lda + (ptrdiff_t)s] * load_as(TYPE, b, (ptrdiff_t)s * row + (ptrdiff_t)j); \
                    c[i * ldc + (ptrdiff_t)j] = sum;                                                           \
                }                                                                                              \
            }                                                                                                  \
        } else {                                                                                               \
            for (; j + 4 <= columns; j += 4) THIN_DOTS(ROWS, 4, TYPE)                                          \
            for (; j < columns; j++) THIN_DOTS(ROWS, 1, TYPE)                                                  \
        }                                                                                                      \
    }
#define THINS_OF(TYPE) THIN(1, TYPE) THIN(2, TYPE) THIN(3, TYPE) THIN(4, TYPE)
THINS_OF(CK_F32)
THINS_OF(CK_F16)
THINS_OF(CK_BF16)

static void thin(size_t m, size_t k, size_t columns, const float *a, ptrdiff_t lda, ck_type type, const void *b,
    ptrdiff_t row, ptrdiff_t column, float *c, ptrdiff_t ldc) {
    static void (*const all[3][4])(size_t, size_t, const float *, ptrdiff_t, const void *, ptrdiff_t, ptrdiff_t,
        float *, ptrdiff_t) = {
        {thin_1_CK_F32, thin_2_CK_F32, thin_3_CK_F32, thin_4_CK_F32},
        {thin_1_CK_F16, thin_2_CK_F16, thin_3_CK_F16, thin_4_CK_F16},
        {thin_1_CK_BF16, thin_2_CK_BF16, thin_3_CK_BF16, thin_4_CK_BF16},
    };
    all[type == CK_F32 ? 0 : type == CK_F16 ? 1 : 2][m - 1](k, columns, a, lda, b, row, column, c, ldc);
}

// The epilogue.

CK_INLINE void finish_with(ck_activation activation, const ck_epilogue *e, const void *residual, size_t row,
    size_t column, size_t rows, size_t columns, const float *from, ptrdiff_t from_ld, ck_type type, void *c,
    ptrdiff_t ldc) {
    vf low = vf_set1(e->low), high = vf_set1(e->high);
    for (size_t i = 0; i < rows; i++) {
        vf row_bias = vf_set1(e->bias && e->bias_per_row ? e->bias[row + i] : 0.0f);
        ptrdiff_t residual_at = (ptrdiff_t)(row + i) * e->residual_ld + (ptrdiff_t)column;
        ptrdiff_t at = (ptrdiff_t)(row + i) * ldc + (ptrdiff_t)column;
        for (size_t j = 0; j < columns; j += CK_W) {
            size_t n = columns - j;
            vf x = vf_load_n(from + (ptrdiff_t)i * from_ld + j, n);
            if (e->bias) x += e->bias_per_row ? row_bias : vf_load_n(e->bias + column + j, n);
            if (residual) x += vf_load_as(e->residual_type, residual, residual_at + (ptrdiff_t)j, n);
            x = vf_activate(activation, x);
            if (e->clamps) x = vf_min(high, vf_max(low, x));
            vf_store_as(type, c, at + (ptrdiff_t)j, x, n);
        }
    }
}

static void finish(const ck_epilogue *e, const void *residual, size_t row, size_t column, size_t rows, size_t columns,
    const float *from, ptrdiff_t from_ld, ck_type type, void *c, ptrdiff_t ldc) {
#define FINISH(ACTIVATION)                                                                                  \
    case ACTIVATION:                                                                                        \
        finish_with(ACTIVATION, e, residual, row, column, rows, columns, from, from_ld, type, c, ldc);      \
        return;
    switch (e->activation) {
        FINISH(CK_ACT_NONE)
        FINISH(CK_ACT_RELU)
        FINISH(CK_ACT_GELU_ERF)
        FINISH(CK_ACT_GELU_TANH)
        FINISH(CK_ACT_GELU_SIGMOID)
        FINISH(CK_ACT_SILU)
        FINISH(CK_ACT_SIGMOID)
        FINISH(CK_ACT_TANH)
    }
}

const ck_gemm_kernels CK_NAME(ck_gemm_kernels) = {
    .micro =
        {
            {{NAMES_OF(1, CK_F32) MORE_NAMES_OF(1, CK_F32)}, {NAMES_OF(2, CK_F32) MORE_NAMES_OF(2, CK_F32)}},
            {{NAMES_OF(1, CK_F16) MORE_NAMES_OF(1, CK_F16)}, {NAMES_OF(2, CK_F16) MORE_NAMES_OF(2, CK_F16)}},
            {{NAMES_OF(1, CK_BF16) MORE_NAMES_OF(1, CK_BF16)}, {NAMES_OF(2, CK_BF16) MORE_NAMES_OF(2, CK_BF16)}},
        },
    .pack_a = pack_a,
    .pack_b = pack_b,
    .pack_b16 = pack_b16,
    .thin = thin,
    .finish = finish,
    .mr = MR,
    .nr = NR,
    .width = CK_W,
};

CK_LEVEL_END
