#pragma once
// Elementwise operations on complex numbers, with broadcasting: one operation a call.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    /// From two reals.
    CK_CX_CREATE,
    CK_CX_REAL,
    CK_CX_IMAGINARY,
    /// Between any two kinds of elements: a real number's imaginary part is 0, and is dropped on the way back.
    CK_CX_CAST,
    CK_CX_ADD,
    CK_CX_SUB,
    CK_CX_MUL,
    CK_CX_DIVIDE,
    CK_CX_POW,
    CK_CX_EXP,
    CK_CX_LOG,
    CK_CX_SIN,
    CK_CX_COS,
    CK_CX_TAN,
    CK_CX_SINH,
    CK_CX_COSH,
    CK_CX_SIGMOID,
    CK_CX_SILU,
    // Result bool.
    CK_CX_EQUAL,
    CK_CX_NOT_EQUAL,
    /// a (bool) ? b : c, bit by bit.
    CK_CX_WHERE,
    CK_CX_OP_COUNT
} ck_complex_op;

/// The elements of a tensor: `part`, or pairs (real, imaginary) of it.
typedef struct {
    ck_type part;
    bool is_complex;
} ck_complex_element;

/// How many operands `op` takes.
int ck_complex_operand_count(ck_complex_op op);

/// Runs over the shape `extents`; `inputs`, `strides` and `output` as for ck_ew_run. Parts in F16 and BF16 are computed
/// in F32. Returns false, without writing, if the rank is out of range or the elements don't fit the operation.
bool ck_complex_run(
    ck_complex_op op, ck_complex_element result, const ck_complex_element *operands, int rank, const int64_t *extents,
    const void *const *inputs, const int64_t *strides, void *output);

#ifdef __cplusplus
}
#endif
