// Operations on blocks of floats. Ends of blocks go through a part vector padded with ones: harmless everywhere.

#define UNARY(name, expression)                                                                              \
    static void name(void *d, const void *pa, const void *pb, const void *pc, size_t n) {                    \
        (void)pb, (void)pc;                                                                                  \
        const float *a = pa;                                                                                 \
        float *to = d;                                                                                       \
        size_t i = 0;                                                                                        \
        for (; i + VL <= n; i += VL) {                                                                       \
            vf x = v_load(a + i);                                                                            \
            v_store(to + i, expression);                                                                     \
        }                                                                                                    \
        if (i < n) {                                                                                         \
            vf x = v_load_part(a + i, n - i, 1);                                                             \
            v_store_part(to + i, expression, n - i);                                                         \
        }                                                                                                    \
    }

#define BINARY(name, expression)                                                                             \
    static void name(void *d, const void *pa, const void *pb, const void *pc, size_t n) {                    \
        (void)pc;                                                                                            \
        const float *a = pa, *b = pb;                                                                        \
        float *to = d;                                                                                       \
        size_t i = 0;                                                                                        \
        for (; i + VL <= n; i += VL) {                                                                       \
            vf x = v_load(a + i), y = v_load(b + i);                                                         \
            v_store(to + i, expression);                                                                     \
        }                                                                                                    \
        if (i < n) {                                                                                         \
            vf x = v_load_part(a + i, n - i, 1), y = v_load_part(b + i, n - i, 1);                           \
            v_store_part(to + i, expression, n - i);                                                         \
        }                                                                                                    \
    }

#define EACH(name, T, expression)                                                                            \
    static void name(void *d, const void *pa, const void *pb, const void *pc, size_t n) {                    \
        (void)pb, (void)pc;                                                                                  \
        const T *a = pa;                                                                                     \
        T *to = d;                                                                                           \
        CK_LOOP for (size_t i = 0; i < n; i++) {                                                             \
            T x = a[i];                                                                                      \
            to[i] = (T)(expression);                                                                         \
        }                                                                                                    \
    }

#define PAIR(name, T, R, expression)                                                                         \
    static void name(void *d, const void *pa, const void *pb, const void *pc, size_t n) {                    \
        (void)pc;                                                                                            \
        const T *a = pa, *b = pb;                                                                            \
        R *to = d;                                                                                           \
        CK_LOOP for (size_t i = 0; i < n; i++) {                                                             \
            T x = a[i], y = b[i];                                                                            \
            to[i] = (R)(expression);                                                                         \
        }                                                                                                    \
    }

UNARY(abs_f32, v_abs(x))
UNARY(neg_f32, (vf)((vi)x ^ (int32_t)0x80000000))
UNARY(relu_f32, v_max(x, v_set(0)))
UNARY(round_f32, __builtin_elementwise_rint(x))
UNARY(floor_f32, __builtin_elementwise_floor(x))
UNARY(ceil_f32, __builtin_elementwise_ceil(x))
UNARY(trunc_f32, __builtin_elementwise_trunc(x))
UNARY(sqrt_f32, v_sqrt(x))
UNARY(rsqrt_f32, 1.0f / v_sqrt(x))
UNARY(reciprocal_f32, 1.0f / x)
UNARY(exp_f32, v_exp(x))
UNARY(log_f32, v_log(x))
UNARY(erf_f32, v_erf(x))
UNARY(sin_f32, v_sine(x, 0))
UNARY(cos_f32, v_sine(x, 1))
EACH(tan_f32, float, tanf(x))
EACH(asin_f32, float, asinf(x))
EACH(acos_f32, float, acosf(x))
EACH(atan_f32, float, atanf(x))
EACH(sinh_f32, float, sinhf(x))
EACH(cosh_f32, float, coshf(x))
UNARY(tanh_f32, v_tanh(x))
EACH(asinh_f32, float, asinhf(x))
EACH(acosh_f32, float, acoshf(x))
EACH(atanh_f32, float, atanhf(x))
UNARY(sigmoid_f32, v_sigmoid(x))
UNARY(silu_f32, v_silu(x))
UNARY(gelu_f32, v_gelu(x))
UNARY(gelu_tanh_f32, v_gelu_tanh(x))
UNARY(gelu_sigmoid_f32, v_gelu_sigmoid(x))
EACH(round_f16_f32, float, ck_f16_to_f32(ck_f32_to_f16(x)))
EACH(round_bf16_f32, float, ck_bf16_to_f32(ck_f32_to_bf16(x)))

BINARY(add_f32, x + y)
BINARY(sub_f32, x - y)
BINARY(mul_f32, x * y)
BINARY(divide_f32, x / y)
BINARY(floor_divide_f32, __builtin_elementwise_floor(x / y))
PAIR(modulo_f32, float, float, fmodf(x, y))
BINARY(pow_any_f32, v_pow(x, y))
BINARY(maximum_f32, v_max(x, y))
BINARY(minimum_f32, v_min(x, y))

UNARY(square_f32, x *x)

/// Squaring is what most powers are.
static void pow_f32(void *d, const void *a, const void *b, const void *c, size_t n) {
    const float *y = b;
    size_t twos = 0;
    while (twos < n && y[twos] == 2.0f) twos++;
    (twos == n ? square_f32 : pow_any_f32)(d, a, b, c, n);
}

EACH(abs_f64, double, fabs(x))
EACH(neg_f64, double, -x)
EACH(relu_f64, double, x > 0 || x != x ? x : 0)
EACH(round_f64, double, rint(x))
EACH(floor_f64, double, floor(x))
EACH(ceil_f64, double, ceil(x))
EACH(trunc_f64, double, trunc(x))
EACH(sqrt_f64, double, sqrt(x))
EACH(rsqrt_f64, double, 1 / sqrt(x))
EACH(reciprocal_f64, double, 1 / x)
EACH(exp_f64, double, exp(x))
EACH(log_f64, double, log(x))
EACH(erf_f64, double, erf(x))
EACH(sin_f64, double, sin(x))
EACH(cos_f64, double, cos(x))
EACH(tan_f64, double, tan(x))
EACH(asin_f64, double, asin(x))
EACH(acos_f64, double, acos(x))
EACH(atan_f64, double, atan(x))
EACH(sinh_f64, double, sinh(x))
EACH(cosh_f64, double, cosh(x))
EACH(tanh_f64, double, tanh(x))
EACH(asinh_f64, double, asinh(x))
EACH(acosh_f64, double, acosh(x))
EACH(atanh_f64, double, atanh(x))
EACH(sigmoid_f64, double, 1 / (1 + exp(-x)))
EACH(silu_f64, double, x *(1 / (1 + exp(-x))))
EACH(gelu_f64, double, x * 0.5 * (x < 0 ? erfc(x * -0x1.6a09e667f3bcdp-1) : 1 + erf(x * 0x1.6a09e667f3bcdp-1)))
EACH(gelu_tanh_f64, double, x *(1 / (1 + exp(x * (x * x * -0.07135481627260025 - 1.5957691216057308)))))
EACH(gelu_sigmoid_f64, double, x *(1 / (1 + exp(-1.702 * x))))
PAIR(add_f64, double, double, x + y)
PAIR(sub_f64, double, double, x - y)
PAIR(mul_f64, double, double, x *y)
PAIR(divide_f64, double, double, x / y)
PAIR(floor_divide_f64, double, double, floor(x / y))
PAIR(modulo_f64, double, double, fmod(x, y))
PAIR(pow_f64, double, double, pow(x, y))
PAIR(maximum_f64, double, double, x > y || x != x ? x : y)
PAIR(minimum_f64, double, double, x < y || x != x ? x : y)
