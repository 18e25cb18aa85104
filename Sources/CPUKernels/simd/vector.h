// Vectors of the level's width, in the compiler's own vector types: arithmetic is written with plain operators.

/// Floats in a vector.
#define VL (CK_VECTOR_BYTES / 4)

typedef float vf __attribute__((vector_size(CK_VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(CK_VECTOR_BYTES)));
typedef uint32_t vu __attribute__((vector_size(CK_VECTOR_BYTES)));
// As many doubles as a vector has floats: two registers. Never a parameter, whose passing would depend on the level.
typedef double vd __attribute__((vector_size(CK_VECTOR_BYTES * 2)));
typedef int64_t vl __attribute__((vector_size(CK_VECTOR_BYTES * 2)));
typedef uint16_t vh __attribute__((vector_size(CK_VECTOR_BYTES / 2)));

CK_INLINE vf v_set(float x) { return (vf){} + x; }

CK_INLINE vf v_load(const float *p) {
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

CK_INLINE void v_store(float *p, vf v) { memcpy(p, &v, sizeof v); }

/// The first `n` < VL lanes; the others are `rest`.
CK_INLINE vf v_load_part(const float *p, size_t n, float rest) {
    vf v = v_set(rest);
    memcpy(&v, p, n * sizeof(float));
    return v;
}

CK_INLINE void v_store_part(float *p, vf v, size_t n) { memcpy(p, &v, n * sizeof(float)); }

CK_INLINE vf v_select(vi mask, vf a, vf b) { return (vf)((mask & (vi)a) | (~mask & (vi)b)); }

CK_INLINE bool v_any(vi mask) { return __builtin_reduce_or(mask) != 0; }

CK_INLINE vf v_abs(vf x) { return (vf)((vi)x & 0x7fffffff); }

/// The magnitude of `x`, which is not negative, with the sign of `s`.
CK_INLINE vf v_sign(vf x, vf s) { return (vf)((vi)x | ((vi)s & (int32_t)0x80000000)); }

/// The greater one; NaN if either is.
CK_INLINE vf v_max(vf a, vf b) { return v_select((a > b) | (a != a), a, b); }

/// The smaller one; NaN if either is.
CK_INLINE vf v_min(vf a, vf b) { return v_select((a < b) | (a != a), a, b); }

/// a · b + c, in one rounding where the level has it.
CK_INLINE vf v_fma(vf a, vf b, vf c) { return a * b + c; }

CK_INLINE float v_sum(vf v) {
    float part[VL];
    v_store(part, v);
    for (int width = VL / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) part[i] += part[i + width];
    }
    return part[0];
}

CK_INLINE float v_greatest(vf v) {
    float best = v[0];
    for (int i = 1; i < VL; i++) best = v[i] > best || v[i] != v[i] ? v[i] : best;
    return best;
}
