// Chooses how a convolution runs, packs its weights for that, and runs it.

#include "conv.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "conv_internal.h"
#include "thread_pool.h"

typedef enum {
    ROUTE_DENSE,      // one output position: a product with the transposed weights
    ROUTE_POINT,      // 1 × 1: the input is the right operand as it lies
    ROUTE_DEPTHWISE,  // see conv_depthwise.c
    ROUTE_GATHER,     // the right operand is gathered from the input, panel by panel
} route;

// A transposed convolution's outputs that are `stride` apart read the same taps: each set is a convolution of its own.
typedef struct {
    ck_taps taps;
    size_t first[3];
    char *packed;  // one left operand a group
} phase;

struct ck_conv_plan {
    ck_conv conv;
    route route;
    size_t out[3], in_size, out_size;  // sizes: elements of one channel
    size_t m, k, packed_stride;
    size_t phase_count;
    phase *phases;
    ptrdiff_t *offsets;
    ck_depthwise_plan depthwise;
    void *packed;
};

enum { SMALL_WORK = 8 << 20 };

const ck_conv_kernels *ck_conv_kernels_at(int level) {
#if defined(__x86_64__)
    if (level == 2) return &ck_conv_kernels_avx512;
    if (level == 1) return &ck_conv_kernels_avx2;
#endif
    (void)level;
    return &ck_conv_kernels_portable;
}

bool ck_conv_out_size(const ck_conv *c, size_t out[3]) {
    if (c->groups == 0 || c->in_channels % c->groups != 0 || c->out_channels % c->groups != 0) return false;
    for (int i = 0; i < 3; i++) {
        if (c->kernel[i] == 0 || c->stride[i] == 0 || c->dilation[i] == 0) return false;
        size_t reach = (c->kernel[i] - 1) * c->dilation[i] + 1, pads = c->pad_before[i] + c->pad_after[i];
        if (c->transposed) {
            size_t whole = c->in[i] == 0 ? 0 : (c->in[i] - 1) * c->stride[i] + reach + c->out_pad[i];
            if (whole < pads) return false;
            out[i] = whole - pads;
        } else {
            if (c->in[i] + pads < reach) return false;
            out[i] = (c->in[i] + pads - reach) / c->stride[i] + 1;
        }
    }
    return true;
}

static float weight(const ck_conv *c, const void *weights, size_t at) {
    if (c->weight_type == CK_F32) return ((const float *)weights)[at];
    uint16_t bits = ((const uint16_t *)weights)[at];
    return c->weight_type == CK_F16 ? ck_f16_to_f32(bits) : ck_bf16_to_f32(bits);
}

static void *aligned(size_t bytes) { return aligned_alloc(64, (bytes + 127) & ~(size_t)63); }

static size_t volume(const size_t size[3]) { return size[0] * size[1] * size[2]; }

static bool plan_dense(ck_conv_plan *p, const void *weights) {
    const ck_conv *c = &p->conv;
    p->packed = aligned(ck_gemm_packed_b_size(c->weight_type, p->k, p->m));
    if (!p->packed) return false;
    ck_gemm_pack_b(c->weight_type, p->k, p->m, weights, (ptrdiff_t)p->k, true, p->packed);
    return true;
}

static bool plan_depthwise(ck_conv_plan *p, const void *weights) {
    size_t count = p->conv.out_channels * volume(p->conv.kernel);
    float *wide = aligned(count * sizeof(float));
    if (!wide) return false;
    for (size_t i = 0; i < count; i++) wide[i] = weight(&p->conv, weights, i);
    p->packed = wide;
    p->depthwise = (ck_depthwise_plan){.conv = p->conv, .weights = wide, .level = ck_cpu_level()};
    memcpy(p->depthwise.out, p->out, sizeof p->out);
    return true;
}

// The taps that outputs first, first + stride, … read, and which kernel elements they are.
static size_t find_taps(const ck_conv *c, int i, size_t first, ptrdiff_t *offsets, size_t *elements) {
    size_t count = 0;
    ptrdiff_t stride = (ptrdiff_t)c->stride[i];
    for (size_t k = 0; k < c->kernel[i]; k++) {
        ptrdiff_t shift = (ptrdiff_t)(k * c->dilation[i]);
        ptrdiff_t offset = shift - (ptrdiff_t)c->pad_before[i];
        if (c->transposed) {
            ptrdiff_t back = (ptrdiff_t)(first + c->pad_before[i]) - shift;
            if (back % stride != 0) continue;
            offset = back / stride;
        }
        offsets[count] = offset;
        elements[count++] = k;
    }
    return count;
}

// One phase's weights as left operands, out_channels / groups × (channel, tap).
static bool pack_phase(ck_conv_plan *p, phase *f, const void *weights, size_t *const elements[3]) {
    const ck_conv *c = &p->conv;
    const size_t *taps = f->taps.taps;
    size_t channels = c->in_channels / c->groups, k = channels * volume(taps), kernel = volume(c->kernel);
    size_t stride = (ck_gemm_packed_a_size(p->m, k) + 63) & ~(size_t)63;
    float *a = malloc(p->m * k * sizeof(float) + 1);
    f->packed = aligned(stride * c->groups);
    for (size_t group = 0; a && f->packed && group < c->groups; group++) {
        float *to = a;
        for (size_t m = 0; m < p->m; m++) {
            for (size_t channel = 0; channel < channels; channel++) {
                size_t in = group * channels + channel, out = group * p->m + m;
                size_t base = (c->transposed ? in * p->m + m : out * channels + channel) * kernel;
                for (size_t z = 0; z < taps[0]; z++) {
                    for (size_t y = 0; y < taps[1]; y++) {
                        size_t row = (elements[0][z] * c->kernel[1] + elements[1][y]) * c->kernel[2];
                        for (size_t x = 0; x < taps[2]; x++) *to++ = weight(c, weights, base + row + elements[2][x]);
                    }
                }
            }
        }
        ck_gemm_pack_a(CK_F32, p->m, k, a, (ptrdiff_t)k, false, f->packed + group * stride);
    }
    free(a);
    return a && f->packed;
}

static bool plan_phases(ck_conv_plan *p, const void *weights) {
    const ck_conv *c = &p->conv;
    size_t steps[3] = {1, 1, 1}, sum = c->kernel[0] + c->kernel[1] + c->kernel[2];
    for (int i = 0; c->transposed && i < 3; i++) steps[i] = c->stride[i] < p->out[i] ? c->stride[i] : p->out[i];
    p->phase_count = volume(steps);
    p->phases = calloc(p->phase_count, sizeof(phase));
    p->offsets = calloc(p->phase_count * sum, sizeof(ptrdiff_t));
    size_t *elements = calloc(sum, sizeof(size_t));
    bool works = p->phases && p->offsets && elements;
    for (size_t at = 0; works && at < p->phase_count; at++) {
        phase *f = &p->phases[at];
        size_t first[3] = {at / steps[2] / steps[1], at / steps[2] % steps[1], at % steps[2]};
        ptrdiff_t *offsets = p->offsets + at * sum;
        size_t *own[3] = {elements, elements + c->kernel[0], elements + c->kernel[0] + c->kernel[1]};
        for (int i = 0; i < 3; i++) {
            f->first[i] = first[i];
            f->taps.offset[i] = offsets;
            f->taps.taps[i] = find_taps(c, i, first[i], offsets, own[i]);
            f->taps.in[i] = c->in[i];
            f->taps.out[i] = c->transposed ? (p->out[i] - first[i] + c->stride[i] - 1) / c->stride[i] : p->out[i];
            f->taps.stride[i] = c->transposed ? 1 : c->stride[i];
            offsets += c->kernel[i];
        }
        works = pack_phase(p, f, weights, own);
    }
    free(elements);
    return works;
}

static bool is_dense(const ck_conv *c, const size_t out[3]) {
    if (c->transposed || c->groups != 1 || volume(out) != 1) return false;
    for (int i = 0; i < 3; i++) {
        if (c->kernel[i] != c->in[i] || c->pad_before[i] != 0) return false;
    }
    return true;
}

static bool is_point(const ck_conv *c) {
    if (c->transposed) return false;
    for (int i = 0; i < 3; i++) {
        if (c->kernel[i] != 1 || c->stride[i] != 1 || c->pad_before[i] != 0 || c->pad_after[i] != 0) return false;
    }
    return true;
}

static bool is_depthwise(const ck_conv *c) {
    return !c->transposed && c->groups == c->in_channels && c->in[0] == 1 && c->kernel[0] == 1
        && c->pad_before[0] == 0 && c->pad_after[0] == 0;
}

static bool is_float(ck_type type) { return type == CK_F32 || type == CK_F16 || type == CK_BF16; }

ck_conv_plan *ck_conv_plan_create(const ck_conv *conv, const void *weights) {
    if (!is_float(conv->in_type) || !is_float(conv->weight_type) || !is_float(conv->out_type)) return NULL;
    size_t out[3];
    if (!ck_conv_out_size(conv, out)) return NULL;
    ck_conv_plan *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->conv = *conv;
    memcpy(p->out, out, sizeof out);
    p->in_size = volume(conv->in);
    p->out_size = volume(out);
    p->m = conv->out_channels / conv->groups;
    p->k = conv->in_channels / conv->groups * volume(conv->kernel);
    if (conv->batch * conv->out_channels * p->out_size == 0) return p;
    bool works;
    if (is_dense(conv, out)) {
        p->route = ROUTE_DENSE;
        works = plan_dense(p, weights);
    } else if (is_depthwise(conv) && conv->in_channels > 0 && p->m > 0) {
        p->route = ROUTE_DEPTHWISE;
        works = plan_depthwise(p, weights);
    } else {
        p->route = is_point(conv) ? ROUTE_POINT : ROUTE_GATHER;
        works = plan_phases(p, weights);
    }
    if (works) return p;
    ck_conv_plan_destroy(p);
    return NULL;
}

void ck_conv_plan_destroy(ck_conv_plan *plan) {
    if (!plan) return;
    for (size_t i = 0; plan->phases && i < plan->phase_count; i++) free(plan->phases[i].packed);
    free(plan->phases);
    free(plan->offsets);
    free(plan->packed);
    free(plan);
}

// Running.

typedef struct {
    const ck_conv_plan *plan;
    const char *input;
    char *output;
    ck_epilogue epilogue;
    atomic_bool failed;
} job;

static bool run_dense(const job *j) {
    const ck_conv_plan *p = j->plan;
    const ck_conv *c = &p->conv;
    ck_gemm g = {
        .m = c->batch, .n = p->m, .k = p->k, .batch = 1, .a = j->input, .a_type = c->in_type, .lda = (ptrdiff_t)p->k,
        .packed_b = p->packed, .c = j->output, .c_type = c->out_type, .ldc = (ptrdiff_t)p->m, .epilogue = j->epilogue};
    g.epilogue.bias_per_row = false;
    g.epilogue.residual_ld = (ptrdiff_t)p->m;
    return ck_gemm_run(&g);
}

typedef struct {
    ck_gather gather;
    const ck_conv_kernels *kernels;
} panel_context;

static void gather_panel(
    const void *context, size_t column, size_t columns, size_t k_begin, size_t k, float *panel) {
    const panel_context *own = context;
    own->kernels->gather(&own->gather, column, columns, k_begin, k, panel);
}

// Puts a phase's outputs, m × its positions, where they belong among a channel's.
static void scatter(const ck_conv_plan *p, const phase *f, const float *from, float *to) {
    const size_t *stride = p->conv.stride, *count = f->taps.out;
    for (size_t m = 0; m < p->m; m++, to += p->out_size) {
        for (size_t z = 0; z < count[0]; z++) {
            for (size_t y = 0; y < count[1]; y++, from += count[2]) {
                size_t row = (f->first[0] + z * stride[0]) * p->out[1] + f->first[1] + y * stride[1];
                float *q = to + row * p->out[2] + f->first[2];
                for (size_t x = 0; x < count[2]; x++) q[x * stride[2]] = from[x];
            }
        }
    }
}

// One group of one image.
static bool run_item(const job *j, size_t item) {
    const ck_conv_plan *p = j->plan;
    const ck_conv *c = &p->conv;
    size_t channels = c->in_channels / c->groups, group = item % c->groups;
    const char *input = j->input + item * channels * p->in_size * ck_type_size(c->in_type);
    char *output = j->output + item * p->m * p->out_size * ck_type_size(c->out_type);
    ck_gemm g = {
        .m = p->m, .n = p->out_size, .batch = 1, .b = input, .b_type = c->in_type, .ldb = (ptrdiff_t)p->in_size,
        .c = output, .c_type = c->out_type, .ldc = (ptrdiff_t)p->out_size, .epilogue = j->epilogue};
    ck_epilogue *e = &g.epilogue;
    e->bias_per_row = true;
    if (e->bias) e->bias += group * p->m;
    if (e->residual) {
        e->residual = (const char *)e->residual + item * p->m * p->out_size * ck_type_size(e->residual_type);
    }
    e->residual_ld = (ptrdiff_t)p->out_size;
    bool is_whole = p->phase_count == 1;
    float *stage = NULL, *part = NULL;
    if (!is_whole) {
        bool is_direct = c->out_type == CK_F32 && e->residual != output;
        size_t size = p->m * p->out_size;
        stage = ck_scratch(CK_SCRATCH_OUTER, (is_direct ? size : 2 * size) * sizeof(float));
        if (!stage) return false;
        part = stage;
        stage = is_direct ? (float *)(void *)output : part + size;
    }
    for (size_t i = 0; i < p->phase_count; i++) {
        const phase *f = &p->phases[i];
        ck_gemm own = g;
        own.k = channels * volume(f->taps.taps);
        own.packed_a = f->packed + group * ((ck_gemm_packed_a_size(p->m, own.k) + 63) & ~(size_t)63);
        if (!is_whole) {
            own.n = volume(f->taps.out);
            own.c = part, own.c_type = CK_F32, own.ldc = (ptrdiff_t)own.n;
            own.epilogue = (ck_epilogue){0};
        }
        if (p->route == ROUTE_POINT) return ck_gemm_run(&own);
        // Panels as wide as the weights were packed for.
        int level = (int)((const ck_packed_header *)(const void *)f->packed)->level;
        panel_context context = {{f->taps, input, c->in_type}, ck_conv_kernels_at(level)};
        ck_panel_source source = {gather_panel, &context};
        if (!ck_gemm_run_from(&own, &source)) return false;
        if (!is_whole) scatter(p, f, part, stage);
    }
    if (!is_whole) {
        ck_gemm_kernels_at(ck_cpu_level())->finish(e, e->residual, 0, 0, p->m, p->out_size, stage,
            (ptrdiff_t)p->out_size, c->out_type, output, (ptrdiff_t)p->out_size);
    }
    return true;
}

static void run_items(void *context, size_t begin, size_t end) {
    job *j = context;
    for (size_t item = begin; item < end; item++) {
        if (!run_item(j, item)) atomic_store(&j->failed, true);
    }
}

bool ck_conv_run(const ck_conv_plan *plan, const void *input, void *output, const ck_epilogue *epilogue) {
    const ck_conv *c = &plan->conv;
    if (c->batch * c->out_channels * plan->out_size == 0) return true;
    job j = {.plan = plan, .input = input, .output = output};
    if (epilogue) j.epilogue = *epilogue;
    if (plan->route == ROUTE_DENSE) return run_dense(&j);
    if (plan->route == ROUTE_DEPTHWISE) return ck_depthwise_run(&plan->depthwise, input, output, &j.epilogue);
    size_t items = c->batch * c->groups;
    double work = 2.0 * (double)plan->m * (double)plan->out_size * (double)plan->k;
    if (items > 1 && (items >= 4 * (size_t)ck_thread_count() || work < SMALL_WORK)) {
        size_t grain = work > 1e6 ? 1 : (size_t)(1e6 / (work + 1000));
        ck_parallel_for(items, grain, run_items, &j);
    } else {
        run_items(&j, 0, items);
    }
    return !atomic_load(&j.failed);
}
