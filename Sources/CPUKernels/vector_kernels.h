#pragma once
// The kernels that are compiled once per CPU level, behind one table.

#include "elementwise.h"

/// One operation on a block: `d` may be exactly `a`, `b` or `c` where the element sizes agree.
typedef void (*ck_ew_kernel)(void *d, const void *a, const void *b, const void *c, size_t n);

typedef struct {
    /// NULL if the class has no such operation.
    ck_ew_kernel (*elementwise)(ck_ew_op op, ck_type type, ck_type to);
    /// F16, BF16 or F32 to floats, and back.
    void (*widen)(ck_type type, float *d, const void *a, size_t n);
    void (*narrow)(ck_type type, void *d, const float *a, size_t n);
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
