#include <math.h>
#include <stdlib.h>

#include "../vector_kernels.h"
#include "reduce_internal.h"

enum {
    /// Elements that one call of a row kernel adds up, and rows that are added to an accumulator one after another.
    /// Longer axes add the partial results up in pairs, so that errors grow with the logarithm.
    CHUNK = 2048,
    CHUNK_ROWS = 32,
    /// Columns worked on together.
    COLUMNS = 128,
    /// Pairs of pairs … of partial results: enough for any size_t.
    LEVELS = 64,
    /// An axis this long is cut into parts when there is too little else to share between threads.
    PARTS = 16,
    WORTH_A_TASK = 16384,
};

typedef struct {
    ck_reduce_op op;
    /// The elements' type, the type that accumulates and the type of the result.
    ck_type from, wide, to;
    const char *input;
    char *output;
    size_t outer, count, inner;
    /// What to divide the result by, or 0.
    size_t divisor;
} job;

static ck_type wide_type(ck_type type) { return type == CK_F16 || type == CK_BF16 ? CK_F32 : type; }

static float join(ck_reduce_op op, float a, float b) {
    switch (op) {
        case CK_REDUCE_PRODUCT: return a * b;
        case CK_REDUCE_MAX: return a > b || a != a ? a : b;
        case CK_REDUCE_MIN: return a < b || a != a ? a : b;
        default: return a + b;
    }
}

/// One run of floats of any storage.
static float reduce_run(const job *j, const ck_vector_kernels *v, const char *a) {
    float wide[CHUNK], stack[LEVELS];
    size_t size = ck_type_size(j->from), depth = 0, index = 0;
    for (size_t i = 0; i < j->count; i += CHUNK, index++) {
        size_t n = j->count - i < CHUNK ? j->count - i : CHUNK;
        const float *part = (const float *)(const void *)(a + i * size);
        if (j->from != CK_F32) v->widen(j->from, wide, part, n), part = wide;
        float value = v->float_row(j->op, part, n, 0);
        for (size_t bits = index; bits & 1; bits >>= 1) value = join(j->op, stack[--depth], value);
        stack[depth++] = value;
    }
    float value;
    ck_reduce_identity(j->op, CK_F32, &value);
    while (depth > 0) value = join(j->op, stack[--depth], value);
    return value;
}

/// `values` are `n` results from the position `at` on.
static void finish(const job *j, const ck_vector_kernels *v, void *values, size_t at, size_t n) {
    if (j->divisor != 0 && j->wide == CK_F32) {
        for (size_t i = 0; i < n; i++) ((float *)values)[i] /= (float)j->divisor;
    } else if (j->divisor != 0) {
        for (size_t i = 0; i < n; i++) ((double *)values)[i] /= (double)j->divisor;
    }
    char *to = j->output + at * ck_type_size(j->to);
    if (j->wide == CK_F32) v->narrow(j->to, to, values, n);
    else memcpy(to, values, n * ck_type_size(j->to));
}

static void reduce_runs(void *context, size_t begin, size_t end) {
    const job *j = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t bytes = j->count * ck_type_size(j->from);
    for (size_t row = begin; row < end; row++) {
        union {
            float single;
            char bytes[8];
        } value;
        const char *a = j->input + row * bytes;
        if (j->wide == CK_F32) value.single = reduce_run(j, v, a);
        else {
            ck_reduce_identity(j->op, j->wide, &value);
            v->plain_row(j->op, j->wide, &value, a, j->count);
        }
        finish(j, v, &value, row, 1);
    }
}

/// The rows `first ..< last` of a block of columns, in pairs of pairs.
static void reduce_columns(
    const job *j, const ck_vector_kernels *v, const char *a, size_t columns, size_t first, size_t last, float *sums) {
    if (last - first > CHUNK_ROWS) {
        // The largest power of two times CHUNK_ROWS below the count.
        size_t half = CHUNK_ROWS;
        while (half * 2 < last - first) half *= 2;
        float other[COLUMNS];
        reduce_columns(j, v, a, columns, first, first + half, sums);
        reduce_columns(j, v, a, columns, first + half, last, other);
        ck_reduce_op op = j->op == CK_REDUCE_SUM_SQUARES ? CK_REDUCE_SUM : j->op;
        v->float_column(op, sums, other, columns);
        return;
    }
    float wide[COLUMNS];
    ck_reduce_start(j->op, CK_F32, sums, columns);
    size_t size = ck_type_size(j->from);
    for (size_t r = first; r < last; r++) {
        const float *row = (const float *)(const void *)(a + r * j->inner * size);
        if (j->from != CK_F32) v->widen(j->from, wide, row, columns), row = wide;
        v->float_column(j->op, sums, row, columns);
    }
}

static void reduce_blocks(void *context, size_t begin, size_t end) {
    const job *j = context;
    const ck_vector_kernels *v = ck_vectors();
    size_t blocks = (j->inner + COLUMNS - 1) / COLUMNS, size = ck_type_size(j->from);
    for (size_t item = begin; item < end; item++) {
        size_t outer = item / blocks, column = item % blocks * COLUMNS;
        size_t columns = j->inner - column < COLUMNS ? j->inner - column : COLUMNS;
        const char *a = j->input + (outer * j->count * j->inner + column) * size;
        _Alignas(64) char sums[COLUMNS * 8];
        if (j->wide == CK_F32) reduce_columns(j, v, a, columns, 0, j->count, (float *)(void *)sums);
        else {
            ck_reduce_start(j->op, j->wide, sums, columns);
            for (size_t r = 0; r < j->count; r++) {
                v->plain_column(j->op, j->wide, sums, a + r * j->inner * size, columns);
            }
        }
        finish(j, v, sums, outer * j->inner + column, columns);
    }
}

static void run(job *j) {
    if (j->inner == 1) {
        ck_parallel_for(j->outer, WORTH_A_TASK / (j->count + 1) + 1, reduce_runs, j);
    } else {
        size_t blocks = (j->inner + COLUMNS - 1) / COLUMNS, columns = j->inner < COLUMNS ? j->inner : COLUMNS;
        ck_parallel_for(j->outer * blocks, WORTH_A_TASK / (j->count * columns + 1) + 1, reduce_blocks, j);
    }
}

/// With one long axis and little else, cuts the axis. How depends on the shape only, so that results do not depend on
/// the number of threads.
static void run_in_parts(job *j) {
    size_t tasks = j->outer * ((j->inner + COLUMNS - 1) / COLUMNS);
    if (tasks >= PARTS || j->outer != 1 || j->count < 2 * PARTS || j->count * j->inner < 8 * WORTH_A_TASK) {
        run(j);
        return;
    }
    size_t length = j->count / PARTS, rest = j->count % PARTS, row = j->inner * ck_type_size(j->wide);
    char *partial = malloc((PARTS + 1) * row);
    if (partial == NULL) {
        run(j);
        return;
    }
    job parts = *j;
    parts.to = j->wide, parts.divisor = 0, parts.output = partial, parts.outer = PARTS, parts.count = length;
    run(&parts);
    if (rest > 0) {
        parts.input = j->input + PARTS * length * j->inner * ck_type_size(j->from);
        parts.output = partial + PARTS * row, parts.outer = 1, parts.count = rest;
        run(&parts);
    }
    job last = *j;
    if (j->op == CK_REDUCE_SUM_SQUARES) last.op = CK_REDUCE_SUM;
    last.from = j->wide, last.input = partial, last.count = PARTS + (rest > 0);
    run(&last);
    free(partial);
}

bool ck_reduce(
    ck_reduce_op op, ck_type type, void *output, const void *input, size_t outer, size_t count, size_t inner) {
    if (!ck_reduce_supports(op, type)) return false;
    if (outer == 0 || inner == 0) return true;
    ck_type wide = wide_type(type);
    job j = {ck_reduce_effective(op, type), type, wide, type, input, output, outer, count, inner, 0};
    if (op == CK_REDUCE_MEAN && count > 0) j.divisor = count;
    if (count == 0) {
        char value[8];
        ck_reduce_identity(j.op, type, value);
        double nan = NAN;
        if (op == CK_REDUCE_MEAN) ck_cast(type, value, CK_F64, &nan, 1);
        size_t size = ck_type_size(type);
        for (size_t i = 0; i < outer * inner; i++) memcpy((char *)output + i * size, value, size);
        return true;
    }
    run_in_parts(&j);
    return true;
}

bool ck_reduce_axes(
    ck_reduce_op op, ck_type type, void *output, const void *input, int rank, const int64_t *extents, uint32_t axes) {
    if (rank < 0 || rank > 16 || !ck_reduce_supports(op, type)) return false;
    // Neighbours of one kind become one dimension; extents of 1 join either.
    size_t sizes[16];
    bool reduced[16];
    int groups = 0;
    size_t total = 1, reduced_total = 1;
    for (int d = 0; d < rank; d++) {
        bool is_reduced = axes >> d & 1;
        size_t extent = (size_t)extents[d];
        total *= extent;
        if (is_reduced) reduced_total *= extent;
        if (extent == 1) continue;
        if (groups > 0 && reduced[groups - 1] == is_reduced) sizes[groups - 1] *= extent;
        else sizes[groups] = extent, reduced[groups++] = is_reduced;
    }
    int first = 0;
    while (first < groups && !reduced[first]) first++;
    int last = groups - 1;
    while (last > first && !reduced[last]) last--;
    size_t outer = first > 0 ? sizes[0] : 1, inner = last < groups - 1 ? sizes[groups - 1] : 1;
    if (total == 0 || first >= last) {
        size_t kept = 1;
        for (int d = 0; d < rank; d++) kept *= axes >> d & 1 ? 1 : (size_t)extents[d];
        if (total == 0) return ck_reduce(op, type, output, input, kept, 0, 1);
        if (first == groups) return ck_reduce(op, type, output, input, 1, 1, kept);
        return ck_reduce(op, type, output, input, outer, sizes[first], inner);
    }
    // Several reduced groups: the last one first, into a wide copy; each pass is smaller than the one before.
    ck_type wide = wide_type(type);
    char *memory[2] = {NULL, NULL};
    job j = {ck_reduce_effective(op, type), type, wide, wide, input, NULL, 1, 1, inner, 0};
    bool ok = true;
    for (int g = last, pass = 0; ok && g >= first; g -= 2, pass++) {
        j.outer = 1, j.count = sizes[g];
        for (int d = 0; d < g; d++) j.outer *= sizes[d];
        bool final = g == first;
        free(memory[pass % 2]);
        memory[pass % 2] = final ? NULL : malloc(j.outer * j.inner * ck_type_size(wide));
        j.output = final ? output : memory[pass % 2];
        ok = j.output != NULL;
        if (final) j.to = type, j.divisor = op == CK_REDUCE_MEAN ? reduced_total : 0;
        if (ok) run_in_parts(&j);
        j.from = wide, j.input = j.output;
        if (j.op == CK_REDUCE_SUM_SQUARES) j.op = CK_REDUCE_SUM;
        if (g > first) j.inner *= sizes[g - 1];
    }
    free(memory[0]);
    free(memory[1]);
    return ok;
}
