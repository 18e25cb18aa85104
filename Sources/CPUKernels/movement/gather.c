#include "index.h"

typedef struct {
    char *output;
    const char *input;
    int depth;
    const int64_t *extents;
    size_t slice;
    ck_type index_type;
    const void *indices;
    _Atomic int64_t bad;
} slices;

static void gather_slices(void *context, size_t begin, size_t end) {
    slices *s = context;
    for (size_t row = begin; row < end; row++) {
        int64_t offset = slice_offset(s->index_type, s->indices, row, s->depth, s->extents);
        if (offset < 0) {
            note_bad(&s->bad, (int64_t)row);
            return;
        }
        char *d = s->output + row * s->slice;
        const char *a = s->input + (size_t)offset * s->slice;
        if (s->slice == 4) memcpy(d, a, 4);
        else if (s->slice == 8) memcpy(d, a, 8);
        else memcpy(d, a, s->slice);
    }
}

int64_t ck_gather_nd(
    void *output, const void *input, int depth, const int64_t *extents, size_t slice, ck_type index_type,
    const void *indices, size_t count) {
    if (!is_index_type(index_type) || depth < 0) return CK_INDEX_UNSUPPORTED;
    slices s = {output, input, depth, extents, slice, index_type, indices, CK_INDEX_OK};
    ck_parallel_for(count, 65536 / (slice + 16) + 1, gather_slices, &s);
    return s.bad;
}

typedef struct {
    size_t size, extent, inner, count;
    char *output;
    const char *input;
    ck_type index_type;
    const void *indices;
    _Atomic int64_t bad;
} axis;

#define GATHER(T)                                                                                              \
    static void gather_##T(axis *s, size_t row) {                                                              \
        const T *a = (const T *)(const void *)s->input + row / s->count * s->extent * s->inner;                \
        T *d = (T *)(void *)s->output + row * s->inner;                                                        \
        for (size_t k = 0; k < s->inner; k++) {                                                                \
            int64_t index = wrap_index(                                                                        \
                load_index(s->index_type, s->indices, row * s->inner + k), (int64_t)s->extent);                \
            if (index < 0) {                                                                                   \
                note_bad(&s->bad, (int64_t)(row * s->inner + k));                                              \
                return;                                                                                        \
            }                                                                                                  \
            memcpy(&d[k], &a[(size_t)index * s->inner + k], sizeof(T));                                        \
        }                                                                                                      \
    }

typedef struct {
    uint64_t low, high;
} element_16;

GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)
GATHER(uint64_t)
GATHER(element_16)

static void gather_rows(void *context, size_t begin, size_t end) {
    axis *s = context;
    for (size_t row = begin; row < end; row++) {
        switch (s->size) {
            case 1: gather_uint8_t(s, row); break;
            case 2: gather_uint16_t(s, row); break;
            case 4: gather_uint32_t(s, row); break;
            case 8: gather_uint64_t(s, row); break;
            default: gather_element_16(s, row); break;
        }
    }
}

int64_t ck_gather_along(
    size_t size, void *output, const void *input, size_t outer, size_t extent, size_t inner, ck_type index_type,
    const void *indices, size_t count) {
    bool fits = size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
    if (!is_index_type(index_type) || !fits) return CK_INDEX_UNSUPPORTED;
    axis s = {size, extent, inner, count, output, input, index_type, indices, CK_INDEX_OK};
    ck_parallel_for(outer * count, 16384 / (inner + 1) + 1, gather_rows, &s);
    return s.bad;
}
