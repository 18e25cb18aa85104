#include <stdatomic.h>

#include "ck_types.h"

static int detected_level(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx2 ? (avx512 ? 2 : 1) : 0;
#else
    return 0;
#endif
}

// One more than the level, so that zero means "not yet detected".
static atomic_int detected, current;

static int detect(void) {
    int known = atomic_load_explicit(&detected, memory_order_relaxed);
    if (known == 0) {
        known = detected_level() + 1;
        atomic_store_explicit(&detected, known, memory_order_relaxed);
    }
    return known - 1;
}

int ck_cpu_level(void) {
    int known = atomic_load_explicit(&current, memory_order_relaxed);
    return known != 0 ? known - 1 : detect();
}

int ck_set_cpu_level(int level) {
    int best = detect();
    if (level < 0 || level > best) level = best;
    atomic_store_explicit(&current, level + 1, memory_order_relaxed);
    return level;
}
