#include <stdatomic.h>
#include <stdlib.h>

#include "cpu_kernels.h"

/// An element's place in the order, as an unsigned number, and where it was.
typedef struct {
    uint64_t key;
    uint32_t index;
} entry;

typedef struct {
    ck_type type;
    const char *input;
    /// One of the two is wanted.
    uint32_t *indices;
    char *values;
    size_t outer, count, inner;
    bool descending;
    atomic_bool failed;
} job;

/// A float's bits in the order of their values, −0 as 0, NaN behind all.
static uint64_t float_key(uint64_t bits, int width, uint64_t infinity, bool descending) {
    uint64_t sign = (uint64_t)1 << (width - 1), all = sign | (sign - 1);
    if ((bits & ~sign) > infinity) return all;
    if (bits == sign) bits = 0;
    uint64_t key = bits & sign ? all ^ bits : bits | sign;
    // No number's key is all ones or, reversed, becomes so: that would be a NaN's.
    return descending ? all ^ key : key;
}

static uint64_t key_of(ck_type type, const char *a, bool descending) {
    uint64_t bits = 0;
    size_t size = ck_type_size(type);
    memcpy(&bits, a, size < sizeof bits ? size : sizeof bits);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bits >>= 64 - 8 * size;
#endif
    int width = (int)size * 8;
    switch (type) {
        case CK_F16: return float_key(bits, width, 0x7c00, descending);
        case CK_BF16: return float_key(bits, width, 0x7f80, descending);
        case CK_F32: return float_key(bits, width, 0x7f800000, descending);
        case CK_F64: return float_key(bits, width, 0x7ff0000000000000, descending);
        case CK_I8:
        case CK_I16:
        case CK_I32:
        case CK_I64: bits ^= (uint64_t)1 << (width - 1); break;
        default: break;
    }
    uint64_t all = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    return descending ? all ^ bits : bits;
}

static void insertion_sort(entry *e, size_t n) {
    for (size_t i = 1; i < n; i++) {
        entry moved = e[i];
        size_t k = i;
        for (; k > 0 && e[k - 1].key > moved.key; k--) e[k] = e[k - 1];
        e[k] = moved;
    }
}

/// Byte by byte from the lowest; the result is in one of the two arrays.
static entry *radix_sort(entry *e, entry *other, size_t n, size_t bytes) {
    for (size_t byte = 0; byte < bytes; byte++) {
        size_t starts[257] = {0};
        int shift = (int)byte * 8;
        for (size_t i = 0; i < n; i++) starts[(e[i].key >> shift & 255) + 1]++;
        // A byte that is the same in all keys orders nothing.
        if (starts[(e[0].key >> shift & 255) + 1] == n) continue;
        for (int i = 0; i < 256; i++) starts[i + 1] += starts[i];
        for (size_t i = 0; i < n; i++) other[starts[e[i].key >> shift & 255]++] = e[i];
        entry *sorted = other;
        other = e, e = sorted;
    }
    return e;
}

static void run(void *context, size_t begin, size_t end) {
    job *j = context;
    size_t size = ck_type_size(j->type), n = j->count;
    entry *entries = malloc(2 * n * sizeof *entries);
    char *line = j->values != NULL ? malloc(n * size) : NULL;
    if (entries == NULL || (j->values != NULL && line == NULL)) {
        atomic_store(&j->failed, true);
        end = begin;
    }
    for (size_t item = begin; item < end; item++) {
        size_t start = item / j->inner * n * j->inner + item % j->inner;
        for (size_t i = 0; i < n; i++) {
            const char *a = j->input + (start + i * j->inner) * size;
            entries[i] = (entry){key_of(j->type, a, j->descending), (uint32_t)i};
            if (line != NULL) memcpy(line + i * size, a, size);
        }
        entry *sorted = entries;
        if (n <= 48) insertion_sort(entries, n);
        else sorted = radix_sort(entries, entries + n, n, size);
        for (size_t i = 0; i < n; i++) {
            size_t place = start + i * j->inner;
            if (line != NULL) memcpy(j->values + place * size, line + sorted[i].index * size, size);
            else j->indices[place] = sorted[i].index;
        }
    }
    free(entries);
    free(line);
}

static bool sort(job *j) {
    if ((unsigned)j->type > CK_F64 || j->count > INT32_MAX) return false;
    if (j->count == 0 || j->inner == 0) return true;
    ck_parallel_for(j->outer * j->inner, 2048 / j->count + 1, run, j);
    return !atomic_load(&j->failed);
}

bool ck_argsort(
    ck_type type, uint32_t *output, const void *input, size_t outer, size_t count, size_t inner, bool descending) {
    job j = {type, input, output, NULL, outer, count, inner, descending, false};
    return sort(&j);
}

bool ck_sort(
    ck_type type, void *output, const void *input, size_t outer, size_t count, size_t inner, bool descending) {
    job j = {type, input, NULL, output, outer, count, inner, descending, false};
    return sort(&j);
}
