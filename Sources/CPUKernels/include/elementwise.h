#pragma once
// Elementwise programs: a chain or graph of operations, run over blocks that stay in the cache, with broadcasting.

#include "ck_types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CK_EW_MAX_RANK = 16, CK_EW_MAX_INPUTS = 24, CK_EW_MAX_OUTPUTS = 16, CK_EW_MAX_VALUES = 96 };

typedef enum {
    // One operand, result of its class. All integers have only: abs, neg, relu, not, and the four roundings (identity).
    CK_EW_ABS,
    CK_EW_NEG,
    CK_EW_RELU,
    /// Logical for bool, bitwise for integers.
    CK_EW_NOT,
    /// To nearest, ties to even.
    CK_EW_ROUND,
    CK_EW_FLOOR,
    CK_EW_CEIL,
    CK_EW_TRUNC,
    CK_EW_SQRT,
    CK_EW_RSQRT,
    CK_EW_RECIPROCAL,
    CK_EW_EXP,
    CK_EW_LOG,
    CK_EW_ERF,
    CK_EW_SIN,
    CK_EW_COS,
    CK_EW_TAN,
    CK_EW_ASIN,
    CK_EW_ACOS,
    CK_EW_ATAN,
    CK_EW_SINH,
    CK_EW_COSH,
    CK_EW_TANH,
    CK_EW_ASINH,
    CK_EW_ACOSH,
    CK_EW_ATANH,
    CK_EW_SIGMOID,
    CK_EW_SILU,
    CK_EW_GELU,
    CK_EW_GELU_TANH,
    CK_EW_GELU_SIGMOID,
    /// Rounds an f32 value to what f16 (bf16) can hold and keeps it in f32: a cast in the middle of a chain.
    CK_EW_ROUND_F16,
    CK_EW_ROUND_BF16,
    // Two operands of one class, result of that class. Bool: add, maximum: or; mul, minimum: and; sub: xor.
    CK_EW_ADD,
    CK_EW_SUB,
    CK_EW_MUL,
    /// Integers: truncates; x ÷ 0 = 0.
    CK_EW_DIVIDE,
    CK_EW_FLOOR_DIVIDE,
    /// C's fmod and %; integer x % 0 = 0.
    CK_EW_MODULO,
    CK_EW_POW,
    /// NaN if either is.
    CK_EW_MAXIMUM,
    CK_EW_MINIMUM,
    // Logical for bool, bitwise for integers; floats have none.
    CK_EW_AND,
    CK_EW_OR,
    CK_EW_XOR,
    // Two operands of one class, result bool.
    CK_EW_EQUAL,
    CK_EW_NOT_EQUAL,
    CK_EW_GREATER,
    CK_EW_GREATER_EQUAL,
    CK_EW_LESS,
    CK_EW_LESS_EQUAL,
    /// a (bool) ? b : c.
    CK_EW_WHERE,
    /// From class `type` to class `to`. Float to integer truncates and saturates, NaN gives 0; integers saturate; to
    /// bool: not zero, or NaN.
    CK_EW_CAST,
    CK_EW_OP_COUNT
} ck_ew_op;

/// One operation. `type` is the class of its operands (of b and c for WHERE): any type but F16 and BF16, whose values
/// are F32 inside a program. Operands are value numbers below the instruction's own; unused ones are ignored.
typedef struct {
    ck_ew_op op;
    ck_type type;
    ck_type to;
    uint16_t a, b, c;
} ck_ew_instruction;

/// A scalar of class `type`: `real` for F32 and F64, `integer` (wrapped) for the others.
typedef struct {
    ck_type type;
    double real;
    int64_t integer;
} ck_ew_constant;

/// A value to store. `type` is the value's class, or F16 or BF16 for an F32 value (rounds to nearest even).
typedef struct {
    uint16_t value;
    ck_type type;
} ck_ew_output;

typedef struct ck_ew_program ck_ew_program;

/// Checks and prepares a program; NULL if it is not well formed or too large. Values are numbered: the inputs, the
/// constants, then one per instruction. An F16 or BF16 input's value is F32. The program is immutable: any number of
/// threads may run it.
ck_ew_program *ck_ew_create(
    const ck_type *input_types, int input_count, const ck_ew_constant *constants, int constant_count,
    const ck_ew_instruction *instructions, int instruction_count, const ck_ew_output *outputs, int output_count);

void ck_ew_destroy(ck_ew_program *program);

/// Runs over the shape `extents`. `strides` holds `rank` element strides for each input in turn, 0 where it is
/// broadcast, negative ones allowed. Outputs are dense, row-major. An output may be exactly one input's memory if that
/// input is dense, unbroadcast and of the same element size; otherwise they must not overlap.
/// Returns false, without writing, if the rank is out of range.
bool ck_ew_run(
    const ck_ew_program *program, int rank, const int64_t *extents, const void *const *inputs, const int64_t *strides,
    void *const *outputs);

/// Converts `count` dense elements between any two types, with CAST's rules.
void ck_cast(ck_type to, void *destination, ck_type from, const void *source, size_t count);

#ifdef __cplusplus
}
#endif
