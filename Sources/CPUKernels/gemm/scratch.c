#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdlib.h>

#include "gemm_internal.h"

typedef struct {
    void *memory[CK_SCRATCH_COUNT];
    size_t bytes[CK_SCRATCH_COUNT];
} buffers;

static _Thread_local buffers mine;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void release(void *context) {
    buffers *own = context;
    for (int i = 0; i < CK_SCRATCH_COUNT; i++) {
        free(own->memory[i]);
        own->memory[i] = NULL;
        own->bytes[i] = 0;
    }
}

static void make_key(void) { has_key = pthread_key_create(&key, release) == 0; }

void *ck_scratch(ck_scratch_slot slot, size_t bytes) {
    if (mine.bytes[slot] >= bytes && mine.memory[slot]) return mine.memory[slot];
    // The key's only use is to free the buffers when the thread ends.
    pthread_once(&once, make_key);
    if (!has_key || pthread_setspecific(key, &mine) != 0 || bytes > SIZE_MAX / 2) return NULL;
    free(mine.memory[slot]);
    mine.bytes[slot] = 0;
    bytes = (bytes + 4095) & ~(size_t)4095;
    mine.memory[slot] = aligned_alloc(64, bytes < 4096 ? 4096 : bytes);
    if (mine.memory[slot]) mine.bytes[slot] = bytes < 4096 ? 4096 : bytes;
    return mine.memory[slot];
}
