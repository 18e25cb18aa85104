#include <stdlib.h>

#include "cpu_kernels.h"

typedef struct {
    size_t size;
    int rank;
    const int64_t *output_extents;
    int64_t input_strides[CK_MOVE_MAX_RANK];
    const int64_t *tables[CK_MOVE_MAX_RANK];
    char *output;
    const char *input, *value;
} job;

static void copy_element(size_t size, char *d, const char *a) {
    switch (size) {
        case 1: memcpy(d, a, 1); break;
        case 2: memcpy(d, a, 2); break;
        case 4: memcpy(d, a, 4); break;
        case 8: memcpy(d, a, 8); break;
        default: memcpy(d, a, 16); break;
    }
}

/// One output row: runs of neighbours are copied at once.
static void pick_row(const job *j, char *d, const char *a) {
    const int64_t *table = j->tables[j->rank - 1];
    int64_t length = j->output_extents[j->rank - 1], i = 0;
    size_t size = j->size;
    while (i < length) {
        int64_t first = table[i], run = 1;
        if (first >= 0) {
            while (i + run < length && table[i + run] == first + run) run++;
        }
        if (run > 1) memcpy(d + (size_t)i * size, a + (size_t)first * size, (size_t)run * size);
        else copy_element(size, d + (size_t)i * size, first < 0 ? j->value : a + (size_t)first * size);
        i += run;
    }
}

static void run(void *context, size_t begin, size_t end) {
    const job *j = context;
    size_t row_bytes = (size_t)j->output_extents[j->rank - 1] * j->size;
    for (size_t row = begin; row < end; row++) {
        size_t rest = row;
        int64_t offset = 0;
        bool outside = false;
        for (int d = j->rank - 2; d >= 0; d--) {
            int64_t index = j->tables[d][rest % (size_t)j->output_extents[d]];
            rest /= (size_t)j->output_extents[d];
            outside |= index < 0;
            offset += index * j->input_strides[d];
        }
        char *d = j->output + row * row_bytes;
        if (outside) {
            for (size_t i = 0; i < row_bytes; i += j->size) copy_element(j->size, d + i, j->value);
        } else pick_row(j, d, j->input + offset * (int64_t)j->size);
    }
}

void ck_pick(
    size_t size, int rank, const int64_t *output_extents, const int64_t *input_extents, const int64_t *indices,
    void *output, const void *input, const void *value) {
    job j = {
        .size = size, .rank = rank, .output_extents = output_extents, .output = output, .input = input,
        .value = value};
    static const int64_t one = 1, zero = 0;
    if (rank == 0) j.rank = 1, j.output_extents = &one, j.tables[0] = &zero;
    size_t rows = 1;
    int64_t stride = 1;
    for (int d = 0; d < rank; d++) {
        if (output_extents[d] <= 0) return;
        j.tables[d] = indices;
        indices += output_extents[d];
        if (d < rank - 1) rows *= (size_t)output_extents[d];
    }
    for (int d = rank - 1; d >= 0; d--) {
        j.input_strides[d] = stride;
        stride *= input_extents[d];
    }
    ck_parallel_for(rows, 65536 / ((size_t)j.output_extents[j.rank - 1] * size) + 1, run, &j);
}

static bool reaches(ck_pad_mode mode, int64_t extent, int64_t amount) {
    switch (mode) {
        case CK_PAD_CONSTANT: return true;
        case CK_PAD_REPLICATE: return amount <= 0 || extent > 0;
        case CK_PAD_REFLECT: return amount <= 0 || amount <= extent - 1;
        case CK_PAD_SYMMETRIC:
        case CK_PAD_CIRCULAR: return amount <= 0 || amount <= extent;
    }
    return false;
}

/// Where the element at position `i` of the input's own counting, perhaps outside of it, comes from.
static int64_t origin(ck_pad_mode mode, int64_t i, int64_t extent) {
    if (i >= 0 && i < extent) return i;
    switch (mode) {
        case CK_PAD_REPLICATE: return i < 0 ? 0 : extent - 1;
        case CK_PAD_REFLECT: return i < 0 ? -i : 2 * extent - 2 - i;
        case CK_PAD_SYMMETRIC: return i < 0 ? -1 - i : 2 * extent - 1 - i;
        case CK_PAD_CIRCULAR: return i < 0 ? i + extent : i - extent;
        default: return -1;
    }
}

bool ck_pad(
    ck_pad_mode mode, size_t size, int rank, const int64_t *extents, const int64_t *before, const int64_t *after,
    void *output, const void *input, const void *value) {
    if (rank < 0 || rank > CK_MOVE_MAX_RANK) return false;
    if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) return false;
    int64_t out[CK_MOVE_MAX_RANK], total = 0;
    for (int d = 0; d < rank; d++) {
        out[d] = extents[d] + before[d] + after[d];
        if (out[d] < 0 || !reaches(mode, extents[d], before[d]) || !reaches(mode, extents[d], after[d])) return false;
        total += out[d];
    }
    int64_t *tables = malloc(((size_t)total + 1) * sizeof *tables), *entry = tables;
    if (tables == NULL) return false;
    for (int d = 0; d < rank; d++) {
        for (int64_t i = 0; i < out[d]; i++) *entry++ = origin(mode, i - before[d], extents[d]);
    }
    ck_pick(size, rank, out, extents, tables, output, input, value);
    free(tables);
    return true;
}
