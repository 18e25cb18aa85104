#include "cpu_kernels.h"
#include "program.h"

/// Rows at least this long are worked on one at a time; shorter ones are gathered into blocks of several.
enum { LONG_ROW = 512 };

typedef struct {
    const ck_ew_program *program;
    const ck_vector_kernels *vectors;
    int level;
    /// The collapsed shape: `rank` >= 1, the last extent is a row. Strides are in elements.
    int rank;
    int64_t extents[CK_EW_MAX_RANK];
    int64_t strides[CK_EW_MAX_INPUTS][CK_EW_MAX_RANK];
    /// The input is laid out as the outputs are; is the same for all rows.
    bool dense[CK_EW_MAX_INPUTS], every_row[CK_EW_MAX_INPUTS];
    const char *inputs[CK_EW_MAX_INPUTS];
    char *outputs[CK_EW_MAX_OUTPUTS];
    /// An output lies on an input that a later step reads: outputs are stored at the end of a block.
    bool store_late;
    /// A block is `rows` whole rows, or (if that is 1) one of `parts` parts of a row.
    size_t rows, parts, part;
    size_t row_count, row_length;
    /// Elements of the largest block.
    size_t largest;
} job;

typedef struct {
    size_t row, rows, column, columns;
} area;

/// Drops extents of 1 and joins neighbours that every input walks through in one stride.
static void collapse(job *j, int rank, const int64_t *extents, const int64_t *strides) {
    int count = j->program->input_count;
    j->rank = 0;
    for (int d = 0; d < rank; d++) {
        if (extents[d] == 1) continue;
        int last = j->rank - 1;
        bool joins = last >= 0;
        for (int i = 0; i < count && joins; i++) {
            joins = j->strides[i][last] == strides[i * rank + d] * extents[d];
        }
        if (!joins) last = j->rank++;
        j->extents[last] = joins ? j->extents[last] * extents[d] : extents[d];
        for (int i = 0; i < count; i++) j->strides[i][last] = strides[i * rank + d];
    }
    if (j->rank == 0) {
        j->rank = 1, j->extents[0] = 1;
        for (int i = 0; i < count; i++) j->strides[i][0] = 1;
    }
}

static void copy_strided(char *d, const char *a, size_t n, int64_t stride, size_t size) {
    switch (size) {
        case 1:
            for (size_t i = 0; i < n; i++) d[i] = a[(int64_t)i * stride];
            break;
        case 2:
            for (size_t i = 0; i < n; i++) memcpy(d + i * 2, a + (int64_t)i * stride * 2, 2);
            break;
        case 4:
            for (size_t i = 0; i < n; i++) memcpy(d + i * 4, a + (int64_t)i * stride * 4, 4);
            break;
        default:
            for (size_t i = 0; i < n; i++) memcpy(d + i * 8, a + (int64_t)i * stride * 8, 8);
            break;
    }
}

static void copy_row(char *d, const char *a, size_t n, int64_t stride, size_t size) {
    if (stride == 1) memcpy(d, a, n * size);
    else copy_strided(d, a, n, stride, size);
}

static int64_t row_offset(const job *j, int input, size_t row) {
    int64_t offset = 0;
    for (int d = j->rank - 2; d >= 0; d--) {
        size_t extent = (size_t)j->extents[d];
        offset += (int64_t)(row % extent) * j->strides[input][d];
        row /= extent;
    }
    return offset;
}

/// Halves may lie in the upper half of the buffer itself: each part is taken out before floats reach it.
static void widen_upward(const ck_vector_kernels *vectors, ck_type type, char *buffer, const char *source, size_t n) {
    uint16_t part[256];
    for (size_t i = 0; i < n; i += 256) {
        size_t count = n - i < 256 ? n - i : 256;
        memcpy(part, source + i * 2, count * 2);
        vectors->widen(type, (float *)(void *)buffer + i, part, count);
    }
}

/// The address of an input's elements of an area: in place if they are adjacent there, else gathered into `buffer`.
static const char *load(const job *j, int input, area where, char *buffer) {
    ck_type type = j->program->input_types[input];
    size_t size = ck_type_size(type), count = where.rows * where.columns;
    int64_t stride = j->strides[input][j->rank - 1];
    bool half = type == CK_F16 || type == CK_BF16;
    const char *source = NULL;
    if (j->dense[input]) {
        source = j->inputs[input] + (where.row * j->row_length + where.column) * size;
    } else if (where.rows == 1 && stride == 1) {
        source = j->inputs[input] + (row_offset(j, input, where.row) + (int64_t)where.column) * (int64_t)size;
    } else {
        char *to = half ? buffer + count * size : buffer;
        source = to;
        for (size_t r = 0; r < where.rows; r++, to += where.columns * size) {
            int64_t offset = row_offset(j, input, where.row + r) + (int64_t)where.column * stride;
            copy_row(to, j->inputs[input] + offset * (int64_t)size, where.columns, stride, size);
        }
    }
    if (half) widen_upward(j->vectors, type, buffer, source, count);
    return half ? buffer : source;
}

static void store_constant(char *buffer, ck_ew_constant constant, size_t n) {
    size_t size = ck_type_size(constant.type);
    char bytes[8];
    if (constant.type == CK_F32) memcpy(bytes, &(float){(float)constant.real}, 4);
    else if (constant.type == CK_F64) memcpy(bytes, &constant.real, 8);
    else if (constant.type == CK_BOOL) bytes[0] = constant.integer != 0;
    else {
        // The low bytes, not a cast, which would saturate.
        uint64_t low = (uint64_t)constant.integer;
        for (size_t i = 0; i < size; i++, low >>= 8) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
            bytes[size - 1 - i] = (char)low;
#else
            bytes[i] = (char)low;
#endif
        }
    }
    copy_strided(buffer, bytes, n, 0, size);
}

static area block_area(const job *j, size_t block) {
    if (j->rows > 1) {
        size_t row = block * j->rows, left = j->row_count - row;
        return (area){row, left < j->rows ? left : j->rows, 0, j->row_length};
    }
    size_t row = block / j->parts, column = block % j->parts * j->part, left = j->row_length - column;
    return (area){row, 1, column, left < j->part ? left : j->part};
}

/// Inputs whose buffer stays right from block to block are loaded at the first, at full length.
static void load_constants(const job *j, char *buffers, const char **values) {
    const ck_ew_program *p = j->program;
    size_t bytes = p->block * p->width;
    for (int i = 0; i < p->input_count; i++) {
        values[i] = NULL;
        bool scalar = j->every_row[i] && j->strides[i][j->rank - 1] == 0;
        area all = scalar ? (area){0, 1, 0, j->largest} : (area){0, j->rows, 0, j->row_length};
        bool stays = scalar || (j->every_row[i] && j->rows > 1 && !j->dense[i]);
        if (stays) values[i] = load(j, i, all, buffers + (size_t)i * bytes);
    }
    for (int i = 0; i < p->constant_count; i++) {
        int value = p->input_count + i;
        values[value] = buffers + (size_t)value * bytes;
        store_constant(buffers + (size_t)value * bytes, p->constants[i], j->largest);
    }
}

static void run_blocks(void *context, size_t begin, size_t end) {
    const job *j = context;
    const ck_ew_program *p = j->program;
    _Alignas(64) char buffers[SCRATCH_BYTES];
    size_t bytes = p->block * p->width;
    const char *fixed[CK_EW_MAX_VALUES], *values[CK_EW_MAX_VALUES];
    int first = p->input_count + p->constant_count;
    load_constants(j, buffers, fixed);
    for (int i = p->input_count; i < first; i++) values[i] = fixed[i];
    for (size_t block = begin; block < end; block++) {
        area where = block_area(j, block);
        size_t start = where.row * j->row_length + where.column, count = where.rows * where.columns;
        for (int i = 0; i < p->input_count; i++) {
            values[i] = fixed[i] != NULL ? fixed[i] : load(j, i, where, buffers + (size_t)i * bytes);
        }
        for (int i = 0; i < p->step_count; i++) {
            const step *s = &p->steps[i];
            char *to = buffers + (size_t)s->slot * bytes;
            if (s->output >= 0 && !j->store_late) {
                to = j->outputs[s->output] + start * ck_type_size(p->outputs[s->output].type);
            }
            s->kernels[j->level](to, values[s->a], values[s->b], values[s->c], count);
            values[first + i] = to;
        }
        for (int i = 0; i < p->output_count; i++) {
            ck_ew_output output = p->outputs[i];
            size_t size = ck_type_size(output.type);
            char *to = j->outputs[i] + start * size;
            const char *from = values[output.value];
            if (to == from) continue;
            if (output.type == CK_F16 || output.type == CK_BF16) {
                j->vectors->narrow(output.type, to, (const float *)from, count);
            } else memcpy(to, from, count * size);
        }
    }
}

static void describe_inputs(job *j, const void *const *inputs) {
    const ck_ew_program *p = j->program;
    for (int i = 0; i < p->input_count; i++) {
        j->inputs[i] = inputs[i];
        j->dense[i] = j->every_row[i] = true;
        int64_t step = 1;
        for (int d = j->rank - 1; d >= 0; d--) {
            if (j->strides[i][d] != step) j->dense[i] = false;
            if (d < j->rank - 1 && j->strides[i][d] != 0) j->every_row[i] = false;
            step *= j->extents[d];
        }
    }
}

static void find_overlap(job *j, void *const *outputs) {
    const ck_ew_program *p = j->program;
    for (int o = 0; o < p->output_count; o++) {
        j->outputs[o] = outputs[o];
        for (int i = 0; i < p->input_count; i++) {
            // The last step may write over what it reads.
            bool last = p->output_count == 1 && p->step_count > 0 && p->steps[p->step_count - 1].output == o;
            if (j->inputs[i] == j->outputs[o] && !last) j->store_late = true;
        }
    }
}

bool ck_ew_run(
    const ck_ew_program *program, int rank, const int64_t *extents, const void *const *inputs, const int64_t *strides,
    void *const *outputs) {
    if (rank < 0 || rank > CK_EW_MAX_RANK) return false;
    for (int d = 0; d < rank; d++) {
        if (extents[d] <= 0) return extents[d] == 0;
    }
    job j = {.program = program, .vectors = ck_vectors(), .level = ck_cpu_level()};
    collapse(&j, rank, extents, strides);
    describe_inputs(&j, inputs);
    find_overlap(&j, outputs);
    j.row_length = (size_t)j.extents[j.rank - 1];
    j.row_count = 1;
    for (int d = 0; d < j.rank - 1; d++) j.row_count *= (size_t)j.extents[d];
    j.rows = j.row_length < LONG_ROW ? program->block / j.row_length : 1;
    if (j.rows > j.row_count) j.rows = j.row_count;
    if (j.rows == 0) j.rows = 1;
    j.parts = (j.row_length + program->block - 1) / program->block;
    // Even parts, in whole vectors.
    j.part = ((j.row_length + j.parts - 1) / j.parts + 63) / 64 * 64;
    if (j.part > program->block) j.part = program->block;
    size_t blocks = j.rows > 1 ? (j.row_count + j.rows - 1) / j.rows : j.row_count * j.parts;
    j.largest = j.rows > 1 ? j.rows * j.row_length : j.part < j.row_length ? j.part : j.row_length;
    // A task of at least some ten microseconds.
    size_t grain = 10000000 / (program->cost * j.largest) + 1;
    ck_parallel_for(blocks, grain, run_blocks, &j);
    return true;
}
