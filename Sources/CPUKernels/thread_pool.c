#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "gemm/gemm_internal.h"
#include "thread_pool.h"

enum { MAX_THREADS = 256, SPIN_NANOSECONDS = 40000 };

// `state` counts the workers inside the current job; OPEN says that more may enter. A worker reads the job's fields
// only after it has entered, and the caller writes them only while the job is closed and empty.
#define OPEN ((uint32_t)1 << 31)

static struct {
    pthread_mutex_t owner;  // held by the thread whose job has the pool
    pthread_mutex_t sleep;
    pthread_cond_t wake, done;
    _Atomic uint32_t state;
    atomic_size_t next;
    atomic_int sleepers, waiting, stopping;
    ck_range_fn fn;
    void *context;
    size_t count, chunk;
    int level;
    pthread_t workers[MAX_THREADS];
    int worker_count;
    bool started, registered;
} pool = {
    .owner = PTHREAD_MUTEX_INITIALIZER,
    .sleep = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
};

static atomic_int wanted;  // 0: not yet known
static _Thread_local bool inside;

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int available_cores(void) {
    long cores = 0;
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
#endif
    if (cores <= 0) cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (int)cores;
}

int ck_thread_count(void) {
    int count = atomic_load_explicit(&wanted, memory_order_relaxed);
    if (count == 0) {
        int expected = 0;
        count = available_cores();
        if (!atomic_compare_exchange_strong(&wanted, &expected, count)) count = expected;
    }
    return count;
}

bool ck_is_inside_loop(void) { return inside; }

static void run_chunks(void) {
    size_t count = pool.count, chunk = pool.chunk;
    for (;;) {
        size_t begin = atomic_fetch_add_explicit(&pool.next, chunk, memory_order_relaxed);
        if (begin >= count) break;
        pool.fn(pool.context, begin, count - begin < chunk ? count : begin + chunk);
    }
    // Nobody else need come in. The thread is still counted, so this can't be the next job.
    atomic_fetch_and(&pool.state, ~OPEN);
}

static bool enter(void) {
    uint32_t state = atomic_load_explicit(&pool.state, memory_order_relaxed);
    while (state & OPEN) {
        if (atomic_compare_exchange_weak_explicit(
                &pool.state, &state, state + 1, memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

static void leave(void) {
    if (atomic_fetch_sub(&pool.state, 1) == 1 && atomic_load(&pool.waiting)) {
        pthread_mutex_lock(&pool.sleep);
        pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.sleep);
    }
}

static bool has_news(void) { return (atomic_load(&pool.state) & OPEN) || atomic_load(&pool.stopping); }

static void sleep_until_news(void) {
    uint64_t deadline = nanoseconds() + SPIN_NANOSECONDS;
    do {
        for (int i = 0; i < 32; i++) {
            uint32_t state = atomic_load_explicit(&pool.state, memory_order_relaxed);
            if (state & OPEN) return;
            pause_briefly();
        }
    } while (nanoseconds() < deadline);
    pthread_mutex_lock(&pool.sleep);
    atomic_fetch_add(&pool.sleepers, 1);
    while (!has_news()) pthread_cond_wait(&pool.wake, &pool.sleep);
    atomic_fetch_sub(&pool.sleepers, 1);
    pthread_mutex_unlock(&pool.sleep);
}

static void *work(void *unused) {
    (void)unused;
    inside = true;
    while (!atomic_load(&pool.stopping)) {
        if (enter()) {
            ck_set_cpu_level(pool.level);
            run_chunks();
            leave();
        } else {
            sleep_until_news();
        }
    }
    return NULL;
}

static void reset_in_child(void) {
    // The workers did not survive the fork, and a lock may have been held by a thread that is gone.
    pthread_mutex_init(&pool.owner, NULL);
    pthread_mutex_init(&pool.sleep, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pthread_cond_init(&pool.done, NULL);
    atomic_store(&pool.state, 0);
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.waiting, 0);
    atomic_store(&pool.stopping, 0);
    pool.worker_count = 0;
    pool.started = false;
}

// The three below are called with `owner` held.

static void start(void) {
    pool.started = true;
    if (!pool.registered) pool.registered = pthread_atfork(NULL, NULL, reset_in_child) == 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = ck_thread_count() - 1; i > 0; i--) {
        if (pthread_create(&pool.workers[pool.worker_count], NULL, work, NULL) != 0) break;
        pool.worker_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop(void) {
    pthread_mutex_lock(&pool.sleep);
    atomic_store(&pool.stopping, 1);
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.sleep);
    for (int i = 0; i < pool.worker_count; i++) pthread_join(pool.workers[i], NULL);
    atomic_store(&pool.stopping, 0);
    pool.worker_count = 0;
    pool.started = false;
}

static void run_job(size_t chunks) {
    atomic_store(&pool.state, OPEN);
    if (atomic_load(&pool.sleepers) > 0) {
        pthread_mutex_lock(&pool.sleep);
        if (chunks > (size_t)pool.worker_count) {
            pthread_cond_broadcast(&pool.wake);
        } else {
            for (size_t i = 1; i < chunks; i++) pthread_cond_signal(&pool.wake);
        }
        pthread_mutex_unlock(&pool.sleep);
    }
    run_chunks();
    uint64_t deadline = nanoseconds() + 2 * SPIN_NANOSECONDS;
    do {
        for (int i = 0; i < 32; i++) {
            if (atomic_load_explicit(&pool.state, memory_order_acquire) == 0) return;
            pause_briefly();
        }
    } while (nanoseconds() < deadline);
    pthread_mutex_lock(&pool.sleep);
    atomic_store(&pool.waiting, 1);
    while (atomic_load(&pool.state) != 0) pthread_cond_wait(&pool.done, &pool.sleep);
    atomic_store(&pool.waiting, 0);
    pthread_mutex_unlock(&pool.sleep);
}

int ck_set_thread_count(int count) {
    if (inside) return ck_thread_count();
    if (count <= 0) count = available_cores();
    if (count > MAX_THREADS) count = MAX_THREADS;
    pthread_mutex_lock(&pool.owner);
    if (pool.started && count != ck_thread_count()) stop();
    atomic_store(&wanted, count);
    pthread_mutex_unlock(&pool.owner);
    return count;
}

void ck_parallel_for(size_t count, size_t grain, ck_range_fn fn, void *context) {
    if (count == 0) return;
    if (grain == 0) grain = 1;
    size_t threads = (size_t)ck_thread_count();
    if (count <= grain || threads == 1 || inside || pthread_mutex_trylock(&pool.owner) != 0) {
        fn(context, 0, count);
        return;
    }
    if (!pool.started) start();
    // Several ranges a thread, so that one that loses its core for a while does not hold up the others.
    size_t chunk = count / (threads * 8);
    if (chunk < grain) chunk = grain;
    pool.fn = fn;
    pool.context = context;
    pool.count = count;
    pool.chunk = chunk;
    pool.level = ck_cpu_level();
    atomic_store_explicit(&pool.next, 0, memory_order_relaxed);
    inside = true;
    run_job((count - 1) / chunk + 1);
    inside = false;
    pthread_mutex_unlock(&pool.owner);
}
