// Blocks of 16-bit floats to floats and back. `n` is any count.

static void widen_f16(float *d, const uint16_t *a, size_t n) {
    size_t i = 0;
#if CK_LEVEL == 2
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(d + i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(a + i))));
#elif CK_LEVEL == 1
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(d + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(a + i))));
#endif
    for (; i < n; i++) d[i] = ck_f16_to_f32(a[i]);
}

static void narrow_f16(uint16_t *d, const float *a, size_t n) {
    size_t i = 0;
#if CK_LEVEL == 2
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((void *)(d + i), _mm512_cvtps_ph(_mm512_loadu_ps(a + i), _MM_FROUND_TO_NEAREST_INT));
#elif CK_LEVEL == 1
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(d + i), _mm256_cvtps_ph(_mm256_loadu_ps(a + i), _MM_FROUND_TO_NEAREST_INT));
#endif
    for (; i < n; i++) d[i] = ck_f32_to_f16(a[i]);
}

static void widen_bf16(float *d, const uint16_t *a, size_t n) {
    CK_LOOP for (size_t i = 0; i < n; i++) d[i] = ck_bf16_to_f32(a[i]);
}

static void narrow_bf16(uint16_t *d, const float *a, size_t n) {
    CK_LOOP for (size_t i = 0; i < n; i++) d[i] = ck_f32_to_bf16(a[i]);
}

/// From F16, BF16 or F32.
static void widen(ck_type type, float *d, const void *a, size_t n) {
    if (type == CK_F16) widen_f16(d, a, n);
    else if (type == CK_BF16) widen_bf16(d, a, n);
    else memcpy(d, a, n * sizeof *d);
}

/// To F16, BF16 or F32.
static void narrow(ck_type type, void *d, const float *a, size_t n) {
    if (type == CK_F16) narrow_f16(d, a, n);
    else if (type == CK_BF16) narrow_bf16(d, a, n);
    else memcpy(d, a, n * sizeof *a);
}
