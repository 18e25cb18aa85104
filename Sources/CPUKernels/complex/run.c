#include <complex.h>
#include <math.h>

#include "cpu_kernels.h"

#define REAL float
#define NAME(function) function##_f32
#define LIBRARY(function) function##f
#include "functions.h"
#undef REAL
#undef NAME
#undef LIBRARY
#define REAL double
#define NAME(function) function##_f64
#define LIBRARY(function) function
#include "functions.h"

enum { MAX_OPERANDS = 3, BLOCK = 256 };

typedef struct {
    ck_complex_op op;
    ck_complex_element result, operands[MAX_OPERANDS];
    int operand_count, rank;
    /// F32 or F64.
    ck_type working;
    const int64_t *extents, *strides;
    const char *inputs[MAX_OPERANDS];
    char *output;
    /// Tasks are parts of rows.
    size_t row_length, parts;
} job;

static size_t element_size(ck_complex_element element) {
    return ck_type_size(element.part) << (element.is_complex ? 1 : 0);
}

int ck_complex_operand_count(ck_complex_op op) {
    if (op == CK_CX_WHERE) return 3;
    bool is_binary = op == CK_CX_CREATE || (op >= CK_CX_ADD && op <= CK_CX_POW) || op == CK_CX_EQUAL ||
        op == CK_CX_NOT_EQUAL;
    return is_binary ? 2 : 1;
}

static bool same(ck_complex_element a, ck_complex_element b) {
    return a.part == b.part && a.is_complex == b.is_complex;
}

static bool fits(ck_complex_op op, ck_complex_element result, const ck_complex_element *operands) {
    if ((unsigned)op >= CK_CX_OP_COUNT) return false;
    int count = ck_complex_operand_count(op);
    for (int i = -1; i < count; i++) {
        ck_complex_element element = i < 0 ? result : operands[i];
        if ((unsigned)element.part > CK_F64 || (element.is_complex && element.part < CK_F16)) return false;
    }
    ck_complex_element real = {operands[0].part, false}, truth = {CK_BOOL, false};
    switch (op) {
        case CK_CX_CREATE:
            return same(operands[0], real) && same(operands[1], real) && result.is_complex && result.part == real.part;
        case CK_CX_REAL:
        case CK_CX_IMAGINARY: return operands[0].is_complex && same(result, real);
        case CK_CX_CAST: return true;
        case CK_CX_EQUAL:
        case CK_CX_NOT_EQUAL: return same(result, truth) && same(operands[0], operands[1]);
        case CK_CX_WHERE: return same(operands[0], truth) && same(operands[1], result) && same(operands[2], result);
        default: return same(operands[0], result) && (count == 1 || same(operands[1], result));
    }
}

/// The address of an operand's element at a row's column.
static const char *address(const job *j, int operand, size_t row, size_t column) {
    const int64_t *strides = j->strides + operand * j->rank;
    int64_t offset = (int64_t)column * strides[j->rank - 1];
    for (int d = j->rank - 2; d >= 0; d--) {
        size_t extent = (size_t)j->extents[d];
        offset += (int64_t)(row % extent) * strides[d];
        row /= extent;
    }
    return j->inputs[operand] + offset * (int64_t)element_size(j->operands[operand]);
}

/// `n` elements as pairs in the working precision.
static void load(const job *j, int operand, void *pairs, const char *source, size_t n) {
    _Alignas(16) char adjacent[BLOCK * 16], reals[BLOCK * 8];
    ck_complex_element element = j->operands[operand];
    size_t size = element_size(element), working = ck_type_size(j->working);
    int64_t stride = j->strides[(operand + 1) * j->rank - 1];
    if (stride != 1) {
        ck_copy(size, 1, &(int64_t){(int64_t)n}, adjacent, &(int64_t){1}, source, &stride);
        source = adjacent;
    }
    if (element.is_complex) {
        ck_cast(j->working, pairs, element.part, source, 2 * n);
        return;
    }
    ck_cast(j->working, reals, element.part, source, n);
    memset(pairs, 0, n * 2 * working);
    ck_copy(working, 1, &(int64_t){(int64_t)n}, pairs, &(int64_t){2}, reals, &(int64_t){1});
}

static void store(const job *j, char *target, const void *pairs, size_t n) {
    if (j->result.is_complex) {
        ck_cast(j->result.part, target, j->working, pairs, 2 * n);
        return;
    }
    _Alignas(16) char reals[BLOCK * 8];
    ck_copy(ck_type_size(j->working), 1, &(int64_t){(int64_t)n}, reals, &(int64_t){1}, pairs, &(int64_t){2});
    ck_cast(j->result.part, target, j->working, reals, n);
}

static void choose(const job *j, char *target, size_t row, size_t column, size_t n) {
    size_t size = element_size(j->result);
    const char *from[MAX_OPERANDS];
    int64_t steps[MAX_OPERANDS];
    for (int i = 0; i < MAX_OPERANDS; i++) {
        from[i] = address(j, i, row, column);
        steps[i] = j->strides[(i + 1) * j->rank - 1] * (int64_t)element_size(j->operands[i]);
    }
    for (size_t i = 0; i < n; i++) {
        int chosen = from[0][(int64_t)i * steps[0]] ? 1 : 2;
        memmove(target + i * size, from[chosen] + (int64_t)i * steps[chosen], size);
    }
}

static void run(void *context, size_t begin, size_t end) {
    const job *j = context;
    // Two operands in pairs of doubles; the result takes the first's place.
    _Alignas(64) double first[BLOCK * 2], second[BLOCK * 2];
    for (size_t task = begin; task < end; task++) {
        size_t row = task / j->parts, column = task % j->parts * BLOCK;
        size_t n = j->row_length - column < BLOCK ? j->row_length - column : BLOCK;
        char *target = j->output + (row * j->row_length + column) * element_size(j->result);
        if (j->op == CK_CX_WHERE) {
            choose(j, target, row, column, n);
            continue;
        }
        load(j, 0, first, address(j, 0, row, column), n);
        if (j->operand_count > 1) load(j, 1, second, address(j, 1, row, column), n);
        bool is_single = j->working == CK_F32;
        if (j->op == CK_CX_EQUAL || j->op == CK_CX_NOT_EQUAL) {
            bool negated = j->op == CK_CX_NOT_EQUAL;
            if (is_single) compare_f32(negated, target, (const float *)first, (const float *)second, n);
            else compare_f64(negated, target, first, second, n);
            continue;
        }
        if (is_single) compute_f32(j->op, (float *)first, (const float *)first, (const float *)second, n);
        else compute_f64(j->op, first, first, second, n);
        store(j, target, first, n);
    }
}

bool ck_complex_run(
    ck_complex_op op, ck_complex_element result, const ck_complex_element *operands, int rank, const int64_t *extents,
    const void *const *inputs, const int64_t *strides, void *output) {
    if (rank < 0 || rank > CK_EW_MAX_RANK || !fits(op, result, operands)) return false;
    job j = {.op = op, .result = result, .rank = rank, .working = CK_F32, .output = output};
    j.operand_count = ck_complex_operand_count(op);
    bool is_wide = result.part == CK_F64;
    for (int i = 0; i < j.operand_count; i++) {
        j.operands[i] = operands[i];
        j.inputs[i] = inputs[i];
        // Integers keep their digits on the way.
        is_wide = is_wide || operands[i].part == CK_F64 || (ck_type_size(operands[i].part) >= 4 && operands[i].part < CK_F16);
    }
    if (is_wide) j.working = CK_F64;
    size_t count = 1;
    for (int d = 0; d < rank; d++) {
        if (extents[d] <= 0) return extents[d] == 0;
        count *= (size_t)extents[d];
    }
    const int64_t one = 1, still[MAX_OPERANDS] = {0, 0, 0};
    j.extents = rank > 0 ? extents : &one;
    j.strides = rank > 0 ? strides : still;
    if (rank == 0) j.rank = 1;
    j.row_length = (size_t)j.extents[j.rank - 1];
    j.parts = (j.row_length + BLOCK - 1) / BLOCK;
    bool is_cheap = op <= CK_CX_MUL || op >= CK_CX_EQUAL;
    size_t columns = j.row_length < BLOCK ? j.row_length : BLOCK;
    ck_parallel_for(count / j.row_length * j.parts, (is_cheap ? 8192u : 512u) / (columns + 32) + 1, run, &j);
    return true;
}
