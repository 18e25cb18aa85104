#include "cpu_kernels.h"

enum {
    /// Side of a transposed tile, in elements: both sides stay in the first-level cache.
    TILE = 32,
    /// Bytes of a contiguous run that one task copies at least.
    RUN = 65536,
};

typedef struct {
    int64_t extent, to, from;
} dimension;

typedef struct {
    size_t size;
    char *destination;
    const char *source;
    /// The dimensions that tasks count through, outermost first; then the one or two within a task.
    int outer_rank;
    dimension outer[CK_MOVE_MAX_RANK];
    dimension inner, across;
    /// The inner dimension (or, transposing, `across`) in parts of this many elements.
    int64_t part;
    size_t parts;
    bool transposed;
} job;

typedef struct {
    uint64_t low, high;
} element_16;

#define STRIDED_COPY(T)                                                                            \
    static void copy_##T(char *d, int64_t to, const char *a, int64_t from, int64_t n) {            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T x;                                                                                   \
            memcpy(&x, a + i * from * (int64_t)sizeof x, sizeof x);                                \
            memcpy(d + i * to * (int64_t)sizeof x, &x, sizeof x);                                  \
        }                                                                                          \
    }

STRIDED_COPY(uint8_t)
STRIDED_COPY(uint16_t)
STRIDED_COPY(uint32_t)
STRIDED_COPY(uint64_t)
STRIDED_COPY(element_16)

static void copy_line(size_t size, char *d, int64_t to, const char *a, int64_t from, int64_t n) {
    if (to == 1 && from == 1) memcpy(d, a, (size_t)n * size);
    else if (size == 4) copy_uint32_t(d, to, a, from, n);
    else if (size == 2) copy_uint16_t(d, to, a, from, n);
    else if (size == 1) copy_uint8_t(d, to, a, from, n);
    else if (size == 8) copy_uint64_t(d, to, a, from, n);
    else copy_element_16(d, to, a, from, n);
}

// Four rows of four elements: rows of the source become columns.
#define TRANSPOSE_4(name, T)                                                                       \
    static void name(char *d, int64_t to, const char *a, int64_t from) {                           \
        typedef T four __attribute__((vector_size(4 * sizeof(T))));                                \
        const int64_t size = sizeof(T);                                                            \
        four r[4], t[4];                                                                           \
        for (int i = 0; i < 4; i++) memcpy(&r[i], a + i * from * size, sizeof r[i]);               \
        t[0] = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);                                    \
        t[1] = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);                                    \
        t[2] = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);                                    \
        t[3] = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);                                    \
        r[0] = __builtin_shufflevector(t[0], t[2], 0, 1, 4, 5);                                    \
        r[1] = __builtin_shufflevector(t[0], t[2], 2, 3, 6, 7);                                    \
        r[2] = __builtin_shufflevector(t[1], t[3], 0, 1, 4, 5);                                    \
        r[3] = __builtin_shufflevector(t[1], t[3], 2, 3, 6, 7);                                    \
        for (int i = 0; i < 4; i++) memcpy(d + i * to * size, &r[i], sizeof r[i]);                 \
    }

TRANSPOSE_4(transpose_bytes, uint8_t)
TRANSPOSE_4(transpose_halves, uint16_t)
TRANSPOSE_4(transpose_words, uint32_t)

/// The destination is contiguous along `inner`, the source along `across`.
static void transpose_tile(const job *j, char *d, const char *a, int64_t rows, int64_t columns) {
    int64_t to = j->across.to, from = j->inner.from, size = (int64_t)j->size, row = 0;
    for (; size <= 4 && row + 4 <= rows; row += 4) {
        int64_t column = 0;
        for (; column + 4 <= columns; column += 4) {
            char *target = d + (row * to + column) * size;
            const char *source = a + (row + column * from) * size;
            if (size == 4) transpose_words(target, to, source, from);
            else if (size == 2) transpose_halves(target, to, source, from);
            else transpose_bytes(target, to, source, from);
        }
        for (int64_t r = row; r < row + 4 && column < columns; r++) {
            copy_line(j->size, d + (r * to + column) * size, 1, a + (r + column * from) * size, from, columns - column);
        }
    }
    for (; row < rows; row++) copy_line(j->size, d + row * to * size, 1, a + row * size, from, columns);
}

static void run(void *context, size_t begin, size_t end) {
    const job *j = context;
    int64_t size = (int64_t)j->size;
    for (size_t item = begin; item < end; item++) {
        int64_t start = (int64_t)(item % j->parts) * j->part, to = 0, from = 0;
        size_t rest = item / j->parts;
        for (int i = j->outer_rank - 1; i >= 0; i--) {
            int64_t index = (int64_t)(rest % (size_t)j->outer[i].extent);
            rest /= (size_t)j->outer[i].extent;
            to += index * j->outer[i].to, from += index * j->outer[i].from;
        }
        char *d = j->destination + to * size;
        const char *a = j->source + from * size;
        if (!j->transposed) {
            int64_t n = j->inner.extent - start < j->part ? j->inner.extent - start : j->part;
            d += start * j->inner.to * size, a += start * j->inner.from * size;
            copy_line(j->size, d, j->inner.to, a, j->inner.from, n);
            continue;
        }
        int64_t rows = j->across.extent - start < j->part ? j->across.extent - start : j->part;
        d += start * j->across.to * size, a += start * size;
        for (int64_t column = 0; column < j->inner.extent; column += TILE) {
            int64_t columns = j->inner.extent - column < TILE ? j->inner.extent - column : TILE;
            transpose_tile(j, d + column * size, a + column * j->inner.from * size, rows, columns);
        }
    }
}

static int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

/// Orders by the destination's strides, the largest first, and joins dimensions that both sides walk in one stride.
static int simplify(dimension *dims, int count) {
    for (int i = 1; i < count; i++) {
        dimension moved = dims[i];
        int k = i;
        for (; k > 0 && magnitude(dims[k - 1].to) < magnitude(moved.to); k--) dims[k] = dims[k - 1];
        dims[k] = moved;
    }
    int joined = 0;
    for (int i = 0; i < count; i++) {
        dimension next = dims[i], *last = joined > 0 ? &dims[joined - 1] : NULL;
        if (last != NULL && last->to == next.to * next.extent && last->from == next.from * next.extent) {
            *last = (dimension){last->extent * next.extent, next.to, next.from};
        } else dims[joined++] = next;
    }
    return joined;
}

bool ck_copy(
    size_t size, int rank, const int64_t *extents, void *destination, const int64_t *destination_strides,
    const void *source, const int64_t *source_strides) {
    if (rank < 0 || rank > CK_MOVE_MAX_RANK) return false;
    if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) return false;
    dimension dims[CK_MOVE_MAX_RANK + 1];
    int count = 0;
    for (int d = 0; d < rank; d++) {
        if (extents[d] <= 0) return extents[d] == 0;
        if (extents[d] > 1) dims[count++] = (dimension){extents[d], destination_strides[d], source_strides[d]};
    }
    if (count == 0) dims[count++] = (dimension){1, 1, 1};
    count = simplify(dims, count);
    job j = {.size = size, .destination = destination, .source = source, .inner = dims[count - 1]};
    int across = -1;
    for (int i = 0; i < count - 1; i++) {
        if (dims[i].from == 1) across = i;
    }
    j.transposed = across >= 0 && j.inner.to == 1 && j.inner.from != 1 && j.inner.extent >= 4;
    if (j.transposed) j.across = dims[across];
    size_t items = 1;
    for (int i = 0; i < count - 1; i++) {
        if (j.transposed && i == across) continue;
        j.outer[j.outer_rank++] = dims[i];
        items *= (size_t)dims[i].extent;
    }
    int64_t divided = j.transposed ? j.across.extent : j.inner.extent;
    j.part = j.transposed ? TILE : (int64_t)(RUN / size);
    j.parts = (size_t)((divided + j.part - 1) / j.part);
    int64_t in_task = j.transposed ? j.inner.extent * TILE : divided < j.part ? divided : j.part;
    ck_parallel_for(items * j.parts, RUN / ((size_t)in_task * size) + 1, run, &j);
    return true;
}

void ck_fill(size_t size, void *destination, size_t count, const void *value) {
    ck_copy(size, 1, &(int64_t){(int64_t)count}, destination, &(int64_t){1}, value, &(int64_t){0});
}
