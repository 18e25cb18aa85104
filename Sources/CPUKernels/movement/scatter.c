#include "../vector_kernels.h"
#include "index.h"

/// Puts one slice of updates in its place. `kernel` is NULL for plain replacement.
typedef struct {
    ck_ew_kernel kernel;
    const ck_vector_kernels *vectors;
    ck_type type;
    size_t size;
} combiner;

static bool make_combiner(combiner *c, ck_scatter_mode mode, ck_type type, size_t size) {
    static const ck_ew_op ops[] = {CK_EW_CAST,   CK_EW_ADD,     CK_EW_SUB,    CK_EW_MUL,
                                   CK_EW_DIVIDE, CK_EW_MAXIMUM, CK_EW_MINIMUM};
    *c = (combiner){NULL, ck_vectors(), type, size};
    if (mode == CK_SCATTER_UPDATE) return true;
    if ((unsigned)mode > CK_SCATTER_MIN || (unsigned)type > CK_F64 || ck_type_size(type) != size) return false;
    bool half = type == CK_F16 || type == CK_BF16;
    c->kernel = c->vectors->elementwise(ops[mode], half ? CK_F32 : type, CK_F32);
    return c->kernel != NULL;
}

static void combine(const combiner *c, char *d, const char *a, size_t n) {
    if (c->kernel == NULL) {
        memcpy(d, a, n * c->size);
    } else if (c->type == CK_F16 || c->type == CK_BF16) {
        float old[256], new[256];
        for (size_t i = 0; i < n; i += 256) {
            size_t count = n - i < 256 ? n - i : 256;
            c->vectors->widen(c->type, old, d + i * 2, count);
            c->vectors->widen(c->type, new, a + i * 2, count);
            c->kernel(old, old, new, new, count);
            c->vectors->narrow(c->type, d + i * 2, old, count);
        }
    } else c->kernel(d, d, a, a, n);
}

int64_t ck_scatter_nd(
    ck_scatter_mode mode, ck_type type, size_t size, void *output, int depth, const int64_t *extents, size_t slice,
    ck_type index_type, const void *indices, size_t count, const void *updates) {
    combiner c;
    if (!is_index_type(index_type) || depth < 0 || !make_combiner(&c, mode, type, size)) return CK_INDEX_UNSUPPORTED;
    // One after another: several may go to one place.
    for (size_t row = 0; row < count; row++) {
        int64_t offset = slice_offset(index_type, indices, row, depth, extents);
        if (offset < 0) return (int64_t)row;
        size_t bytes = slice * size;
        combine(&c, (char *)output + (size_t)offset * bytes, (const char *)updates + row * bytes, slice);
    }
    return CK_INDEX_OK;
}

typedef struct {
    combiner combiner;
    char *output;
    const char *updates;
    size_t extent, inner, count;
    ck_type index_type;
    const void *indices;
    _Atomic int64_t bad;
} axis;

static void scatter_outer(void *context, size_t begin, size_t end) {
    axis *s = context;
    size_t size = s->combiner.size;
    for (size_t outer = begin; outer < end; outer++) {
        char *d = s->output + outer * s->extent * s->inner * size;
        for (size_t i = outer * s->count; i < (outer + 1) * s->count; i++) {
            for (size_t k = 0; k < s->inner; k++) {
                size_t entry = i * s->inner + k;
                int64_t index = wrap_index(load_index(s->index_type, s->indices, entry), (int64_t)s->extent);
                if (index < 0) {
                    note_bad(&s->bad, (int64_t)entry);
                    return;
                }
                combine(&s->combiner, d + ((size_t)index * s->inner + k) * size, s->updates + entry * size, 1);
            }
        }
    }
}

int64_t ck_scatter_along(
    ck_scatter_mode mode, ck_type type, size_t size, void *output, size_t outer, size_t extent, size_t inner,
    ck_type index_type, const void *indices, size_t count, const void *updates) {
    axis s = {
        .output = output, .updates = updates, .extent = extent, .inner = inner, .count = count,
        .index_type = index_type, .indices = indices, .bad = CK_INDEX_OK};
    if (!is_index_type(index_type) || !make_combiner(&s.combiner, mode, type, size)) return CK_INDEX_UNSUPPORTED;
    ck_parallel_for(outer, 8192 / (count * inner + 1) + 1, scatter_outer, &s);
    return s.bad;
}
