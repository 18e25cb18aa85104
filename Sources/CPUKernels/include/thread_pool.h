#pragma once
// One pool of threads for the whole process, started at the first use.

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Work on the items `begin ..< end`.
typedef void (*ck_range_fn)(void *context, size_t begin, size_t end);

/// Calls `fn` on ranges that together cover `0 ..< count` once, on the pool's threads and on the calling one, and
/// returns when all are done. `grain` is the fewest items worth a range of their own: with `count <= grain` everything
/// runs on the calling thread. So it does inside another parallel loop, and while another thread's loop has the pool.
void ck_parallel_for(size_t count, size_t grain, ck_range_fn fn, void *context);

/// How many threads a loop may use, the calling one included.
int ck_thread_count(void);

/// Sets the number of threads, 0 for one a core that this process may run on. Waits for a loop that has the pool;
/// inside a loop it does nothing. Returns the number now in force.
int ck_set_thread_count(int count);

#ifdef __cplusplus
}
#endif
