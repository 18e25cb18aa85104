// Opens the part of a file that is compiled once per CPU level. The file defines CK_LEVEL (0, 1 or 2) and includes
// this after all system headers: intrinsics' own headers must not fall under the attribute.

#if CK_LEVEL == 2
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#define CK_VECTOR_BYTES 64
#define CK_NAME(name) name##_avx512
#elif CK_LEVEL == 1
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#define CK_VECTOR_BYTES 32
#define CK_NAME(name) name##_avx2
#else
#define CK_VECTOR_BYTES 16
#define CK_NAME(name) name##_portable
#endif

// Loops marked CK_LOOP write each element from inputs of the same index, so that in-place use is no dependence; where a
// level has no vector form the plain loop is what we want, not a warning.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#define CK_LOOP _Pragma("clang loop vectorize(assume_safety) interleave(enable)")

#define CK_INLINE static inline __attribute__((always_inline, unused))
