// The matrix product's plan: which blocks are packed when, and how the tiles are dealt out to the threads.
//
// A and B are always multiplied from packed panels. B comes packed (constant weights), or is packed inside each task
// into a buffer that stays in the second-level cache, or, where there are too few columns for that, by all threads
// before they start. A is packed by all threads, in blocks.

#include "gemm.h"

#include <stdatomic.h>

#include "gemm_internal.h"
#include "thread_pool.h"

enum {
    BLOCK_K = 512,                // steps between two visits of C
    A_CACHE = 64 << 10,           // floats of A that stay in the second-level cache
    B_CACHE = 64 << 10,           // floats of B that a task packs at a time
    A_BLOCK = 1 << 20,            // floats of A packed at a time
    B_BLOCK = 1 << 21,            // floats of B packed at a time, where all threads do it
    TASK_WORK = 2 << 20,          // operations that are worth a task
    THIN_ROWS = 4, THIN_COLUMNS = 256,
};

typedef struct {
    const ck_gemm *g;
    const ck_gemm_kernels *kernels;
    const ck_panel_source *source;
    size_t threads;
    // One product of the batch.
    const char *a, *b, *residual;
    char *c;
    // The block at hand: rows `row ..` of C from `panels_a`, columns `column ..` from `panels_b`.
    size_t row, rows, row_panels, column, columns, column_panels;
    const float *panels_a;
    const char *panels_b;  // null: packed inside the task
    ck_type panel_type;
    size_t row_tasks, column_tasks, block_k;
    bool is_staged, finishes;
    atomic_bool failed;
} job;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceiling(size_t a, size_t b) { return (a + b - 1) / b; }

static const char *element(const void *base, ck_type type, ptrdiff_t at) {
    return (const char *)base + at * (ptrdiff_t)ck_type_size(type);
}

static ptrdiff_t b_row(const ck_gemm *g) { return g->b_transposed ? 1 : g->ldb; }
static ptrdiff_t b_column(const ck_gemm *g) { return g->b_transposed ? g->ldb : 1; }

static void pack_panel(const job *j, size_t panel, size_t from_k, size_t k, float *to) {
    const ck_gemm *g = j->g;
    size_t column = j->column + panel * j->kernels->nr;
    size_t columns = least(g->n - column, j->kernels->nr);
    if (j->source) {
        j->source->fn(j->source->context, column, columns, from_k, k, to);
    } else {
        ptrdiff_t at = (ptrdiff_t)from_k * b_row(g) + (ptrdiff_t)column * b_column(g);
        j->kernels->pack_b(g->b_type, element(j->b, g->b_type, at), b_row(g), b_column(g), k, columns, to);
    }
}

// Row panels first_row ..< last_row by column panels first ..< last.
static void multiply(job *j, size_t first_row, size_t last_row, size_t first, size_t last) {
    const ck_gemm *g = j->g;
    const ck_gemm_kernels *kernels = j->kernels;
    size_t nr = kernels->nr, top = ck_panel_start(first_row, j->row_panels, j->rows);
    size_t height = ck_panel_start(last_row, j->row_panels, j->rows) - top;
    size_t step_k = j->block_k ? j->block_k : 1, panel_size = nr * ck_type_size(j->panel_type);
    float *packed = NULL, *stage = NULL;
    size_t stage_ld = (last - first) * nr;
    if (!j->panels_b) packed = ck_scratch(CK_SCRATCH_PANEL, (last - first) * step_k * nr * sizeof(float));
    if (j->is_staged) stage = ck_scratch(CK_SCRATCH_STAGE, height * stage_ld * sizeof(float));
    if ((!j->panels_b && !packed) || (j->is_staged && !stage)) {
        atomic_store(&j->failed, true);
        return;
    }
    int type = j->panel_type == CK_F32 ? 0 : j->panel_type == CK_F16 ? 1 : 2;
    size_t k0 = 0;
    do {
        size_t k = least(step_k, g->k - k0);
        bool is_last = k0 + k >= g->k;
        for (size_t q = first; packed && q < last; q++) pack_panel(j, q, k0, k, packed + (q - first) * k * nr);
        size_t group = A_CACHE / ((k ? k : 1) * kernels->mr);
        if (group == 0) group = 1;
        for (size_t p0 = first_row; p0 < last_row; p0 += group) {
            for (size_t q = first; q < last; q++) {
                const void *b = packed ? (const void *)(packed + (q - first) * k * nr)
                                       : (const void *)(j->panels_b + (q * g->k + k0) * panel_size);
                size_t column = j->column + q * nr, columns = least(g->n - column, nr);
                for (size_t p = p0; p < last_row && p < p0 + group; p++) {
                    size_t start = ck_panel_start(p, j->row_panels, j->rows);
                    size_t rows = ck_panel_start(p + 1, j->row_panels, j->rows) - start;
                    ptrdiff_t ld = stage ? (ptrdiff_t)stage_ld : g->ldc;
                    float *to = stage ? stage + (start - top) * stage_ld + (q - first) * nr
                                      : (float *)j->c + (ptrdiff_t)(j->row + start) * ld + (ptrdiff_t)column;
                    kernels->micro[type][columns > kernels->width][rows - 1](
                        k, j->panels_a + start * g->k + k0 * rows, b, to, ld, columns, k0 > 0);
                    if (is_last && j->finishes) {
                        kernels->finish(&g->epilogue, j->residual, j->row + start, column, rows, columns, to, ld,
                            g->c_type, j->c, g->ldc);
                    }
                }
            }
        }
        k0 += k;
    } while (k0 < g->k);
}

static void run_tasks(void *context, size_t begin, size_t end) {
    job *j = context;
    for (size_t task = begin; task < end; task++) {
        size_t r = task % j->row_tasks, c = task / j->row_tasks;
        size_t first_row = j->row_panels * r / j->row_tasks, last_row = j->row_panels * (r + 1) / j->row_tasks;
        size_t first = j->column_panels * c / j->column_tasks, last = j->column_panels * (c + 1) / j->column_tasks;
        // What is packed or staged here is bounded; what comes packed needs no cutting.
        size_t width = last - first;
        if (!j->panels_b) width = B_CACHE / (j->kernels->nr * (j->block_k ? j->block_k : 1));
        if (j->is_staged) width = least(width, 4);
        if (width == 0) width = 1;
        for (size_t q = first; q < last; q += width) multiply(j, first_row, last_row, q, least(last, q + width));
    }
}

static void pack_a_panels(void *context, size_t begin, size_t end) {
    job *j = context;
    const ck_gemm *g = j->g;
    ptrdiff_t row = g->a_transposed ? 1 : g->lda, column = g->a_transposed ? g->lda : 1;
    for (size_t p = begin; p < end; p++) {
        size_t start = ck_panel_start(p, j->row_panels, j->rows);
        size_t rows = ck_panel_start(p + 1, j->row_panels, j->rows) - start;
        const char *from = element(j->a, g->a_type, (ptrdiff_t)(j->row + start) * row);
        j->kernels->pack_a(g->a_type, from, row, column, rows, g->k, (float *)j->panels_a + start * g->k);
    }
}

static void pack_b_panels(void *context, size_t begin, size_t end) {
    job *j = context;
    size_t size = j->kernels->nr * j->g->k;
    for (size_t q = begin; q < end; q++) pack_panel(j, q, 0, j->g->k, (float *)(void *)j->panels_b + q * size);
}

static void choose_tasks(job *j) {
    const ck_gemm *g = j->g;
    double bytes = 16.0 * (double)j->columns * (double)g->k;
    double work = 2.0 * (double)j->rows * (double)j->columns * (double)g->k + bytes;
    size_t wanted = 8 * j->threads;
    if (work < (double)wanted * TASK_WORK) wanted = (size_t)(work / TASK_WORK);
    if (wanted < 1 || j->threads == 1) wanted = 1;
    j->column_tasks = least(j->column_panels, wanted);
    // Splitting rows makes each task pack the same columns again.
    if (!j->panels_b && j->column_tasks >= 2 * j->threads) wanted = j->column_tasks;
    j->row_tasks = least(j->row_panels, ceiling(wanted, j->column_tasks));
}

static size_t grain_of(size_t elements) { return elements >= 32768 ? 1 : 32768 / (elements ? elements : 1); }

static bool run_block(job *j) {
    const ck_gemm *g = j->g;
    choose_tasks(j);
    if (!g->packed_a) {
        j->panels_a = ck_scratch(CK_SCRATCH_A, j->rows * g->k * sizeof(float));
        if (!j->panels_a) return false;
        ck_parallel_for(j->row_panels, grain_of(j->kernels->mr * g->k), pack_a_panels, j);
    }
    ck_parallel_for(j->row_tasks * j->column_tasks, 1, run_tasks, j);
    return !atomic_load(&j->failed);
}

static bool run_rows(job *j, size_t block_rows) {
    const ck_gemm *g = j->g;
    size_t blocks = ceiling(g->m, block_rows);
    for (size_t i = 0; i < blocks; i++) {
        j->row = ck_panel_start(i, blocks, g->m);
        j->rows = ck_panel_start(i + 1, blocks, g->m) - j->row;
        j->row_panels = ceiling(j->rows, j->kernels->mr);
        if (!run_block(j)) return false;
    }
    return true;
}

static bool run_packed(job *j) {
    const ck_gemm *g = j->g;
    size_t nr = j->kernels->nr, mr = j->kernels->mr, k = g->k ? g->k : 1;
    size_t block_rows = g->packed_a ? g->m : least(g->m, A_BLOCK / k < mr ? mr : A_BLOCK / k);
    size_t panels = ceiling(g->n, nr), block_panels = panels;
    // Columns for every thread: then each packs its own.
    bool is_shared = !g->packed_b && !j->source && j->threads > 1 && panels < 4 * j->threads;
    if (is_shared) block_panels = least(panels, B_BLOCK / (k * nr) < 1 ? 1 : B_BLOCK / (k * nr));
    for (size_t q = 0; q < panels; q += block_panels) {
        j->column = q * nr;
        j->column_panels = least(block_panels, panels - q);
        j->columns = least(g->n - j->column, j->column_panels * nr);
        if (is_shared) {
            j->panels_b = ck_scratch(CK_SCRATCH_B, j->column_panels * nr * k * sizeof(float));
            if (!j->panels_b) return false;
            ck_parallel_for(j->column_panels, grain_of(nr * k), pack_b_panels, j);
        }
        if (!run_rows(j, block_rows)) return false;
    }
    return true;
}

static void run_thin_blocks(void *context, size_t begin, size_t end) {
    job *j = context;
    const ck_gemm *g = j->g;
    float local[THIN_ROWS * THIN_COLUMNS];
    for (size_t i = begin; i < end; i++) {
        size_t column = i * THIN_COLUMNS, columns = least(g->n - column, THIN_COLUMNS);
        const char *b = element(j->b, g->b_type, (ptrdiff_t)column * b_column(g));
        float *to = j->is_staged ? local : (float *)j->c + column;
        ptrdiff_t ld = j->is_staged ? THIN_COLUMNS : g->ldc;
        j->kernels->thin(g->m, g->k, columns, j->panels_a, (ptrdiff_t)j->rows, g->b_type, b, b_row(g), b_column(g),
            to, ld);
        if (j->finishes) {
            j->kernels->finish(&g->epilogue, j->residual, 0, column, g->m, columns, to, ld, g->c_type, j->c, g->ldc);
        }
    }
}

static float widened(ck_type type, const void *p, ptrdiff_t at) {
    if (type == CK_F32) return ((const float *)p)[at];
    uint16_t bits = ((const uint16_t *)p)[at];
    return type == CK_F16 ? ck_f16_to_f32(bits) : ck_bf16_to_f32(bits);
}

// A few rows by a B used once: packing it would cost more than the product. `rows` is A's leading dimension here.
static bool run_thin(job *j) {
    const ck_gemm *g = j->g;
    j->panels_a = (const float *)(const void *)j->a;
    j->rows = (size_t)g->lda;
    if (g->a_type != CK_F32 || g->a_transposed) {
        float *wide = ck_scratch(CK_SCRATCH_A, g->m * g->k * sizeof(float));
        if (!wide) return false;
        for (size_t i = 0; i < g->m; i++) {
            for (size_t s = 0; s < g->k; s++) {
                ptrdiff_t at = g->a_transposed ? (ptrdiff_t)s * g->lda + (ptrdiff_t)i
                                               : (ptrdiff_t)i * g->lda + (ptrdiff_t)s;
                wide[i * g->k + s] = widened(g->a_type, j->a, at);
            }
        }
        j->panels_a = wide;
        j->rows = g->k;
    }
    ck_parallel_for(ceiling(g->n, THIN_COLUMNS), grain_of(g->k * THIN_COLUMNS), run_thin_blocks, j);
    return true;
}

static bool run_one(const ck_gemm *g, const ck_panel_source *source, size_t index) {
    job j = {.g = g, .source = source, .panel_type = CK_F32};
    int level = ck_cpu_level();
    ptrdiff_t i = (ptrdiff_t)index;
    if (g->packed_a) {
        const char *packed = (const char *)g->packed_a + index * g->packed_a_stride;
        j.panels_a = ck_packed_elements(packed, CK_PACKED_A, g->m, g->k);
        if (!j.panels_a) return false;
        level = (int)((const ck_packed_header *)(const void *)packed)->level;
    } else {
        j.a = element(g->a, g->a_type, i * g->a_stride);
    }
    if (g->packed_b) {
        const char *packed = (const char *)g->packed_b + index * g->packed_b_stride;
        const ck_packed_header *header = (const void *)packed;
        j.panels_b = ck_packed_elements(packed, CK_PACKED_B, g->n, g->k);
        if (!j.panels_b || (g->packed_a && (int)header->level != level)) return false;
        level = (int)header->level;
        j.panel_type = (ck_type)header->type;
    } else if (!source) {
        j.b = element(g->b, g->b_type, i * g->b_stride);
    }
    j.kernels = ck_gemm_kernels_at(level);
    j.threads = ck_is_inside_loop() ? 1 : (size_t)ck_thread_count();
    j.c = (char *)g->c + i * g->c_stride * (ptrdiff_t)ck_type_size(g->c_type);
    const ck_epilogue *e = &g->epilogue;
    if (e->residual) j.residual = element(e->residual, e->residual_type, i * e->residual_stride);
    // Sums in progress go to C itself where it can hold them.
    j.is_staged = g->c_type != CK_F32 || j.residual == j.c;
    j.finishes = j.is_staged || e->bias || e->residual || e->activation != CK_ACT_NONE || e->clamps;
    j.block_k = ceiling(g->k, ceiling(g->k ? g->k : 1, BLOCK_K));
    bool is_thin = g->m <= THIN_ROWS && !g->packed_a && !g->packed_b && !source;
    return is_thin ? run_thin(&j) : run_packed(&j);
}

typedef struct {
    const ck_gemm *g;
    const ck_panel_source *source;
    atomic_bool failed;
} batch_job;

static void run_batch(void *context, size_t begin, size_t end) {
    batch_job *job = context;
    for (size_t i = begin; i < end; i++) {
        if (!run_one(job->g, job->source, i)) atomic_store(&job->failed, true);
    }
}

// One tall product in place of several that share B.
static bool merge_batch(ck_gemm *g) {
    const ck_epilogue *e = &g->epilogue;
    ptrdiff_t m = (ptrdiff_t)g->m;
    if (g->packed_a || g->a_transposed || (g->packed_b ? g->packed_b_stride != 0 : g->b_stride != 0)) return false;
    if (g->a_stride != m * g->lda || g->c_stride != m * g->ldc || (e->bias && e->bias_per_row)) return false;
    if (e->residual && e->residual_stride != m * e->residual_ld) return false;
    g->m *= g->batch;
    g->batch = 1;
    return true;
}

// A matrix times a column is a row times the transposed matrix.
static void flip_column(ck_gemm *g) {
    const ck_gemm old = *g;
    if (g->n != 1 || g->m == 1 || g->ldc != 1 || g->packed_a || g->packed_b) return;
    if (g->epilogue.residual && g->epilogue.residual_ld != 1) return;
    g->m = 1;
    g->n = old.m;
    g->a = old.b, g->a_type = old.b_type, g->a_transposed = !old.b_transposed;
    g->lda = old.ldb, g->a_stride = old.b_stride;
    g->b = old.a, g->b_type = old.a_type, g->b_transposed = !old.a_transposed;
    g->ldb = old.lda, g->b_stride = old.a_stride;
    g->ldc = (ptrdiff_t)old.m;
    g->epilogue.residual_ld = (ptrdiff_t)old.m;
    g->epilogue.bias_per_row = !old.epilogue.bias_per_row;
}

bool ck_gemm_run_from(const ck_gemm *gemm, const ck_panel_source *source) {
    ck_gemm g = *gemm;
    if (g.m == 0 || g.n == 0 || g.batch == 0) return true;
    if (!source) {
        if (g.batch > 1) merge_batch(&g);
        flip_column(&g);
    }
    double work = 2.0 * (double)g.m * (double)g.n * (double)g.k;
    size_t threads = (size_t)ck_thread_count();
    if (g.batch > 1 && (g.batch >= 4 * threads || work < 4.0 * TASK_WORK)) {
        batch_job job = {.g = &g, .source = source};
        size_t grain = work > TASK_WORK / 2 ? 1 : (size_t)(TASK_WORK / 2 / (work + 1000));
        ck_parallel_for(g.batch, grain, run_batch, &job);
        return !atomic_load(&job.failed);
    }
    for (size_t i = 0; i < g.batch; i++) {
        if (!run_one(&g, source, i)) return false;
    }
    return true;
}

bool ck_gemm_run(const ck_gemm *gemm) { return ck_gemm_run_from(gemm, NULL); }
