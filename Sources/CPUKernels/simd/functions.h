// Elementary functions of a vector of floats, to a few units in the last place. Coefficients are minimax fits made for
// the ranges named beside them. No conversion of an out-of-range float to an integer happens anywhere: rounding goes
// through adding and subtracting 1.5 · 2^23, whose low bits are then the integer.

#define ROUNDER 0x1.8p23f
#define ROUNDER_BITS 0x4b400000
#define LOG2E 0x1.715476p0f
// The high part has 15 bits, so that its product with an exponent is exact.
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 1.4286068203e-6f

CK_INLINE vf v_poly(vf x, const float *coefficients, int count) {
    vf sum = v_set(coefficients[count - 1]);
    for (int i = count - 2; i >= 0; i--) sum = v_fma(sum, x, v_set(coefficients[i]));
    return sum;
}

/// y · 2^n in two steps, so that the result may be subnormal or infinite.
CK_INLINE vf v_scale(vf y, vi n) {
    vi half = n >> 1;
    return y * (vf)((half + 127) << 23) * (vf)((n - half + 127) << 23);
}

/// e^(high + low), where |low| is small and high + low is between −110 and 90.
CK_INLINE vf v_exp_sum(vf high, vf low) {
    // (e^r − 1 − r) / r² for |r| ≤ ln 2 / 2
    static const float tail[] = {0.49999994f, 0.1666652f, 0.041668393f, 0.008368781f, 0.0013814468f};
    vf shifted = v_fma(high + low, v_set(LOG2E), v_set(ROUNDER));
    vi n = (vi)shifted - ROUNDER_BITS;
    vf whole = shifted - ROUNDER;
    vf r = (high - whole * LN2_HIGH) + (low - whole * LN2_LOW);
    vf e = 1.0f + v_fma(r * r, v_poly(r, tail, 5), r);
    return v_scale(e, n);
}

CK_INLINE vf v_exp(vf x) {
    // Past these bounds the result is infinite or zero anyway. NaN passes both.
    x = v_select(x > 90.0f, v_set(90.0f), x);
    x = v_select(x < -105.0f, v_set(-105.0f), x);
    return v_exp_sum(x, v_set(0));
}

/// Splits a positive normal x into m · 2^e with m from √½ to √2.
CK_INLINE vf v_split(vf x, vi *e) {
    vi bits = (vi)x + (0x3f800000 - 0x3f3504f3);
    *e = (bits >> 23) - 127;
    return (vf)((bits & 0x7fffff) + 0x3f3504f3);
}

CK_INLINE vf v_log(vf x) {
    // (log(1 + f) − f + f²/2) / f³ for √½ ≤ 1 + f ≤ √2
    static const float tail[] = {0.3333331f,   -0.24999987f, 0.20002227f,  -0.16669251f, 0.14218666f,
                                 -0.12384337f, 0.11872919f,  -0.11789851f, 0.06915539f};
    vi small = x < 0x1p-126f;
    vi e;
    vf f = v_split(v_select(small, x * 0x1p23f, x), &e) - 1.0f;
    vf power = __builtin_convertvector(e + (small & -23), vf);
    vf square = f * f;
    vf y = f * square * v_poly(f, tail, 9);
    y = v_fma(power, v_set(LN2_LOW), y);
    y = v_fma(square, v_set(-0.5f), y);
    y = v_fma(power, v_set(LN2_HIGH), f + y);
    y = v_select(x == __builtin_inff(), x, y);
    y = v_select(x == 0.0f, v_set(-__builtin_inff()), y);
    return v_select((x < 0.0f) | (x != x), v_set(__builtin_nanf("")), y);
}

CK_INLINE vf v_tanh(vf x) {
    // (tanh x − x) / x³ in x², for |x| ≤ 0.625
    static const float near[] = {-0.33333284f, 0.13331492f, -0.053743515f, 0.020650635f, -0.005717091f};
    vf size = v_abs(x), square = x * x;
    vf small = v_fma(size * square, v_poly(square, near, 5), size);
    vf large = 1.0f - 2.0f / (v_exp(size + size) + 1.0f);
    return v_sign(v_select(size < 0.625f, small, large), x);
}

/// 1 / (1 + e^−(high + low)). A tail's relative error is its argument's absolute one, hence the two parts.
CK_INLINE vf v_sigmoid_sum(vf high, vf low) {
    vf size = v_abs(high);
    low = (vf)((vi)low ^ ((vi)high & (int32_t)0x80000000));
    vi far = size > 105.0f;
    vf e = v_exp_sum(-v_select(far, v_set(105.0f), size), -v_select(far, v_set(0), low));
    vf upper = 1.0f / (1.0f + e);
    return v_select(high < 0.0f, e * upper, upper);
}

CK_INLINE vf v_sigmoid(vf x) { return v_sigmoid_sum(x, v_set(0)); }

CK_INLINE vf v_silu(vf x) { return x * v_sigmoid(x); }

CK_INLINE vf v_erf(vf x) {
    // erf(x) / x − 1 in x², for |x| ≤ 1; log(1 − erf x) for 1 ≤ x ≤ 4
    static const float near[] = {0.12837917f,   -0.37612626f,   0.112836f,     -0.026854444f,
                                 0.0051895357f, -0.0008020842f, 7.889123e-05f};
    static const float far[] = {0.00018803639f, -1.1295784f,   -0.6332199f,    -0.10841855f,
                                0.025208239f,   -0.004204555f, 0.00044133508f, -2.1686747e-05f};
    vf size = v_abs(x), square = x * x;
    vf small = v_fma(x, v_poly(square, near, 7), x);
    vf bounded = v_select(size > 4.0f, v_set(4.0f), size);
    vf large = 1.0f - v_exp_sum(v_poly(bounded, far, 8), v_set(0));
    return v_select(size < 1.0f, small, v_sign(large, x));
}

/// x times the normal distribution's mass below x. Worked out from the tail, so that it stays exact for negative x.
CK_INLINE vf v_gelu(vf x) {
    // e^(a²/2) · mass below −a, divided by u, in u − 0.5927734375 with u = 1 / (1 + 0.3 a), for 0 ≤ a ≤ 14.6
    static const float tail[] = {0.25566646f,  0.39919215f,   0.40885523f,  0.22570787f,   -0.010536638f,
                                 -0.09066987f, -0.009787471f, 0.044097025f, 0.0024106158f, -0.020624876f};
    vf size = v_abs(x);
    // Past 14.5 the mass is below every float.
    vf a = v_select(size > 14.5f, v_set(14.5f), size);
    vf u = 1.0f / v_fma(a, v_set(0.3f), v_set(1.0f));
    // a² in two parts: the head has 12 bits, its square is exact.
    vf head = (vf)((vi)a & ~0xfff);
    vf e = v_exp_sum(head * head * -0.5f, (a - head) * (a + head) * -0.5f);
    vf below = e * u * v_poly(u - 0.5927734375f, tail, 10);
    return x * v_select(x < 0.0f, below, 1.0f - below);
}

/// ½ x (1 + tanh z) = x · sigmoid(2 z), which does not cancel.
CK_INLINE vf v_gelu_tanh(vf x) {
    vd wide = __builtin_convertvector(x, vd);
    wide *= wide * wide * 0.07135481627260025 + 1.5957691216057308;
    vf high = __builtin_convertvector(wide, vf);
    return x * v_sigmoid_sum(high, __builtin_convertvector(wide - __builtin_convertvector(high, vd), vf));
}

CK_INLINE vf v_gelu_sigmoid(vf x) {
    vd wide = __builtin_convertvector(x, vd) * 1.702;
    vf high = __builtin_convertvector(wide, vf);
    return x * v_sigmoid_sum(high, __builtin_convertvector(wide - __builtin_convertvector(high, vd), vf));
}

CK_INLINE vf v_sqrt(vf x) { return __builtin_elementwise_sqrt(x); }

/// sin x, or cos x with quarter = 1. Reduces in double, exactly enough up to 2^20; beyond that libm decides.
CK_INLINE vf v_sine(vf x, int quarter) {
    // (sin r − r) / r³ and (cos r − 1 + r²/2) / r⁴ in r², for |r| ≤ π/4
    static const float odd[] = {-0.16666655f, 0.008332176f, -0.0001951698f};
    static const float even[] = {0.041666646f, -0.0013887364f, 2.44381e-05f};
    vd wide = __builtin_convertvector(x, vd);
    vd shifted = wide * 0x1.45f306dc9c883p-1 + 0x1.8p52;
    vi turns = __builtin_convertvector((vl)shifted, vi) + quarter;
    vd whole = shifted - 0x1.8p52;
    vf r = __builtin_convertvector((wide - whole * 0x1.921fb544p0) - whole * 0x1.0b4611a626331p-34, vf);
    vf square = r * r;
    vf sine = v_fma(r * square, v_poly(square, odd, 3), r);
    vf cosine = v_fma(square * square, v_poly(square, even, 3), v_fma(square, v_set(-0.5f), v_set(1.0f)));
    vf y = v_select((turns & 1) != 0, cosine, sine);
    y = (vf)((vi)y ^ (turns & 2) << 30);
    // The sum above loses a zero's sign.
    if (quarter == 0) y = v_select(x == 0.0f, x, y);
    vi beyond = ~(v_abs(x) < 0x1p20f);
    if (__builtin_expect(v_any(beyond), 0)) {
        for (int i = 0; i < VL; i++) {
            if (beyond[i]) y[i] = quarter ? cosf(x[i]) : sinf(x[i]);
        }
    }
    return y;
}

/// x^y through log₂ and 2^ in double; where x is not positive and normal or y is not finite, libm decides.
CK_INLINE vf v_pow(vf x, vf y) {
    // log₂((1 + s) / (1 − s)) / s in s², for 3 − 2√2 ≥ |s|; 2^r for |r| ≤ ½
    static const double log_odd[] = {2.885390081777927,   0.9617966939243083,  0.5770780172572852, 0.4121984003778219,
                                     0.32061650295510846, 0.26144061991388196, 0.24295901738955367};
    static const double power[] = {1.0000000000000273,     0.6931471805458183,    0.2402265069546401,
                                  0.055504109416643035,   0.009618129229216203,  0.0013333450129735158,
                                  0.00015403411160326103, 1.5310195902380158e-05, 1.3264165546391105e-06};
    vi e;
    vf reduced = v_split(x, &e);
    vd m = __builtin_convertvector(reduced, vd);
    vd s = (m - 1.0) / (m + 1.0);
    vd square = s * s, sum = (vd){} + log_odd[6];
    for (int i = 5; i >= 0; i--) sum = sum * square + log_odd[i];
    vd t = __builtin_convertvector(y, vd) * (sum * s + __builtin_convertvector(e, vd));
    // Past these bounds the result is infinite or zero anyway.
    vl high = t > 140.0, low = t < -160.0;
    t = (vd)((~(high | low) & (vl)t) | (high & (vl)((vd){} + 140.0)) | (low & (vl)((vd){} - 160.0)));
    vd shifted = t + 0x1.8p52;
    vi n = __builtin_convertvector((vl)shifted, vi);
    vd r = t - (shifted - 0x1.8p52);
    sum = (vd){} + power[8];
    for (int i = 7; i >= 0; i--) sum = sum * r + power[i];
    vf z = v_scale(__builtin_convertvector(sum, vf), n);
    vi other = ~((x >= 0x1p-126f) & (x < __builtin_inff()) & (v_abs(y) < __builtin_inff()));
    if (__builtin_expect(v_any(other), 0)) {
        for (int i = 0; i < VL; i++) {
            if (other[i]) z[i] = powf(x[i], y[i]);
        }
    }
    return z;
}
