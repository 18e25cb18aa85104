// What the parts of the convolution share.
#pragma once

#include "conv.h"
#include "../gemm/gemm_internal.h"

/// Which input each output reads for each tap: output o reads input o * stride + offset[tap], zero outside, in each
/// dimension. Transposed convolutions have one of these for each phase of their stride.
typedef struct {
    const ptrdiff_t *offset[3];
    size_t taps[3], in[3], out[3], stride[3];
} ck_taps;

/// A product's right operand that is gathered from an image: rows are (channel, tap), columns output positions.
typedef struct {
    ck_taps taps;
    const void *input;
    ck_type type;
} ck_gather;

/// Rows `first ..< first + rows` of a channel with zeros around it, widened; each `stride`-th column lies together, in
/// phases `phase_size` long.
typedef struct {
    const void *input;
    ck_type type;
    ptrdiff_t at;  // where the channel starts
    size_t height, width, pad_top, pad, stride, first, rows, phase_size;
} ck_band;

/// A few output rows of one channel, from such a band.
typedef struct {
    size_t kernel[2], dilation[2], stride[2], width, rows;
    size_t phase_size;
    const float *weights;
} ck_depthwise;

typedef struct {
    void (*gather)(const ck_gather *gather, size_t column, size_t columns, size_t k_begin, size_t k, float *panel);
    void (*depthwise)(const ck_depthwise *shape, const float *band, float *out);
    /// Copies a band's rows; may write up to a vector's width more.
    void (*fill)(const ck_band *band, float *to);
} ck_conv_kernels;

extern const ck_conv_kernels ck_conv_kernels_portable;
#if defined(__x86_64__)
extern const ck_conv_kernels ck_conv_kernels_avx2, ck_conv_kernels_avx512;
#endif

const ck_conv_kernels *ck_conv_kernels_at(int level);

/// One channel's rows beyond what the band holds may be read, this many floats, and are thrown away.
enum { CK_BAND_SLACK = 64 };

typedef struct {
    ck_conv conv;
    size_t out[3], in_size, out_size;
    const float *weights;
    int level;
} ck_depthwise_plan;

bool ck_depthwise_run(const ck_depthwise_plan *plan, const void *input, void *output, const ck_epilogue *epilogue);
