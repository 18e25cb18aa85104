#include "cpu_kernels.h"
#include "program.h"

typedef struct {
    ck_type from, to;
    const char *source;
    char *destination;
    size_t count;
} conversion;

static bool is_half(ck_type type) { return type == CK_F16 || type == CK_BF16; }

/// Through floats in blocks where either side is a 16-bit float.
static void convert_blocks(void *context, size_t begin, size_t end) {
    const conversion *c = context;
    const ck_vector_kernels *vectors = ck_vectors();
    size_t from_size = ck_type_size(c->from), to_size = ck_type_size(c->to);
    ck_type from = is_half(c->from) ? CK_F32 : c->from, to = is_half(c->to) ? CK_F32 : c->to;
    ck_ew_kernel kernel = vectors->elementwise(CK_EW_CAST, from, to);
    if (kernel == NULL) return;
    _Alignas(64) float wide[BLOCK], result[BLOCK];
    for (size_t block = begin; block < end; block++) {
        size_t i = block * BLOCK, n = c->count - i < BLOCK ? c->count - i : BLOCK;
        const void *source = c->source + i * from_size;
        char *destination = c->destination + i * to_size;
        if (is_half(c->from)) {
            vectors->widen(c->from, wide, source, n);
            source = wide;
        }
        void *target = is_half(c->to) ? (void *)result : destination;
        kernel(target, source, source, source, n);
        if (is_half(c->to)) vectors->narrow(c->to, destination, result, n);
    }
}

void ck_cast(ck_type to, void *destination, ck_type from, const void *source, size_t count) {
    if (from == to) {
        if (count > 0) memmove(destination, source, count * ck_type_size(to));
        return;
    }
    conversion c = {from, to, source, destination, count};
    ck_parallel_for((count + BLOCK - 1) / BLOCK, 64, convert_blocks, &c);
}
