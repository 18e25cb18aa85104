#include <math.h>
#include <stdlib.h>

#include "cpu_kernels.h"
#include "interpolate_internal.h"

static size_t product(const int64_t *extents, int rank) {
    size_t total = 1;
    for (int d = 0; d < rank; d++) {
        if (extents[d] < 0 || __builtin_mul_overflow(total, (size_t)extents[d], &total)) return SIZE_MAX;
    }
    return total;
}

ck_place ck_interpolate_place(float at, size_t extent, bool nearest) {
    float last = (float)(extent - 1);
    // NaN goes to the first element.
    at = at > 0 ? at : 0;
    at = at < last ? at : last;
    float low = nearest ? rintf(at) : floorf(at);
    size_t index = (size_t)low;
    // A float may not hold the last index.
    if (index >= extent) index = extent - 1;
    ck_place place = {index, index, 0};
    if (!nearest && at > low && index + 1 < extent) place.high = index + 1, place.weight = at - low;
    return place;
}

/// True if the dimension is left as it is.
static bool make_table(
    ck_place *places, size_t extent, size_t count, float scale, float offset, bool nearest) {
    bool is_same = extent == count;
    for (size_t i = 0; i < count; i++) {
        places[i] = ck_interpolate_place(((float)i + 0.5f - offset) / scale - 0.5f, extent, nearest);
        is_same = is_same && places[i].low == i && places[i].weight == 0;
    }
    return is_same;
}

/// Where few of a row's elements are needed, makes the list of those and points the table at it.
static bool make_columns(ck_grid *grid) {
    ck_axis *along = &grid->along;
    grid->columns = NULL;
    grid->column_count = along->extent;
    // The nearest elements are taken from where they are anyway.
    if (grid->nearest || along->extent / 4 < along->count) return true;
    size_t *places = malloc(along->extent * sizeof *places);
    grid->columns = malloc(2 * along->count * sizeof *grid->columns);
    if (places == NULL || grid->columns == NULL) {
        free(places);
        return false;
    }
    memset(places, 0, along->extent * sizeof *places);
    for (size_t i = 0; i < along->count; i++) places[along->places[i].low] = places[along->places[i].high] = 1;
    size_t count = 0;
    for (size_t i = 0; i < along->extent; i++) {
        if (places[i] == 0) continue;
        places[i] = count;
        grid->columns[count++] = i;
    }
    for (size_t i = 0; i < along->count; i++) {
        along->places[i].low = places[along->places[i].low];
        along->places[i].high = places[along->places[i].high];
    }
    grid->column_count = count;
    free(places);
    return true;
}

/// Joins neighbouring dimensions that are left as they are; the last others is the one that rows run along.
static void arrange(ck_grid *grid, const ck_axis *axes, int rank) {
    grid->inner = 1;
    while (rank > 0 && axes[rank - 1].places == NULL) grid->inner *= axes[--rank].extent;
    if (rank == 0) return;
    grid->along = axes[rank - 1];
    for (int d = 0; d < rank - 1; d++) {
        ck_axis *last = grid->outer_rank > 0 ? &grid->outer[grid->outer_rank - 1] : NULL;
        if (axes[d].places == NULL && last != NULL && last->places == NULL) {
            last->extent *= axes[d].extent;
            last->count *= axes[d].count;
        } else {
            grid->outer[grid->outer_rank++] = axes[d];
        }
    }
}

static bool is_supported(ck_interpolate_mode mode, ck_type type, int rank) {
    if (rank < 1 || rank > CK_INTERPOLATE_MAX_RANK) return false;
    return mode == CK_INTERPOLATE_NEAREST ? ck_type_size(type) != 0 : (unsigned)type <= CK_F64 && type != CK_BOOL;
}

bool ck_interpolate(
    ck_interpolate_mode mode, ck_type type, void *output, const void *input, int rank, const int64_t *input_extents,
    const int64_t *output_extents, const float *scale, const float *offset) {
    if (!is_supported(mode, type, rank)) return false;
    bool nearest = mode == CK_INTERPOLATE_NEAREST;
    size_t size = ck_type_size(type);
    size_t inputs = product(input_extents, rank), outputs = product(output_extents, rank), entries = 0;
    if (inputs > SIZE_MAX / 16 || outputs > SIZE_MAX / 16) return false;
    if (outputs == 0) return true;
    if (inputs == 0) return false;
    for (int d = 0; d < rank; d++) entries += (size_t)output_extents[d];
    ck_place *tables = malloc((entries + 1) * sizeof *tables), *table = tables;
    if (tables == NULL) return false;
    ck_grid grid = {.type = type, .wide = type == CK_F64 ? CK_F64 : CK_F32, .nearest = nearest};
    grid.input = input;
    grid.output = output;
    ck_axis axes[CK_INTERPOLATE_MAX_RANK];
    for (int d = 0; d < rank; d++) {
        axes[d] = (ck_axis){(size_t)input_extents[d], (size_t)output_extents[d], NULL};
        if (make_table(table, axes[d].extent, axes[d].count, scale[d], offset[d], nearest)) continue;
        axes[d].places = table;
        table += axes[d].count;
    }
    arrange(&grid, axes, rank);
    bool is_done = true;
    if (grid.along.places == NULL) memcpy(output, input, outputs * size);
    else is_done = make_columns(&grid) && ck_interpolate_rows(&grid);
    free(grid.columns);
    free(tables);
    return is_done;
}

typedef struct {
    ck_type type;
    bool nearest;
    int rank;
    const int64_t *extents;
    const float *points;
    char *output;
    const char *input;
} points_job;

static void run_points(void *context, size_t begin, size_t end) {
    const points_job *j = context;
    size_t size = ck_type_size(j->type);
    for (size_t point = begin; point < end; point++) {
        ck_corners corners = {1, {0}, {1}};
        for (int d = 0; d < j->rank; d++) {
            size_t extent = (size_t)j->extents[d];
            ck_place place = ck_interpolate_place(j->points[point * (size_t)j->rank + (size_t)d], extent, j->nearest);
            ck_interpolate_split(&corners, extent, place);
        }
        char *to = j->output + point * size;
        if (corners.count == 1) {
            memcpy(to, j->input + corners.offsets[0] * size, size);
            continue;
        }
        if (j->type == CK_F64) {
            double sum = 0;
            for (size_t i = 0; i < corners.count; i++)
                sum += ((const double *)(const void *)j->input)[corners.offsets[i]] * corners.weights[i];
            memcpy(to, &sum, sizeof sum);
            continue;
        }
        float sum = 0;
        for (size_t i = 0; i < corners.count; i++) {
            float value;
            ck_cast(CK_F32, &value, j->type, j->input + corners.offsets[i] * size, 1);
            sum += value * (float)corners.weights[i];
        }
        ck_cast(j->type, to, CK_F32, &sum, 1);
    }
}

bool ck_interpolate_points(
    ck_interpolate_mode mode, ck_type type, void *output, const void *input, int rank, const int64_t *extents,
    const float *points, size_t count) {
    if (!is_supported(mode, type, rank)) return false;
    if (count == 0) return true;
    size_t inputs = product(extents, rank);
    if (inputs == 0 || inputs > SIZE_MAX / 16) return false;
    points_job job = {type, mode == CK_INTERPOLATE_NEAREST, rank, extents, points, output, input};
    ck_parallel_for(count, 1024, run_points, &job);
    return true;
}
