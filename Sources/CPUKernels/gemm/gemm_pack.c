// Operands that are packed once: constant weights.

#include "gemm_internal.h"
#include "thread_pool.h"

const ck_gemm_kernels *ck_gemm_kernels_at(int level) {
#if defined(__x86_64__)
    if (level == 2) return &ck_gemm_kernels_avx512;
    if (level == 1) return &ck_gemm_kernels_avx2;
#endif
    (void)level;
    return &ck_gemm_kernels_portable;
}

const void *ck_packed_elements(const void *packed, uint32_t magic, size_t outer, size_t k) {
    const ck_packed_header *header = packed;
    if (header->magic != magic || header->outer != outer || header->k != k) return NULL;
    return header + 1;
}

static void *begin(void *packed, uint32_t magic, ck_type type, size_t outer, size_t k) {
    ck_packed_header *header = packed;
    *header = (ck_packed_header){
        .magic = magic, .level = (uint32_t)ck_cpu_level(), .type = (uint32_t)type, .outer = outer, .k = k};
    return header + 1;
}

size_t ck_gemm_packed_b_size(ck_type type, size_t k, size_t n) {
    size_t nr = ck_gemm_kernels_at(ck_cpu_level())->nr;
    return sizeof(ck_packed_header) + (n + nr - 1) / nr * nr * k * ck_type_size(type);
}

typedef struct {
    const ck_gemm_kernels *kernels;
    ck_type type;
    size_t k, n;
    const char *from;
    ptrdiff_t row, column;
    char *to;
} pack_job;

static void pack_columns(void *context, size_t begin, size_t end) {
    const pack_job *job = context;
    size_t size = ck_type_size(job->type), nr = job->kernels->nr;
    for (size_t panel = begin; panel < end; panel++) {
        size_t j = panel * nr, columns = job->n - j < nr ? job->n - j : nr;
        const char *from = job->from + (ptrdiff_t)j * job->column * (ptrdiff_t)size;
        char *to = job->to + j * job->k * size;
        if (job->type == CK_F32) {
            job->kernels->pack_b(job->type, from, job->row, job->column, job->k, columns, (float *)to);
        } else {
            job->kernels->pack_b16((const uint16_t *)from, job->row, job->column, job->k, columns, (uint16_t *)to);
        }
    }
}

void ck_gemm_pack_b(ck_type type, size_t k, size_t n, const void *b, ptrdiff_t ldb, bool transposed, void *packed) {
    const ck_gemm_kernels *kernels = ck_gemm_kernels_at(ck_cpu_level());
    pack_job job = {
        .kernels = kernels, .type = type, .k = k, .n = n, .from = b, .row = transposed ? 1 : ldb,
        .column = transposed ? ldb : 1, .to = begin(packed, CK_PACKED_B, type, n, k)};
    // A panel of small k is not worth a thread of its own.
    ck_parallel_for((n + kernels->nr - 1) / kernels->nr, 4096 / (k + 1) + 1, pack_columns, &job);
}

size_t ck_gemm_packed_a_size(size_t m, size_t k) { return sizeof(ck_packed_header) + m * k * sizeof(float); }

void ck_gemm_pack_a(ck_type type, size_t m, size_t k, const void *a, ptrdiff_t lda, bool transposed, void *packed) {
    const ck_gemm_kernels *kernels = ck_gemm_kernels_at(ck_cpu_level());
    float *to = begin(packed, CK_PACKED_A, CK_F32, m, k);
    ptrdiff_t row = transposed ? 1 : lda, column = transposed ? lda : 1;
    size_t panels = (m + kernels->mr - 1) / kernels->mr;
    for (size_t p = 0; p < panels; p++) {
        size_t start = ck_panel_start(p, panels, m), end = ck_panel_start(p + 1, panels, m);
        const char *from = (const char *)a + (ptrdiff_t)start * row * (ptrdiff_t)ck_type_size(type);
        kernels->pack_a(type, from, row, column, end - start, k, to + start * k);
    }
}
