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

// One more than the level, so that zero means "not yet detected" and "no limit".
static atomic_int detected;
static _Thread_local int limit;

static int detect(void) {
    int known = atomic_load_explicit(&detected, memory_order_relaxed);
    if (known == 0) {
        known = detected_level() + 1;
        atomic_store_explicit(&detected, known, memory_order_relaxed);
    }
    return known - 1;
}

int ck_cpu_level(void) { return limit != 0 ? limit - 1 : detect(); }

int ck_set_cpu_level(int level) {
    int best = detect();
    if (level >= best) level = -1;
    limit = level < 0 ? 0 : level + 1;
    return ck_cpu_level();
}
