// The convolution's inner kernels at one level: conv_portable.c, conv_avx2.c and conv_avx512.c include it.

#include "conv_internal.h"
#include "../gemm/simd.h"

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

/// What `load_lanes` takes for the lanes whose bits are set.
CK_INLINE uint32_t lanes_of(uint32_t bits, size_t stride) {
    bits &= (1u << CK_W) - 1;
#if CK_LEVEL == 2
    if (stride == 2) {
        bits = (bits | bits << 8) & 0x00ff00ffu;
        bits = (bits | bits << 4) & 0x0f0f0f0fu;
        bits = (bits | bits << 2) & 0x33333333u;
        bits = (bits | bits << 1) & 0x55555555u;
    }
#endif
    (void)stride;
    return bits;
}

/// The lanes chosen hold elements at, at + stride, …, the others zero; only the elements asked for are read. Strides
/// are 1 or 2.
CK_INLINE vf load_lanes(ck_type type, const void *from, ptrdiff_t at, size_t stride, uint32_t lanes) {
#if CK_LEVEL == 2
    __mmask16 low = (__mmask16)lanes, high = (__mmask16)(lanes >> 16);
    if (type == CK_F32) {
        const float *p = (const float *)from + at;
        vf a = _mm512_maskz_loadu_ps(low, p);
        return stride == 1 ? a : EVEN(a, (vf)_mm512_maskz_loadu_ps(high, p + CK_W));
    }
    const uint16_t *p = (const uint16_t *)from + at;
    vh a = (vh)_mm256_maskz_loadu_epi16(low, p);
    if (stride == 2) a = EVEN(a, (vh)_mm256_maskz_loadu_epi16(high, p + CK_W));
    return type == CK_F16 ? vf_from_f16(a) : vf_from_bf16(a);
#else
#if CK_LEVEL == 1
    if (type == CK_F32 && stride == 1) {
        const vi bit = {1, 2, 4, 8, 16, 32, 64, 128};
        vi chosen = (bit & (int32_t)lanes) == bit;
        return _mm256_maskload_ps((const float *)from + at, (__m256i)chosen);
    }
#endif
    if (type == CK_F32 && stride == 1 && lanes == (1u << CK_W) - 1) return vf_load((const float *)from + at);
    float values[CK_W];
    for (size_t i = 0; i < CK_W; i++) {
        values[i] = lanes >> i & 1 ? load_as(type, from, at + (ptrdiff_t)(i * stride)) : 0;
    }
    return vf_load(values);
#endif
}

/// Bits low ..< high, each at most 32.
CK_INLINE uint32_t bits_between(size_t low, size_t high) {
    return low >= high ? 0 : (uint32_t)(((uint64_t)1 << high) - ((uint64_t)1 << low));
}

// Which elements of a phase come from the input: element q is the padded row's column q * stride + phase.
CK_INLINE void find_span(const ck_band *b, size_t phase, size_t *low, size_t *high) {
    size_t end = b->pad + b->width;
    *low = b->pad > phase ? (b->pad - phase + b->stride - 1) / b->stride : 0;
    *high = end > phase ? (end - phase + b->stride - 1) / b->stride : 0;
}

CK_INLINE void fill_row(ck_type type, const ck_band *b, ptrdiff_t at, size_t stride, size_t low, size_t high,
    float *to) {
    if (stride > 2) {
        for (size_t i = 0; i < b->phase_size; i++) {
            to[i] = i >= low && i < high ? load_as(type, b->input, at + (ptrdiff_t)(i * b->stride)) : 0;
        }
        return;
    }
    const uint32_t all = lanes_of(~0u, stride);
    for (size_t i = 0; i < b->phase_size; i += CK_W) {
        ptrdiff_t p = at + (ptrdiff_t)(i * stride);
        if (i >= low && i + CK_W <= high) {
            vf_store(to + i, load_lanes(type, b->input, p, stride, all));
        } else {
            size_t first = low > i ? low - i : 0, last = high > i ? high - i : 0;
            uint32_t bits = bits_between(first, last < CK_W ? last : CK_W);
            vf_store(to + i, load_lanes(type, b->input, p, stride, lanes_of(bits, stride)));
        }
    }
}

CK_INLINE void fill_of(ck_type type, const ck_band *b, size_t stride, float *to) {
    enum { KEPT = 4 };
    size_t lows[KEPT], highs[KEPT];
    for (size_t i = 0; i < KEPT; i++) find_span(b, i, &lows[i], &highs[i]);
    for (size_t i = 0; i < b->rows; i++) {
        size_t y = b->first + i - b->pad_top;
        bool is_inside = b->first + i >= b->pad_top && y < b->height;
        ptrdiff_t at = b->at + (ptrdiff_t)((is_inside ? y : 0) * b->width) - (ptrdiff_t)b->pad;
        // Each row may run over into the next one, which comes after it.
        for (size_t phase = 0; phase < b->stride; phase++, at++, to += b->phase_size) {
            size_t low = lows[phase % KEPT], high = highs[phase % KEPT];
            if (phase >= KEPT) find_span(b, phase, &low, &high);
            fill_row(type, b, at, stride, low, is_inside ? high : low, to);
        }
    }
}

static void fill(const ck_band *b, float *to) {
#define FILL(TYPE)                    \
    if (b->stride == 1) {             \
        fill_of(TYPE, b, 1, to);      \
    } else if (b->stride == 2) {      \
        fill_of(TYPE, b, 2, to);      \
    } else {                          \
        fill_of(TYPE, b, 3, to);      \
    }
    if (b->type == CK_F32) {
        FILL(CK_F32)
    } else if (b->type == CK_F16) {
        FILL(CK_F16)
    } else {
        FILL(CK_BF16)
    }
}

// Columns of a panel that lie in one output row.
typedef struct {
    size_t at, count;
    ptrdiff_t z, y, x;  // where the first one's input would be, without a tap's offset
    ptrdiff_t row;
    uint32_t mask;      // nothing where the input's row is outside
} run;

// Which of the panel's columns, as bits, are a run's and read inside the input's row for one tap.
static uint32_t bits_of(const run *r, ptrdiff_t offset, size_t stride, size_t width) {
    ptrdiff_t first = r->x + offset, step = (ptrdiff_t)stride;
    ptrdiff_t low = first >= 0 ? 0 : (step - 1 - first) / step;
    ptrdiff_t high = first >= (ptrdiff_t)width ? 0 : ((ptrdiff_t)width - 1 - first) / step + 1;
    if (high > (ptrdiff_t)r->count) high = (ptrdiff_t)r->count;
    return low >= high ? 0 : bits_between(r->at + (size_t)low, r->at + (size_t)high);
}

static size_t find_runs(const ck_taps *t, size_t column, size_t columns, run *runs) {
    size_t count = 0, x = column % t->out[2], rest = column / t->out[2];
    size_t y = rest % t->out[1], z = rest / t->out[1];
    for (size_t at = 0; at < columns;) {
        size_t n = t->out[2] - x < columns - at ? t->out[2] - x : columns - at;
        runs[count++] = (run){at, n, (ptrdiff_t)(z * t->stride[0]), (ptrdiff_t)(y * t->stride[1]),
            (ptrdiff_t)(x * t->stride[2]), 0, 0};
        at += n;
        x = 0;
        if (++y == t->out[1]) y = 0, z++;
    }
    return count;
}

enum { KEPT_TAPS = 16 };

// The runs' columns that one tap reads inside the input's row, for each vector of the panel.
typedef struct {
    uint32_t of[2][NR];
} tap_lanes;

CK_INLINE void find_lanes(
    const ck_taps *t, size_t stride, size_t tap, const run *runs, size_t run_count, tap_lanes *lanes) {
    for (size_t r = 0; r < run_count; r++) {
        uint32_t bits = bits_of(&runs[r], t->offset[2][tap], t->stride[2], t->in[2]);
        lanes->of[0][r] = stride > 2 ? bits : lanes_of(bits, stride);
        lanes->of[1][r] = stride > 2 ? bits : lanes_of(bits >> CK_W, stride);
    }
}

// Each vector of the panel is put together from the runs that it meets: they share no lane.
CK_INLINE void gather_of(ck_type type, size_t stride, const ck_gather *g, size_t k_begin, size_t k, float *panel,
    run *runs, size_t run_count) {
    const ck_taps *t = &g->taps;
    const size_t *in = t->in;
    tap_lanes lanes[KEPT_TAPS];
    bool are_kept = t->taps[2] <= KEPT_TAPS;
    for (size_t i = 0; are_kept && i < t->taps[2]; i++) find_lanes(t, stride, i, runs, run_count, &lanes[i]);
    // The first run of the second vector, which may be the last one of the first.
    size_t second = 0, first_end = 0;
    for (size_t r = 0; r < run_count; r++) {
        if (runs[r].at < CK_W) first_end = r + 1;
        if (runs[r].at + runs[r].count <= CK_W) second = r + 1;
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
                size_t row = is_inside ? ((channel * in[0] + (size_t)z) * in[1] + (size_t)y) * in[2] : 0;
                // Where column 0 of the panel would be, if it were this run's.
                runs[r].row = (ptrdiff_t)row + runs[r].x - (ptrdiff_t)(runs[r].at * t->stride[2]);
                runs[r].mask = is_inside ? ~0u : 0;
            }
        }
        ptrdiff_t offset = t->offset[2][kx];
        const tap_lanes *tap = &lanes[are_kept ? kx : 0];
        if (!are_kept) find_lanes(t, stride, kx, runs, run_count, &lanes[0]);
        if (stride > 2) {
            for (size_t j = 0; j < NR; j++) panel[j] = 0;
            for (size_t r = 0; r < run_count; r++) {
                uint32_t own = tap->of[0][r] & runs[r].mask;
                for (size_t j = runs[r].at; j < runs[r].at + runs[r].count; j++) {
                    ptrdiff_t at = runs[r].row + offset + (ptrdiff_t)(j * t->stride[2]);
                    if (own >> j & 1) panel[j] = load_as(type, g->input, at);
                }
            }
        } else {
            vi sum = {0};
            for (size_t r = 0; r < first_end; r++) {
                uint32_t own = tap->of[0][r] & runs[r].mask;
                sum |= (vi)load_lanes(type, g->input, runs[r].row + offset, stride, own);
            }
            vf_store(panel, (vf)sum);
            sum = (vi){0};
            for (size_t r = second; r < run_count; r++) {
                uint32_t own = tap->of[1][r] & runs[r].mask;
                sum |= (vi)load_lanes(type, g->input, runs[r].row + offset + (ptrdiff_t)(CK_W * stride), stride, own);
            }
            vf_store(panel + CK_W, (vf)sum);
        }
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

#define GATHER(TYPE)                                                               \
    if (g->taps.stride[2] == 1) {                                                  \
        gather_of(TYPE, 1, g, k_begin, k, panel, runs, count);                     \
    } else if (g->taps.stride[2] == 2) {                                           \
        gather_of(TYPE, 2, g, k_begin, k, panel, runs, count);                     \
    } else {                                                                       \
        gather_of(TYPE, 3, g, k_begin, k, panel, runs, count);                     \
    }

static void gather(
    const ck_gather *g, size_t column, size_t columns, size_t k_begin, size_t k, float *panel) {
    if (k == 0) return;
    run runs[NR];
    size_t count = find_runs(&g->taps, column, columns, runs);
    if (g->type == CK_F32) {
        GATHER(CK_F32)
    } else if (g->type == CK_F16) {
        GATHER(CK_F16)
    } else {
        GATHER(CK_BF16)
    }
}

// One row of the kernel. K, S and ROWS are constants where this is inlined.
CK_INLINE void depthwise_taps(const ck_depthwise *d, const size_t K, const size_t S, const size_t ROWS, size_t ky,
    const float *band, vf *sum) {
    size_t row_size = S * d->phase_size;
    UNROLL for (size_t kx = 0; kx < K; kx++) {
        vf w = vf_set1(d->weights[ky * K + kx]);
        const float *p = band + ky * row_size + kx % S * d->phase_size + kx / S;
        UNROLL for (size_t r = 0; r < ROWS; r++) sum[r] = w * vf_load(p + r * S * row_size) + sum[r];
    }
}

CK_INLINE void depthwise_rows(const ck_depthwise *d, const size_t K, const size_t S, const size_t ROWS,
    const float *band, float *out) {
    for (size_t x = 0; x < d->width; x += CK_W) {
        vf sum[4];
        UNROLL for (size_t r = 0; r < ROWS; r++) sum[r] = (vf){0};
        if (K == 3) {
            // All together, so that rows that several outputs share are loaded once; more would not fit in registers.
            depthwise_taps(d, K, S, ROWS, 0, band + x, sum);
            depthwise_taps(d, K, S, ROWS, 1, band + x, sum);
            depthwise_taps(d, K, S, ROWS, 2, band + x, sum);
        } else {
            CK_PRAGMA(clang loop unroll(disable))
            for (size_t ky = 0; ky < K; ky++) depthwise_taps(d, K, S, ROWS, ky, band + x, sum);
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

#define DEPTHWISE(K, S)                                                                     \
    static void depthwise_##K##_##S(const ck_depthwise *d, const float *band, float *out) { \
        size_t row = 0, step = S * S * d->phase_size;                                       \
        for (; row + 4 <= d->rows; row += 4)                                                \
            depthwise_rows(d, K, S, 4, band + row * step, out + row * d->width);            \
        for (; row < d->rows; row++)                                                        \
            depthwise_rows(d, K, S, 1, band + row * step, out + row * d->width);            \
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

const ck_conv_kernels CK_NAME(ck_conv_kernels) = {.gather = gather, .depthwise = depthwise, .fill = fill};

CK_LEVEL_END
