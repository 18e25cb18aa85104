#pragma once
// Matrix products: C = finish(A · B), in f32 arithmetic whatever the storage.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CK_ACT_NONE,
    CK_ACT_RELU,
    CK_ACT_GELU_ERF,
    CK_ACT_GELU_TANH,
    CK_ACT_GELU_SIGMOID,
    CK_ACT_SILU,
    CK_ACT_SIGMOID,
    CK_ACT_TANH
} ck_activation;

/// What happens to a product on its way to memory, in this order: bias, residual, activation, clamp. Zeroed: nothing.
typedef struct {
    /// One a column, or one a row, or null.
    const float *bias;
    bool bias_per_row;
    /// A matrix in C's shape, or null. It may be C itself.
    const void *residual;
    ck_type residual_type;
    ptrdiff_t residual_ld, residual_stride;
    ck_activation activation;
    bool clamps;
    float low, high;
} ck_epilogue;

/// A product of an m × k and a k × n matrix, `batch` times. Types are f32, f16 or bf16. Strides count elements: `ld`
/// from row to row as stored, `stride` from one matrix of the batch to the next (0 repeats one).
typedef struct {
    size_t m, n, k, batch;
    const void *a;
    ck_type a_type;
    /// Stored k × m.
    bool a_transposed;
    ptrdiff_t lda, a_stride;
    const void *b;
    ck_type b_type;
    /// Stored n × k.
    bool b_transposed;
    ptrdiff_t ldb, b_stride;
    void *c;
    ck_type c_type;
    ptrdiff_t ldc, c_stride;
    /// From `ck_gemm_pack_a` and `ck_gemm_pack_b`, in place of `a` and `b`; strides in bytes.
    const void *packed_a, *packed_b;
    size_t packed_a_stride, packed_b_stride;
    ck_epilogue epilogue;
} ck_gemm;

/// Runs on the thread pool. False where memory ran out or where a packed operand does not fit the product.
/// C must not overlap A or B. Buffers of a thread, kept until it ends: A and B blocks of about 4 MB each, more only
/// where k > 65536.
bool ck_gemm_run(const ck_gemm *gemm);

/// Bytes of a packed right operand: constant weights are packed once, f16 and bf16 stay 16 bits wide.
size_t ck_gemm_packed_b_size(ck_type type, size_t k, size_t n);
/// Packs the matrix for the CPU level in force; `packed` is aligned to 64 bytes.
void ck_gemm_pack_b(ck_type type, size_t k, size_t n, const void *b, ptrdiff_t ldb, bool transposed, void *packed);

/// Bytes of a packed left operand; it is f32 whatever the source.
size_t ck_gemm_packed_a_size(size_t m, size_t k);
void ck_gemm_pack_a(ck_type type, size_t m, size_t k, const void *a, ptrdiff_t lda, bool transposed, void *packed);

#ifdef __cplusplus
}
#endif
