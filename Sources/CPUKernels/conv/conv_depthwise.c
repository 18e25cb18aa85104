// One filter a channel, over one or two dimensions. Each task copies the rows that a band of outputs reads, with their
// zeros around them, widened, and each stride's columns together: what remains are plain loads.

#include <stdatomic.h>

#include "conv_internal.h"
#include "thread_pool.h"

enum { BAND_FLOATS = 6144, TASK_WORK = 1 << 18 };

typedef struct {
    const ck_depthwise_plan *plan;
    const ck_conv_kernels *kernels;
    const ck_gemm_kernels *gemm_kernels;
    const ck_epilogue *epilogue;
    const char *input;
    char *output;
    size_t bands, band_rows, phase_size, row_size, multiplier;
    bool is_staged, finishes;
    atomic_bool failed;
} job;

static void run_bands(void *context, size_t begin, size_t end) {
    job *j = context;
    const ck_conv *c = &j->plan->conv;
    size_t width = j->plan->out[2], height = j->plan->out[1], reach = (c->kernel[1] - 1) * c->dilation[1] + 1;
    size_t rows_in = (j->band_rows - 1) * c->stride[1] + reach;
    float *band = ck_scratch(CK_SCRATCH_INNER, (rows_in * j->row_size + CK_BAND_SLACK) * sizeof(float));
    float *stage = j->is_staged ? ck_scratch(CK_SCRATCH_STAGE, j->band_rows * width * sizeof(float)) : NULL;
    if (!band || (j->is_staged && !stage)) {
        atomic_store(&j->failed, true);
        return;
    }
    for (size_t task = begin; task < end; task++) {
        size_t channel = task / j->bands, row = task % j->bands * j->band_rows;
        ck_depthwise d = {
            .kernel = {c->kernel[1], c->kernel[2]}, .dilation = {c->dilation[1], c->dilation[2]},
            .stride = {c->stride[1], c->stride[2]}, .width = width, .phase_size = j->phase_size,
            .rows = height - row < j->band_rows ? height - row : j->band_rows};
        const ck_band rows = {
            .input = j->input, .type = c->in_type, .at = (ptrdiff_t)(channel * c->in[1] * c->in[2]),
            .height = c->in[1], .width = c->in[2], .pad_top = c->pad_before[1], .pad = c->pad_before[2],
            .stride = c->stride[2], .first = row * c->stride[1], .rows = (d.rows - 1) * c->stride[1] + reach,
            .phase_size = j->phase_size};
        j->kernels->fill(&rows, band);
        for (size_t i = 0; i < j->multiplier; i++) {
            // Output channels count through the batch; weights and biases don't.
            size_t out = channel * j->multiplier + i, filter = out % c->out_channels;
            d.weights = j->plan->weights + filter * c->kernel[1] * c->kernel[2];
            ptrdiff_t image = (ptrdiff_t)(out - filter) * (ptrdiff_t)(height * width);
            char *to = j->output + image * (ptrdiff_t)ck_type_size(c->out_type);
            float *sums = stage ? stage : (float *)(void *)to + (filter * height + row) * width;
            j->kernels->depthwise(&d, band, sums);
            if (!j->finishes) continue;
            const char *residual = j->epilogue->residual;
            if (residual) residual += image * (ptrdiff_t)ck_type_size(j->epilogue->residual_type);
            j->gemm_kernels->finish(j->epilogue, residual, filter, row * width, 1, d.rows * width, sums, 0,
                c->out_type, to, (ptrdiff_t)(height * width));
        }
    }
}

bool ck_depthwise_run(const ck_depthwise_plan *plan, const void *input, void *output, const ck_epilogue *epilogue) {
    const ck_conv *c = &plan->conv;
    ck_epilogue e = *epilogue;
    e.bias_per_row = true;
    e.residual_ld = (ptrdiff_t)(plan->out[1] * plan->out[2]);
    job j = {.plan = plan, .epilogue = &e, .input = input, .output = output};
    j.kernels = ck_conv_kernels_at(plan->level);
    j.gemm_kernels = ck_gemm_kernels_at(plan->level);
    j.multiplier = c->out_channels / c->in_channels;
    j.is_staged = c->out_type != CK_F32 || e.residual == output;
    j.finishes = j.is_staged || e.bias || e.residual || e.activation != CK_ACT_NONE || e.clamps;
    j.phase_size = plan->out[2] + (c->kernel[2] - 1) * c->dilation[2] / c->stride[2] + 1;
    j.row_size = j.phase_size * c->stride[2];
    // As many rows as the first-level cache takes.
    size_t reach = (c->kernel[1] - 1) * c->dilation[1] + 1, fitting = BAND_FLOATS / j.row_size;
    j.band_rows = fitting > reach ? (fitting - reach) / c->stride[1] + 1 : 1;
    if (j.band_rows >= 4) j.band_rows &= ~(size_t)3;
    if (j.band_rows > plan->out[1]) j.band_rows = plan->out[1];
    j.bands = (plan->out[1] + j.band_rows - 1) / j.band_rows;
    size_t work = j.band_rows * plan->out[2] * c->kernel[1] * c->kernel[2] * j.multiplier;
    ck_parallel_for(c->batch * c->in_channels * j.bands, TASK_WORK / (work + 1000) + 1, run_bands, &j);
    return !atomic_load(&j.failed);
}
