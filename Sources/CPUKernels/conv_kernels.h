// The convolution's inner kernels at one level: conv_portable.c, conv_avx2.c and conv_avx512.c include it.

#include "conv_internal.h"
#include "simd.h"

#define NR (2 * CK_W)
#define UNROLL CK_PRAGMA(clang loop unroll(full))

CK_LEVEL_BEGIN

#if CK_LEVEL == 2
#define EVEN(a, b) \
    __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#elif CK_LEVEL == 1
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#else
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#endif

CK_INLINE void copy_of(ck_type type, const void *from, ptrdiff_t at, size_t stride, size_t count, float *to) {
    if (stride == 1) {
        for (size_t j = 0; j < count; j += CK_W) {
            vf_store_n(to + j, vf_load_as(type, from, at + (ptrdiff_t)j, count - j), count - j);
        }
    } else if (stride == 2) {
        for (size_t j = 0; j < count; j += CK_W) {
            // Up to the last element that is wanted, and not one further.
            size_t n = count - j, span = n >= CK_W ? 2 * CK_W - 1 : 2 * n - 1;
            ptrdiff_t p = at + 2 * (ptrdiff_t)j;
            vf a = vf_load_as(type, from, p, span), b = {0};
            if (span > CK_W) b = vf_load_as(type, from, p + CK_W, span - CK_W);
            vf_store_n(to + j, EVEN(a, b), n);
        }
    } else {
        for (size_t j = 0; j < count; j++) to[j] = load_as(type, from, at + (ptrdiff_t)(j * stride));
    }
}

static void copy(ck_type type, const void *from, ptrdiff_t at, size_t stride, size_t count, float *to) {
    if (type == CK_F32) {
        copy_of(CK_F32, from, at, stride, count, to);
    } else if (type == CK_F16) {
        copy_of(CK_F16, from, at, stride, count, to);
    } else {
        copy_of(CK_BF16, from, at, stride, count, to);
    }
}

// Columns of a panel that lie in one output row.
typedef struct {
    size_t at, count;
    ptrdiff_t z, y, x;  // where the first one's input would be, without a tap's offset
    ptrdiff_t row;      // the input row at hand, or -1 where it is outside
} run;

// Which of a run's columns read inside the input's row for one tap.
typedef struct {
    uint8_t low, high;
} span;

static span span_of(const run *r, ptrdiff_t offset, size_t stride, size_t width) {
    ptrdiff_t first = r->x + offset, step = (ptrdiff_t)stride;
    ptrdiff_t low = first >= 0 ? 0 : (step - 1 - first) / step;
    ptrdiff_t high = first >= (ptrdiff_t)width ? 0 : ((ptrdiff_t)width - 1 - first) / step + 1;
    if (high > (ptrdiff_t)r->count) high = (ptrdiff_t)r->count;
    if (low > high) low = high = 0;
    return (span){(uint8_t)low, (uint8_t)high};
}

static size_t find_runs(const ck_taps *t, size_t column, size_t columns, run *runs) {
    size_t count = 0, x = column % t->out[2], rest = column / t->out[2];
    size_t y = rest % t->out[1], z = rest / t->out[1];
    for (size_t at = 0; at < columns;) {
        size_t n = t->out[2] - x < columns - at ? t->out[2] - x : columns - at;
        runs[count++] = (run){at, n, (ptrdiff_t)(z * t->stride[0]), (ptrdiff_t)(y * t->stride[1]),
            (ptrdiff_t)(x * t->stride[2]), 0};
        at += n;
        x = 0;
        if (++y == t->out[1]) y = 0, z++;
    }
    return count;
}

enum { SPAN_TAPS = 16 };

CK_INLINE void gather_of(ck_type type, const ck_gather *g, size_t columns, size_t k_begin, size_t k, float *panel,
    run *runs, size_t run_count) {
    const ck_taps *t = &g->taps;
    const size_t *in = t->in;
    span spans[SPAN_TAPS][NR];
    bool has_spans = t->taps[2] <= SPAN_TAPS;
    for (size_t i = 0; has_spans && i < t->taps[2]; i++) {
        for (size_t r = 0; r < run_count; r++) spans[i][r] = span_of(&runs[r], t->offset[2][i], t->stride[2], in[2]);
    }
    size_t kx = k_begin % t->taps[2], rest = k_begin / t->taps[2];
    size_t ky = rest % t->taps[1];
    rest /= t->taps[1];
    size_t kz = rest % t->taps[0], channel = rest / t->taps[0];
    bool is_new_row = true;
    for (size_t i = 0; i < k; i++, panel += NR) {
        if (is_new_row) {
            for (size_t r = 0; r < run_count; r++) {
                ptrdiff_t z = runs[r].z + t->offset[0][kz], y = runs[r].y + t->offset[1][ky];
                bool is_inside = z >= 0 && z < (ptrdiff_t)in[0] && y >= 0 && y < (ptrdiff_t)in[1];
                runs[r].row = is_inside
                    ? (ptrdiff_t)(((channel * in[0] + (size_t)z) * in[1] + (size_t)y) * in[2])
                    : -1;
            }
        }
        ptrdiff_t offset = t->offset[2][kx];
        for (size_t r = 0; r < run_count; r++) {
            const run *run = &runs[r];
            span s = {0, 0};
            if (run->row >= 0) s = has_spans ? spans[kx][r] : span_of(run, offset, t->stride[2], in[2]);
            float *to = panel + run->at;
            ptrdiff_t at = run->row + run->x + offset;
            if (s.high - s.low == NR && t->stride[2] == 1) {
                vf_store(to, vf_load_as(type, g->input, at, CK_W));
                vf_store(to + CK_W, vf_load_as(type, g->input, at + CK_W, CK_W));
                continue;
            }
            for (size_t j = 0; j < s.low; j++) to[j] = 0;
            copy_of(type, g->input, at + (ptrdiff_t)(s.low * t->stride[2]), t->stride[2], s.high - s.low, to + s.low);
            for (size_t j = s.high; j < run->count; j++) to[j] = 0;
        }
        for (size_t j = columns; j < NR; j++) panel[j] = 0;
        is_new_row = ++kx == t->taps[2];
        if (is_new_row) {
            kx = 0;
            if (++ky == t->taps[1]) {
                ky = 0;
                if (++kz == t->taps[0]) kz = 0, channel++;
            }
        }
    }
}

static void gather(
    const ck_gather *g, size_t column, size_t columns, size_t k_begin, size_t k, float *panel) {
    if (k == 0) return;
    run runs[NR];
    size_t count = find_runs(&g->taps, column, columns, runs);
    if (g->type == CK_F32) {
        gather_of(CK_F32, g, columns, k_begin, k, panel, runs, count);
    } else if (g->type == CK_F16) {
        gather_of(CK_F16, g, columns, k_begin, k, panel, runs, count);
    } else {
        gather_of(CK_BF16, g, columns, k_begin, k, panel, runs, count);
    }
}

// KH, KW, SY and ROWS are constants where this is inlined: then rows that several outputs share are loaded once.
CK_INLINE void depthwise_rows(const ck_depthwise *d, size_t KH, size_t KW, size_t SY, size_t DY, size_t SX, size_t DX,
    const size_t ROWS, const float *restrict band, float *restrict out) {
    size_t row_size = SX * d->phase_size;
    for (size_t x = 0; x < d->width; x += CK_W) {
        vf sum[4];
        UNROLL for (size_t r = 0; r < ROWS; r++) sum[r] = (vf){0};
        UNROLL for (size_t ky = 0; ky < KH; ky++) {
            UNROLL for (size_t kx = 0; kx < KW; kx++) {
                vf w = vf_set1(d->weights[ky * KW + kx]);
                const float *p = band + ky * DY * row_size + kx * DX % SX * d->phase_size + kx * DX / SX + x;
                UNROLL for (size_t r = 0; r < ROWS; r++) sum[r] = w * vf_load(p + r * SY * row_size) + sum[r];
            }
        }
        UNROLL for (size_t r = 0; r < ROWS; r++) vf_store_n(out + r * d->width + x, sum[r], d->width - x);
    }
}

static void depthwise_any(const ck_depthwise *d, const float *band, float *out) {
    size_t row_size = d->stride[1] * d->phase_size, kw = d->kernel[1], dx = d->dilation[1], sx = d->stride[1];
    for (size_t row = 0; row < d->rows; row++, out += d->width) {
        const float *top = band + row * d->stride[0] * row_size;
        for (size_t x = 0; x < d->width; x += CK_W) {
            vf sum = {0};
            for (size_t ky = 0; ky < d->kernel[0]; ky++) {
                const float *p = top + ky * d->dilation[0] * row_size + x;
                for (size_t kx = 0; kx < kw; kx++) {
                    size_t shift = kx * dx % sx * d->phase_size + kx * dx / sx;
                    sum = vf_set1(d->weights[ky * kw + kx]) * vf_load(p + shift) + sum;
                }
            }
            vf_store_n(out + x, sum, d->width - x);
        }
    }
}

#define DEPTHWISE(K, S)                                                                               \
    static void depthwise_##K##_##S(const ck_depthwise *d, const float *band, float *out) {            \
        size_t row = 0, step = S * S * d->phase_size;                                                  \
        for (; row + 4 <= d->rows; row += 4)                                                           \
            depthwise_rows(d, K, K, S, 1, S, 1, 4, band + row * step, out + row * d->width);           \
        for (; row < d->rows; row++)                                                                   \
            depthwise_rows(d, K, K, S, 1, S, 1, 1, band + row * step, out + row * d->width);           \
    }
DEPTHWISE(3, 1)
DEPTHWISE(3, 2)
DEPTHWISE(5, 1)
DEPTHWISE(5, 2)
DEPTHWISE(7, 1)

static void depthwise(const ck_depthwise *d, const float *band, float *out) {
    size_t k = d->kernel[0], s = d->stride[0];
    bool is_square = d->kernel[1] == k && d->stride[1] == s && d->dilation[0] == 1 && d->dilation[1] == 1;
    if (is_square && k == 3 && s == 1) {
        depthwise_3_1(d, band, out);
    } else if (is_square && k == 3 && s == 2) {
        depthwise_3_2(d, band, out);
    } else if (is_square && k == 5 && s == 1) {
        depthwise_5_1(d, band, out);
    } else if (is_square && k == 5 && s == 2) {
        depthwise_5_2(d, band, out);
    } else if (is_square && k == 7 && s == 1) {
        depthwise_7_1(d, band, out);
    } else {
        depthwise_any(d, band, out);
    }
}

const ck_conv_kernels CK_NAME(ck_conv_kernels) = {.gather = gather, .depthwise = depthwise, .copy = copy};

CK_LEVEL_END
