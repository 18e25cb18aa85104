#pragma once
// The kernels that are compiled once per CPU level, behind one table.

#include "elementwise.h"
#include "reduce.h"

/// One operation on a block: `d` may be exactly `a`, `b` or `c` where the element sizes agree.
typedef void (*ck_ew_kernel)(void *d, const void *a, const void *b, const void *c, size_t n);

typedef struct {
    /// NULL if the class has no such operation.
    ck_ew_kernel (*elementwise)(ck_ew_op op, ck_type type, ck_type to);
    /// F16, BF16 or F32 to floats, and back.
    void (*widen)(ck_type type, float *d, const void *a, size_t n);
    void (*narrow)(ck_type type, void *d, const float *a, size_t n);
    /// At most a few thousand floats to one; `shift` is subtracted from what SUM_SQUARES squares.
    float (*float_row)(ck_reduce_op op, const float *a, size_t n, float shift);
    /// A row into a row of accumulators.
    void (*float_column)(ck_reduce_op op, float *sums, const float *a, size_t n);
    /// The same for integers, bools and doubles, in their own type; the accumulators hold the identity at first.
    void (*plain_row)(ck_reduce_op op, ck_type type, void *sum, const void *a, size_t n);
    void (*plain_column)(ck_reduce_op op, ck_type type, void *sums, const void *a, size_t n);
    /// What beats `best`, and where: the first of equal ones. `*index` stays if nothing does.
    float (*float_arg_row)(bool greatest, const float *a, size_t n, float best, size_t *index);
    void (*float_arg_column)(bool greatest, float *best, uint32_t *index, const float *a, size_t n, uint32_t row);
    void (*plain_arg_row)(bool greatest, ck_type type, void *best, size_t *index, const void *a, size_t n);
    void (*plain_arg_column)(
        bool greatest, ck_type type, void *best, uint32_t *index, const void *a, size_t n, uint32_t row);
    /// e^(x − greatest) of at most a few thousand, and their sum; x = greatest gives 1.
    float (*exp_row)(float *d, const float *a, size_t n, float greatest);
    /// The same for a row of columns, each added to its own sum.
    void (*exp_columns)(float *d, const float *a, const float *greatest, float *sums, size_t n);
    void (*scale_row)(float *d, const float *a, size_t n, float factor);
    /// (x − mean) · scale · weight + bias; without either (NULL), + offset.
    void (*norm_row)(
        float *d, const float *a, size_t n, float mean, float scale, float offset, const float *weight,
        const float *bias);
} ck_vector_kernels;

extern const ck_vector_kernels ck_vector_kernels_portable;
#if defined(__x86_64__)
extern const ck_vector_kernels ck_vector_kernels_avx2;
extern const ck_vector_kernels ck_vector_kernels_avx512;
#endif

/// The table of the level now in force.
static inline const ck_vector_kernels *ck_vectors(void) {
#if defined(__x86_64__)
    switch (ck_cpu_level()) {
        case 2: return &ck_vector_kernels_avx512;
        case 1: return &ck_vector_kernels_avx2;
        default: break;
    }
#endif
    return &ck_vector_kernels_portable;
}
