// Operations on blocks of one integer type. Included once per type with T, U (an unsigned type of at least 32 bits, in
// which arithmetic wraps without undefined steps), S (the suffix of the names) and SIGNED.

#define INT_NAME_(name, s) name##_##s
#define INT_NAME__(name, s) INT_NAME_(name, s)
#define I(name) INT_NAME__(name, S)

EACH(I(abs), T, SIGNED && x < 0 ? (U)0 - (U)x : (U)x)
EACH(I(neg), T, (U)0 - (U)x)
EACH(I(relu), T, x > 0 ? x : 0)
EACH(I(not), T, ~(U)x)
PAIR(I(add), T, T, (U)x + (U)y)
PAIR(I(sub), T, T, (U)x - (U)y)
PAIR(I(mul), T, T, (U)x *(U)y)

static inline T I(quotient)(T x, T y) {
    if (y == 0) return 0;
    if (SIGNED && y == (T)-1) return (T)((U)0 - (U)x);
    return (T)(x / y);
}

static inline T I(remainder)(T x, T y) {
    if (y == 0 || (SIGNED && y == (T)-1)) return 0;
    return (T)(x % y);
}

static inline T I(floor_quotient)(T x, T y) {
    T q = I(quotient)(x, y);
    return SIGNED && I(remainder)(x, y) != 0 && (x < 0) != (y < 0) ? (T)(q - 1) : q;
}

/// Wraps; 1 ÷ x^|y|, truncated, for a negative exponent.
static inline T I(power)(T x, T y) {
    if (SIGNED && y < 0) return x == 1 || (x == (T)-1 && (y & 1) == 0) ? (T)1 : x == (T)-1 ? (T)-1 : (T)0;
    U base = (U)x, result = 1;
    for (U e = (U)y; e != 0; e >>= 1) {
        if (e & 1) result *= base;
        base *= base;
    }
    return (T)result;
}

PAIR(I(divide), T, T, I(quotient)(x, y))
PAIR(I(floor_divide), T, T, I(floor_quotient)(x, y))
PAIR(I(modulo), T, T, I(remainder)(x, y))
PAIR(I(pow), T, T, I(power)(x, y))
PAIR(I(maximum), T, T, x > y ? x : y)
PAIR(I(minimum), T, T, x < y ? x : y)
PAIR(I(and), T, T, x &y)
PAIR(I(or), T, T, x | y)
PAIR(I(xor), T, T, x ^ y)
PAIR(I(equal), T, uint8_t, x == y)
PAIR(I(not_equal), T, uint8_t, x != y)
PAIR(I(greater), T, uint8_t, x > y)
PAIR(I(greater_equal), T, uint8_t, x >= y)

static ck_ew_kernel I(integer_kernel)(ck_ew_op op) {
    switch (op) {
        case CK_EW_ABS: return I(abs);
        case CK_EW_NEG: return I(neg);
        case CK_EW_RELU: return I(relu);
        case CK_EW_NOT: return I(not);
        case CK_EW_ADD: return I(add);
        case CK_EW_SUB: return I(sub);
        case CK_EW_MUL: return I(mul);
        case CK_EW_DIVIDE: return I(divide);
        case CK_EW_FLOOR_DIVIDE: return I(floor_divide);
        case CK_EW_MODULO: return I(modulo);
        case CK_EW_POW: return I(pow);
        case CK_EW_MAXIMUM: return I(maximum);
        case CK_EW_MINIMUM: return I(minimum);
        case CK_EW_AND: return I(and);
        case CK_EW_OR: return I(or);
        case CK_EW_XOR: return I(xor);
        case CK_EW_EQUAL: return I(equal);
        case CK_EW_NOT_EQUAL: return I(not_equal);
        case CK_EW_GREATER: return I(greater);
        case CK_EW_GREATER_EQUAL: return I(greater_equal);
        default: return NULL;
    }
}

#undef I
#undef INT_NAME__
#undef INT_NAME_
#undef T
#undef U
#undef S
#undef SIGNED
