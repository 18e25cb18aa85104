// Which kernel runs an operation on a class.

#define COMPARISONS(F, suffix)                             \
    PAIR(equal_##suffix, F, uint8_t, x == y)               \
    PAIR(not_equal_##suffix, F, uint8_t, x != y)           \
    PAIR(greater_##suffix, F, uint8_t, x > y)              \
    PAIR(greater_equal_##suffix, F, uint8_t, x >= y)

COMPARISONS(float, f32)
COMPARISONS(double, f64)

#define FLOAT_KERNELS(suffix)                                           \
    static ck_ew_kernel kernel_##suffix(ck_ew_op op) {                  \
        switch (op) {                                                   \
            case CK_EW_ABS: return abs_##suffix;                        \
            case CK_EW_NEG: return neg_##suffix;                        \
            case CK_EW_RELU: return relu_##suffix;                      \
            case CK_EW_ROUND: return round_##suffix;                    \
            case CK_EW_FLOOR: return floor_##suffix;                    \
            case CK_EW_CEIL: return ceil_##suffix;                      \
            case CK_EW_TRUNC: return trunc_##suffix;                    \
            case CK_EW_SQRT: return sqrt_##suffix;                      \
            case CK_EW_RSQRT: return rsqrt_##suffix;                    \
            case CK_EW_RECIPROCAL: return reciprocal_##suffix;          \
            case CK_EW_EXP: return exp_##suffix;                        \
            case CK_EW_LOG: return log_##suffix;                        \
            case CK_EW_ERF: return erf_##suffix;                        \
            case CK_EW_SIN: return sin_##suffix;                        \
            case CK_EW_COS: return cos_##suffix;                        \
            case CK_EW_TAN: return tan_##suffix;                        \
            case CK_EW_ASIN: return asin_##suffix;                      \
            case CK_EW_ACOS: return acos_##suffix;                      \
            case CK_EW_ATAN: return atan_##suffix;                      \
            case CK_EW_SINH: return sinh_##suffix;                      \
            case CK_EW_COSH: return cosh_##suffix;                      \
            case CK_EW_TANH: return tanh_##suffix;                      \
            case CK_EW_ASINH: return asinh_##suffix;                    \
            case CK_EW_ACOSH: return acosh_##suffix;                    \
            case CK_EW_ATANH: return atanh_##suffix;                    \
            case CK_EW_SIGMOID: return sigmoid_##suffix;                \
            case CK_EW_SILU: return silu_##suffix;                      \
            case CK_EW_GELU: return gelu_##suffix;                      \
            case CK_EW_GELU_TANH: return gelu_tanh_##suffix;            \
            case CK_EW_GELU_SIGMOID: return gelu_sigmoid_##suffix;      \
            case CK_EW_ADD: return add_##suffix;                        \
            case CK_EW_SUB: return sub_##suffix;                        \
            case CK_EW_MUL: return mul_##suffix;                        \
            case CK_EW_DIVIDE: return divide_##suffix;                  \
            case CK_EW_FLOOR_DIVIDE: return floor_divide_##suffix;      \
            case CK_EW_MODULO: return modulo_##suffix;                  \
            case CK_EW_POW: return pow_##suffix;                        \
            case CK_EW_MAXIMUM: return maximum_##suffix;                \
            case CK_EW_MINIMUM: return minimum_##suffix;                \
            case CK_EW_EQUAL: return equal_##suffix;                    \
            case CK_EW_NOT_EQUAL: return not_equal_##suffix;            \
            case CK_EW_GREATER: return greater_##suffix;                \
            case CK_EW_GREATER_EQUAL: return greater_equal_##suffix;    \
            default: return NULL;                                       \
        }                                                               \
    }

FLOAT_KERNELS(f32)
FLOAT_KERNELS(f64)

/// NULL if the class has no such operation. Neither CK_EW_LESS nor CK_EW_LESS_EQUAL is here: they swap operands.
static ck_ew_kernel elementwise_kernel(ck_ew_op op, ck_type type, ck_type to) {
    if (op == CK_EW_CAST) return cast_kernel(type, to);
    if (op == CK_EW_WHERE) return where_kernel(type);
    if (type == CK_F32 && op == CK_EW_ROUND_F16) return round_f16_f32;
    if (type == CK_F32 && op == CK_EW_ROUND_BF16) return round_bf16_f32;
    // Integers are whole already.
    if (op >= CK_EW_ROUND && op <= CK_EW_TRUNC && type < CK_F16) return cast_kernel(type, type);
    switch (type) {
        case CK_BOOL: return bool_kernel(op);
        case CK_I8: return integer_kernel_i8(op);
        case CK_I16: return integer_kernel_i16(op);
        case CK_I32: return integer_kernel_i32(op);
        case CK_I64: return integer_kernel_i64(op);
        case CK_U8: return integer_kernel_u8(op);
        case CK_U16: return integer_kernel_u16(op);
        case CK_U32: return integer_kernel_u32(op);
        case CK_U64: return integer_kernel_u64(op);
        case CK_F32: return kernel_f32(op);
        case CK_F64: return kernel_f64(op);
        default: return NULL;
    }
}
