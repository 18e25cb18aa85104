#pragma once
// Convolutions over one, two or three spatial dimensions: input N × C × spatial, f32 arithmetic.

#include "gemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Spatial arrays hold depth, height, width; a convolution of fewer dimensions has ones in front (stride and dilation
/// one, no padding). Tensors are dense. Types are f32, f16 or bf16.
typedef struct {
    size_t batch, in_channels, out_channels, groups;
    size_t in[3], kernel[3], stride[3], dilation[3];
    /// Zeros around the input; in a transposed convolution, outputs cut off.
    size_t pad_before[3], pad_after[3];
    /// Weights are in_channels × out_channels / groups × kernel; else out_channels × in_channels / groups × kernel.
    bool transposed;
    /// Outputs added at the end of a transposed convolution.
    size_t out_pad[3];
    ck_type in_type, weight_type, out_type;
} ck_conv;

/// Packed weights for one convolution.
typedef struct ck_conv_plan ck_conv_plan;

/// The output's spatial sizes; false where the sizes make no convolution.
bool ck_conv_out_size(const ck_conv *conv, size_t out[3]);

/// Packs the weights, which may go away afterwards. Null where the sizes make no convolution or memory ran out.
ck_conv_plan *ck_conv_plan_create(const ck_conv *conv, const void *weights);
void ck_conv_plan_destroy(ck_conv_plan *plan);

/// Runs on the thread pool; several threads may run one plan. Of `epilogue`, the bias is one an output channel, the
/// residual has the output's shape and may be the output; leading dimensions and strides are not looked at. False where
/// memory ran out. A transposed convolution with a stride, or with 16-bit output, keeps an f32 copy of one image's
/// output in a buffer of the calling thread.
bool ck_conv_run(const ck_conv_plan *plan, const void *input, void *output, const ck_epilogue *epilogue);

#ifdef __cplusplus
}
#endif
