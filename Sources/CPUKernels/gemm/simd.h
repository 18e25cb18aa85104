// Vectors of floats at one CPU level. A file that includes this defines CK_LEVEL (0 portable, 1 AVX2, 2 AVX-512) first
// and puts CK_LEVEL_BEGIN and CK_LEVEL_END around its functions; kernel templates are written once, over these names.
#pragma once

#include "ck_types.h"

#if CK_LEVEL > 0
#include <immintrin.h>
#endif

#define CK_PRAGMA(x) _Pragma(#x)
#if CK_LEVEL == 2
#define CK_W 16
#define CK_NAME(x) x##_avx512
#define CK_LEVEL_BEGIN                                                                                     \
    CK_PRAGMA(clang attribute push(                                                                        \
        __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), apply_to = function))
#define CK_LEVEL_END CK_PRAGMA(clang attribute pop)
#elif CK_LEVEL == 1
#define CK_W 8
#define CK_NAME(x) x##_avx2
#define CK_LEVEL_BEGIN \
    CK_PRAGMA(clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function))
#define CK_LEVEL_END CK_PRAGMA(clang attribute pop)
#else
#define CK_W 4
#define CK_NAME(x) x##_portable
#define CK_LEVEL_BEGIN
#define CK_LEVEL_END
#endif

#define CK_INLINE static inline __attribute__((always_inline, unused))

typedef float vf __attribute__((vector_size(4 * CK_W)));
typedef int32_t vi __attribute__((vector_size(4 * CK_W)));
typedef uint32_t vu __attribute__((vector_size(4 * CK_W)));
typedef uint16_t vh __attribute__((vector_size(2 * CK_W)));
typedef float vf_any __attribute__((vector_size(4 * CK_W), aligned(4), may_alias));
typedef uint16_t vh_any __attribute__((vector_size(2 * CK_W), aligned(2), may_alias));
// Four floats, for transposing; every level has them.
typedef float v4 __attribute__((vector_size(16)));
typedef float v4_any __attribute__((vector_size(16), aligned(4), may_alias));

CK_LEVEL_BEGIN

CK_INLINE vf vf_load(const float *p) { return *(const vf_any *)p; }
CK_INLINE void vf_store(float *p, vf x) { *(vf_any *)p = x; }

CK_INLINE vf vf_set1(float x) {
#if CK_LEVEL == 2
    return _mm512_set1_ps(x);
#elif CK_LEVEL == 1
    return _mm256_set1_ps(x);
#else
    return (vf){x, x, x, x};
#endif
}

/// The first n floats, zeros after them; reads nothing past them.
CK_INLINE vf vf_load_n(const float *p, size_t n) {
    if (n >= CK_W) return vf_load(p);
#if CK_LEVEL == 2
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
    float t[CK_W] = {0};
    for (size_t i = 0; i < n; i++) t[i] = p[i];
    return vf_load(t);
#endif
}

CK_INLINE void vf_store_n(float *p, vf x, size_t n) {
    if (n >= CK_W) {
        vf_store(p, x);
        return;
    }
#if CK_LEVEL == 2
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), x);
#else
    float t[CK_W];
    vf_store(t, x);
    for (size_t i = 0; i < n; i++) p[i] = t[i];
#endif
}

/// Where `m` is all ones a, where it is zero b.
CK_INLINE vf vf_select(vi m, vf a, vf b) { return (vf)(((vi)a & m) | ((vi)b & ~m)); }

/// The greater one; b where either is NaN.
CK_INLINE vf vf_max(vf a, vf b) {
#if CK_LEVEL == 2
    return _mm512_max_ps(a, b);
#elif CK_LEVEL == 1
    return _mm256_max_ps(a, b);
#else
    return vf_select(a > b, a, b);
#endif
}

/// The smaller one; b where either is NaN.
CK_INLINE vf vf_min(vf a, vf b) {
#if CK_LEVEL == 2
    return _mm512_min_ps(a, b);
#elif CK_LEVEL == 1
    return _mm256_min_ps(a, b);
#else
    return vf_select(a < b, a, b);
#endif
}

CK_INLINE vf vf_abs(vf x) { return (vf)((vi)x & 0x7fffffff); }

CK_INLINE float vf_sum(vf x) {
#if CK_LEVEL == 2
    return _mm512_reduce_add_ps(x);
#else
    float s = 0;
    for (int i = 0; i < CK_W; i++) s += x[i];
    return s;
#endif
}

// 16-bit storage.

CK_INLINE vf vf_from_bf16(vh x) { return (vf)(__builtin_convertvector(x, vu) << 16); }

CK_INLINE vh vf_to_bf16(vf x) {
    vu bits = (vu)x;
    vu rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    vi nan = x != x;
    vu quiet = bits >> 16 | 0x40;
    return __builtin_convertvector((quiet & (vu)nan) | (rounded & ~(vu)nan), vh);
}

CK_INLINE vf vf_from_f16(vh x) {
#if CK_LEVEL == 2
    return _mm512_cvtph_ps((__m256i)x);
#elif CK_LEVEL == 1
    return _mm256_cvtph_ps((__m128i)x);
#else
    return (vf){ck_f16_to_f32(x[0]), ck_f16_to_f32(x[1]), ck_f16_to_f32(x[2]), ck_f16_to_f32(x[3])};
#endif
}

CK_INLINE vh vf_to_f16(vf x) {
#if CK_LEVEL == 2
    return (vh)_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif CK_LEVEL == 1
    return (vh)_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    return (vh){ck_f32_to_f16(x[0]), ck_f32_to_f16(x[1]), ck_f32_to_f16(x[2]), ck_f32_to_f16(x[3])};
#endif
}

CK_INLINE vh vh_load_n(const uint16_t *p, size_t n) {
    if (n >= CK_W) return *(const vh_any *)p;
#if CK_LEVEL == 2
    return (vh)_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), p);
#else
    uint16_t t[CK_W] = {0};
    for (size_t i = 0; i < n; i++) t[i] = p[i];
    return *(const vh_any *)t;
#endif
}

CK_INLINE void vh_store_n(uint16_t *p, vh x, size_t n) {
    if (n >= CK_W) {
        *(vh_any *)p = x;
        return;
    }
#if CK_LEVEL == 2
    _mm256_mask_storeu_epi16(p, (__mmask16)((1u << n) - 1), (__m256i)x);
#else
    for (size_t i = 0; i < n; i++) p[i] = x[i];
#endif
}

/// Elements `at ..` of an f32, f16 or bf16 array; the type is a constant where this is inlined in a fast loop.
CK_INLINE vf vf_load_as(ck_type type, const void *p, ptrdiff_t at, size_t n) {
    if (type == CK_F32) return vf_load_n((const float *)p + at, n);
    vh x = vh_load_n((const uint16_t *)p + at, n);
    return type == CK_F16 ? vf_from_f16(x) : vf_from_bf16(x);
}

CK_INLINE void vf_store_as(ck_type type, void *p, ptrdiff_t at, vf x, size_t n) {
    if (type == CK_F32) {
        vf_store_n((float *)p + at, x, n);
    } else {
        vh_store_n((uint16_t *)p + at, type == CK_F16 ? vf_to_f16(x) : vf_to_bf16(x), n);
    }
}

CK_INLINE float load_as(ck_type type, const void *p, ptrdiff_t at) {
    if (type == CK_F32) return ((const float *)p)[at];
    uint16_t x = ((const uint16_t *)p)[at];
    return type == CK_F16 ? ck_f16_to_f32(x) : ck_bf16_to_f32(x);
}

CK_LEVEL_END
