// exp, tanh, the error function's complement and the activations made of them, on vectors; about 2 units in the last
// place. The coefficients are minimax fits to the functions themselves.
#pragma once

#include "gemm.h"
#include "simd.h"

CK_LEVEL_BEGIN

CK_INLINE vf vf_exp(vf x) {
    // Beyond these exp is 0 or infinite anyway; the order of operands lets NaN through.
    x = vf_max(vf_set1(-104.0f), vf_min(vf_set1(89.0f), x));
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    vf t = x * 0x1.715476p+0f + 0x1.8p23f;
    vi n = (vi)t - 0x4b400000;
    t -= 0x1.8p23f;
    vf r = x - t * 0x1.62e4p-1f;
    r = r - t * 0x1.7f7d1cp-20f;
    vf q = r * 0x1.6dbc64p-10f + 0x1.124148p-7f;
    q = q * r + 0x1.555454p-5f;
    q = q * r + 0x1.555486p-3f;
    q = q * r + 0.5f;
    vf e = q * (r * r) + r + 1.0f;
    // In two steps, so that results below the normal range come out too.
    vi half = n >> 1;
    return e * (vf)((half + 127) << 23) * (vf)((n - half + 127) << 23);
}

CK_INLINE vf vf_sigmoid(vf x) { return 1.0f / (1.0f + vf_exp(-x)); }

CK_INLINE vf vf_tanh(vf x) {
    vf a = vf_abs(x), s = x * x;
    vf p = s * -0x1.743304p-8f + 0x1.51ceb4p-6f;
    p = p * s - 0x1.b8305ep-5f;
    p = p * s + 0x1.1106d8p-3f;
    p = p * s - 0x1.555532p-2f;
    vf small = x * s * p + x;
    vf large = 1.0f - 2.0f / (vf_exp(a + a) + 1.0f);
    large = (vf)((vi)large | ((vi)x & (vi)vf_set1(-0.0f)));
    return vf_select(a < 0.625f, small, large);
}

/// erfc(t) for t >= 0.
CK_INLINE vf vf_erfc_positive(vf t) {
    // exp(t²) erfc(t) is smooth in u.
    vf u = 1.0f / (t * 0.4f + 1.0f);
    vf p = u * 0x1.e0ce6p-6f - 0x1.405beep-4f;
    p = p * u - 0x1.c86314p-5f;
    p = p * u + 0x1.0fc2d6p-2f;
    p = p * u - 0x1.ec912ap-5f;
    p = p * u + 0x1.0e90aep-2f;
    p = p * u + 0x1.6e63aap-3f;
    p = p * u + 0x1.d92e9cp-3f;
    p = p * u + 0x1.cd0b0ap-3f;
    p = p * u + 0x1.9cba96p-16f;
    return vf_exp(-(t * t)) * p;
}

CK_INLINE vf vf_gelu_erf(vf x) {
    vf c = vf_erfc_positive(vf_abs(x) * 0x1.6a09e6p-1f);
    return 0.5f * x * vf_select(x < 0.0f, c, 2.0f - c);
}

CK_INLINE vf vf_gelu_tanh(vf x) {
    // x (1 + tanh y) / 2 = x sigmoid(2 y)
    vf z = x * (x * x * 0x1.2444f2p-4f + 0x1.988454p+0f);
    return x / (1.0f + vf_exp(-z));
}

CK_INLINE vf vf_activate(ck_activation activation, vf x) {
    switch (activation) {
        case CK_ACT_NONE:
            return x;
        case CK_ACT_RELU:
            return vf_max(vf_set1(0.0f), x);
        case CK_ACT_GELU_ERF:
            return vf_gelu_erf(x);
        case CK_ACT_GELU_TANH:
            return vf_gelu_tanh(x);
        case CK_ACT_GELU_SIGMOID:
            return x / (1.0f + vf_exp(x * -1.702f));
        case CK_ACT_SILU:
            return x / (1.0f + vf_exp(-x));
        case CK_ACT_SIGMOID:
            return vf_sigmoid(x);
        case CK_ACT_TANH:
            return vf_tanh(x);
    }
    return x;
}

CK_LEVEL_END
