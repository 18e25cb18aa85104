#include "interpolate.h"

#include <math.h>
#include <stdlib.h>

#include "../vector_kernels.h"
#include "cpu_kernels.h"

enum { MAX_RANK = 8, BLOCK = 512 };

static bool is_float(ck_type type) { return type == CK_F16 || type == CK_BF16 || type == CK_F32; }

/// A coordinate on the grid: two neighbours and the second one's share.
typedef struct {
    int64_t low, high;
    float share;
} place;

/// NaN goes to the first element.
static float clamp(float x, int64_t extent) {
    float last = (float)(extent - 1);
    return x > last ? last : x > 0 ? x : 0;
}

static place locate(float x, int64_t extent) {
    x = clamp(x, extent);
    int64_t low = (int64_t)floorf(x);
    if (low > extent - 1) low = extent - 1;
    return (place){low, low + 1 < extent ? low + 1 : low, x - (float)low};
}

static int64_t nearest(float x, int64_t extent) {
    int64_t index = (int64_t)rintf(clamp(x, extent));
    return index < extent ? index : extent - 1;
}

static float coordinate(int64_t i, float scale, float offset) { return ((float)i + 0.5f - offset) / scale - 0.5f; }

/// One dimension's pass: [outer, count, inner] of `from` to [outer, result, inner] of `to`, through floats.
typedef struct {
    ck_type from, to;
    const char *input;
    char *output;
    size_t count, result, inner;
    const place *places;
} pass;

/// Many columns: rows are mixed.
static void mix_rows(void *context, size_t begin, size_t end) {
    const pass *p = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t from_size = ck_type_size(p->from), to_size = ck_type_size(p->to);
    float a[BLOCK], b[BLOCK];
    for (size_t row = begin; row < end; row++) {
        place at = p->places[row % p->result];
        const char *base = p->input + row / p->result * p->count * p->inner * from_size;
        for (size_t i = 0; i < p->inner; i += BLOCK) {
            size_t n = p->inner - i < BLOCK ? p->inner - i : BLOCK;
            v->widen(p->from, a, base + ((size_t)at.low * p->inner + i) * from_size, n);
            if (at.share != 0) {
                v->widen(p->from, b, base + ((size_t)at.high * p->inner + i) * from_size, n);
                v->scale_row(a, a, n, 1 - at.share);
                v->scale_row(b, b, n, at.share);
                v->float_column(CK_REDUCE_SUM, a, b, n);
            }
            v->narrow(p->to, p->output + (row * p->inner + i) * to_size, a, n);
        }
    }
}

/// The last dimension, of floats: neighbours in a row are mixed.
static void mix_neighbours(void *context, size_t begin, size_t end) {
    const pass *p = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t to_size = ck_type_size(p->to);
    float result[BLOCK];
    for (size_t row = begin; row < end; row++) {
        const float *a = (const float *)(const void *)p->input + row * p->count;
        for (size_t i = 0; i < p->result; i += BLOCK) {
            size_t n = p->result - i < BLOCK ? p->result - i : BLOCK;
            for (size_t k = 0; k < n; k++) {
                place at = p->places[i + k];
                float x = a[at.low], mixed = x * (1 - at.share) + a[at.high] * at.share;
                // An infinite neighbour without a share must not turn this into NaN.
                result[k] = at.share == 0 ? x : mixed;
            }
            v->narrow(p->to, p->output + (row * p->result + i) * to_size, result, n);
        }
    }
}

static void run_pass(pass *p, size_t outer) {
    if (p->inner == 1) ck_parallel_for(outer, 8192 / p->result + 1, mix_neighbours, p);
    else ck_parallel_for(outer * p->result, 16384 / p->inner + 1, mix_rows, p);
}

static bool linear(
    ck_type type, void *output, const void *input, int rank, const int64_t *from, const int64_t *to,
    const float *scale, const float *offset) {
    // Mixing is a product over the dimensions: one at a time, the first one first.
    int changed[MAX_RANK], count = 0;
    for (int d = 0; d < rank; d++) {
        if (from[d] != to[d] || scale[d] != 1 || offset[d] != 0) changed[count++] = d;
    }
    size_t extents[MAX_RANK], total = 1;
    for (int d = 0; d < rank; d++) extents[d] = (size_t)from[d], total *= extents[d];
    if (count == 0) {
        memmove(output, input, total * ck_type_size(type));
        return true;
    }
    void *memory[2] = {NULL, NULL}, *widened = NULL;
    place *places = NULL;
    bool ok = true;
    pass p = {.from = type, .input = input};
    for (int i = 0; i < count && ok; i++) {
        int d = changed[i];
        size_t outer = 1;
        p.inner = 1, p.count = extents[d], p.result = (size_t)to[d];
        for (int e = 0; e < d; e++) outer *= extents[e];
        for (int e = d + 1; e < rank; e++) p.inner *= extents[e];
        extents[d] = p.result;
        bool last = i == count - 1;
        p.to = last ? type : CK_F32;
        free(memory[i % 2]);
        memory[i % 2] = last ? NULL : malloc(outer * p.result * p.inner * sizeof(float));
        p.output = last ? output : memory[i % 2];
        free(places);
        p.places = places = malloc(p.result * sizeof *places);
        ok = p.output != NULL && places != NULL;
        if (ok && p.inner == 1 && p.from != CK_F32) {
            // Only a first pass can meet them here.
            ok = (widened = malloc(outer * p.count * sizeof(float))) != NULL;
            if (ok) ck_cast(CK_F32, widened, p.from, p.input, outer * p.count);
            p.from = CK_F32, p.input = widened;
        }
        if (!ok) break;
        for (size_t k = 0; k < p.result; k++) {
            places[k] = locate(coordinate((int64_t)k, scale[d], offset[d]), (int64_t)p.count);
        }
        run_pass(&p, outer);
        p.from = p.to, p.input = p.output;
    }
    free(memory[0]);
    free(memory[1]);
    free(widened);
    free(places);
    return ok;
}

bool ck_interpolate(
    ck_interpolate_mode mode, ck_type type, void *output, const void *input, int rank, const int64_t *input_extents,
    const int64_t *output_extents, const float *scale, const float *offset) {
    if (rank < 1 || rank > MAX_RANK || (unsigned)type > CK_F64) return false;
    size_t entries = 0;
    bool empty = false;
    for (int d = 0; d < rank; d++) {
        if (input_extents[d] < 0 || output_extents[d] < 0) return false;
        entries += (size_t)output_extents[d];
        empty |= output_extents[d] == 0;
    }
    if (empty) return true;
    for (int d = 0; d < rank; d++) {
        if (input_extents[d] == 0) return false;
    }
    if (mode == CK_INTERPOLATE_LINEAR) {
        return is_float(type) && linear(type, output, input, rank, input_extents, output_extents, scale, offset);
    }
    int64_t *tables = malloc(entries * sizeof *tables), *entry = tables;
    if (tables == NULL) return false;
    for (int d = 0; d < rank; d++) {
        for (int64_t i = 0; i < output_extents[d]; i++) {
            *entry++ = nearest(coordinate(i, scale[d], offset[d]), input_extents[d]);
        }
    }
    ck_pick(ck_type_size(type), rank, output_extents, input_extents, tables, output, input, NULL);
    free(tables);
    return true;
}

static float load(ck_type type, const char *base, size_t i) {
    if (type == CK_F32) return ((const float *)(const void *)base)[i];
    uint16_t bits = ((const uint16_t *)(const void *)base)[i];
    return type == CK_F16 ? ck_f16_to_f32(bits) : ck_bf16_to_f32(bits);
}

typedef struct {
    ck_interpolate_mode mode;
    ck_type type;
    char *output;
    const char *input;
    int rank;
    const int64_t *extents;
    const float *points;
} sampling;

/// The corners' mean, weighted; a corner without weight is not looked at.
static float sample(const sampling *s, const float *point) {
    place places[MAX_RANK];
    for (int d = 0; d < s->rank; d++) places[d] = locate(point[d], s->extents[d]);
    float sum = 0;
    for (unsigned corner = 0; corner < 1u << s->rank; corner++) {
        size_t index = 0;
        float weight = 1;
        for (int d = 0; d < s->rank; d++) {
            bool high = corner >> d & 1;
            index = index * (size_t)s->extents[d] + (size_t)(high ? places[d].high : places[d].low);
            weight *= high ? places[d].share : 1 - places[d].share;
        }
        if (weight != 0) sum += weight * load(s->type, s->input, index);
    }
    return sum;
}

static void run_points(void *context, size_t begin, size_t end) {
    const sampling *s = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t size = ck_type_size(s->type);
    for (size_t i = begin; i < end; i++) {
        const float *point = s->points + i * (size_t)s->rank;
        if (s->mode == CK_INTERPOLATE_LINEAR) {
            float value = sample(s, point);
            v->narrow(s->type, s->output + i * size, &value, 1);
            continue;
        }
        size_t index = 0;
        for (int d = 0; d < s->rank; d++) {
            index = index * (size_t)s->extents[d] + (size_t)nearest(point[d], s->extents[d]);
        }
        memcpy(s->output + i * size, s->input + index * size, size);
    }
}

bool ck_interpolate_points(
    ck_interpolate_mode mode, ck_type type, void *output, const void *input, int rank, const int64_t *extents,
    const float *points, size_t count) {
    if (rank < 1 || rank > MAX_RANK || (unsigned)type > CK_F64) return false;
    if (mode == CK_INTERPOLATE_LINEAR && !is_float(type)) return false;
    for (int d = 0; d < rank; d++) {
        if (extents[d] <= 0) return count == 0;
    }
    sampling s = {mode, type, output, input, rank, extents, points};
    ck_parallel_for(count, 1024, run_points, &s);
    return true;
}
