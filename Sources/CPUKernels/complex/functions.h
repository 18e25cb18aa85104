// Functions of blocks of complex numbers in one precision: REAL is the part's type, NAME and LIBRARY add its suffixes.

static inline REAL _Complex NAME(load)(const REAL *a) {
    REAL _Complex z;
    memcpy(&z, a, sizeof z);
    return z;
}

static inline void NAME(store)(REAL *d, REAL _Complex z) { memcpy(d, &z, sizeof z); }

static inline REAL _Complex NAME(pair)(REAL real, REAL imaginary) {
    return NAME(load)((REAL[2]){real, imaginary});
}

// Not by the language's operator, whose search for infinities takes a call for each product.
static inline REAL _Complex NAME(times)(REAL _Complex x, REAL _Complex y) {
    REAL a = LIBRARY(creal)(x), b = LIBRARY(cimag)(x), c = LIBRARY(creal)(y), d = LIBRARY(cimag)(y);
    return NAME(pair)(a * c - b * d, a * d + b * c);
}

/// Smith's method: no square that overflows or vanishes. By zero: infinities and NaNs, as for reals.
static REAL _Complex NAME(over)(REAL _Complex x, REAL _Complex y) {
    double a = LIBRARY(creal)(x), b = LIBRARY(cimag)(x), c = LIBRARY(creal)(y), d = LIBRARY(cimag)(y);
    if (c == 0 && d == 0) return NAME(pair)((REAL)(a / fabs(c)), (REAL)(b / fabs(c)));
    if (fabs(c) >= fabs(d)) {
        double ratio = d / c, scale = c + d * ratio;
        return NAME(pair)((REAL)((a + b * ratio) / scale), (REAL)((b - a * ratio) / scale));
    }
    double ratio = c / d, scale = d + c * ratio;
    return NAME(pair)((REAL)((a * ratio + b) / scale), (REAL)((b * ratio - a) / scale));
}

/// By whichever of e^x and e^(-x) can't overflow.
static REAL _Complex NAME(logistic)(REAL _Complex x) {
    bool negative = LIBRARY(creal)(x) < 0;
    REAL _Complex power = LIBRARY(cexp)(negative ? x : -x);
    REAL _Complex sum = NAME(pair)(1 + LIBRARY(creal)(power), LIBRARY(cimag)(power));
    return NAME(over)(negative ? power : NAME(pair)(1, 0), sum);
}

static REAL _Complex NAME(power)(REAL _Complex x, REAL _Complex y) {
    REAL a = LIBRARY(creal)(x), b = LIBRARY(cimag)(x), c = LIBRARY(creal)(y), d = LIBRARY(cimag)(y);
    if (c == 0 && d == 0) return NAME(pair)(1, 0);
    if (a == 0 && b == 0) return c > 0 ? NAME(pair)(0, 0) : NAME(pair)((REAL)NAN, (REAL)NAN);
    if (c == 1 && d == 0) return x;
    return LIBRARY(cexp)(NAME(times)(y, LIBRARY(clog)(x)));
}

#define UNARY(value)                                   \
    for (size_t i = 0; i < n; i++) {                   \
        REAL _Complex z = NAME(load)(x + 2 * i);       \
        NAME(store)(d + 2 * i, value);                 \
    }                                                  \
    break
#define BINARY(value)                                                                      \
    for (size_t i = 0; i < n; i++) {                                                       \
        REAL _Complex z = NAME(load)(x + 2 * i), w = NAME(load)(y + 2 * i);                \
        NAME(store)(d + 2 * i, value);                                                     \
    }                                                                                      \
    break

/// `n` numbers; `d` may be `x`.
static void NAME(compute)(ck_complex_op op, REAL *d, const REAL *x, const REAL *y, size_t n) {
    switch (op) {
        case CK_CX_CREATE: BINARY(NAME(pair)(LIBRARY(creal)(z), LIBRARY(creal)(w)));
        case CK_CX_IMAGINARY: UNARY(NAME(pair)(LIBRARY(cimag)(z), 0));
        case CK_CX_ADD:
            for (size_t i = 0; i < 2 * n; i++) d[i] = x[i] + y[i];
            break;
        case CK_CX_SUB:
            for (size_t i = 0; i < 2 * n; i++) d[i] = x[i] - y[i];
            break;
        case CK_CX_MUL: BINARY(NAME(times)(z, w));
        case CK_CX_DIVIDE: BINARY(NAME(over)(z, w));
        case CK_CX_POW: BINARY(NAME(power)(z, w));
        case CK_CX_EXP: UNARY(LIBRARY(cexp)(z));
        case CK_CX_LOG: UNARY(LIBRARY(clog)(z));
        case CK_CX_SIN: UNARY(LIBRARY(csin)(z));
        case CK_CX_COS: UNARY(LIBRARY(ccos)(z));
        case CK_CX_TAN: UNARY(LIBRARY(ctan)(z));
        case CK_CX_SINH: UNARY(LIBRARY(csinh)(z));
        case CK_CX_COSH: UNARY(LIBRARY(ccosh)(z));
        case CK_CX_SIGMOID: UNARY(NAME(logistic)(z));
        case CK_CX_SILU: UNARY(NAME(times)(z, NAME(logistic)(z)));
        default:
            // The real part and casts: what is stored tells what is kept.
            if (d != x) memcpy(d, x, 2 * n * sizeof *d);
            break;
    }
}

static void NAME(compare)(bool negated, char *d, const REAL *x, const REAL *y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool equal = x[2 * i] == y[2 * i] && x[2 * i + 1] == y[2 * i + 1];
        d[i] = equal != negated;
    }
}

#undef UNARY
#undef BINARY
