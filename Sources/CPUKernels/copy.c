#include "include/copy.h"

#include <string.h>

#include "include/thread_pool.h"

enum { MAX_RANK = 16, TILE = 16 };

typedef struct {
    size_t size;
    int rank;
    int64_t extents[MAX_RANK], target_strides[MAX_RANK], source_strides[MAX_RANK];
    char *target;
    const char *source;
} copy_job;

// The two innermost loops; strides in bytes.
#define PLANE(NAME, TYPE)                                                                                              \
    static void NAME(                                                                                                  \
        char *target, const char *source, int64_t rows, int64_t columns, int64_t target_row, int64_t target_column,    \
        int64_t source_row, int64_t source_column) {                                                                   \
        for (int64_t i0 = 0; i0 < rows; i0 += TILE) {                                                                  \
            int64_t i1 = i0 + TILE < rows ? i0 + TILE : rows;                                                          \
            for (int64_t j0 = 0; j0 < columns; j0 += TILE) {                                                           \
                int64_t j1 = j0 + TILE < columns ? j0 + TILE : columns;                                                \
                for (int64_t i = i0; i < i1; i++)                                                                      \
                    for (int64_t j = j0; j < j1; j++)                                                                  \
                        memcpy(                                                                                        \
                            target + i * target_row + j * target_column, source + i * source_row + j * source_column,  \
                            sizeof(TYPE));                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
typedef struct {
    uint64_t parts[2];
} word16;
PLANE(plane1, uint8_t)
PLANE(plane2, uint16_t)
PLANE(plane4, uint32_t)
PLANE(plane8, uint64_t)
PLANE(plane16, word16)

static void copy_plane(const copy_job *job, char *target, const char *source) {
    int last = job->rank - 1;
    int64_t rows = last > 0 ? job->extents[last - 1] : 1, columns = job->extents[last];
    int64_t size = (int64_t)job->size;
    int64_t target_row = last > 0 ? job->target_strides[last - 1] * size : 0;
    int64_t source_row = last > 0 ? job->source_strides[last - 1] * size : 0;
    int64_t target_column = job->target_strides[last] * size, source_column = job->source_strides[last] * size;
    if (target_column == size && source_column == size) {
        for (int64_t i = 0; i < rows; i++)
            memcpy(target + i * target_row, source + i * source_row, (size_t)(columns * size));
        return;
    }
    switch (job->size) {
    case 1: plane1(target, source, rows, columns, target_row, target_column, source_row, source_column); break;
    case 2: plane2(target, source, rows, columns, target_row, target_column, source_row, source_column); break;
    case 4: plane4(target, source, rows, columns, target_row, target_column, source_row, source_column); break;
    case 8: plane8(target, source, rows, columns, target_row, target_column, source_row, source_column); break;
    default: plane16(target, source, rows, columns, target_row, target_column, source_row, source_column); break;
    }
}

static void copy_planes(void *context, size_t begin, size_t end) {
    const copy_job *job = context;
    int outer = job->rank > 2 ? job->rank - 2 : 0;
    for (size_t index = begin; index < end; index++) {
        int64_t target = 0, source = 0;
        size_t rest = index;
        for (int d = outer - 1; d >= 0; d--) {
            int64_t position = (int64_t)(rest % (size_t)job->extents[d]);
            rest /= (size_t)job->extents[d];
            target += position * job->target_strides[d];
            source += position * job->source_strides[d];
        }
        copy_plane(job, job->target + target * (int64_t)job->size, job->source + source * (int64_t)job->size);
    }
}

void ck_copy_strided(
    size_t size, int rank, const int64_t *extents, void *target, const int64_t *target_strides, const void *source,
    const int64_t *source_strides) {
    copy_job job = {.size = size, .target = target, .source = source};
    if (rank < 0 || rank > MAX_RANK) return;
    // Join dimensions that run on in both arrays; drop those of one.
    for (int d = 0; d < rank; d++) {
        if (extents[d] <= 0) return;
        if (extents[d] == 1) continue;
        int last = job.rank - 1;
        if (last >= 0 && job.target_strides[last] == target_strides[d] * extents[d] &&
            job.source_strides[last] == source_strides[d] * extents[d]) {
            job.extents[last] *= extents[d];
            job.target_strides[last] = target_strides[d];
            job.source_strides[last] = source_strides[d];
        } else {
            job.extents[job.rank] = extents[d];
            job.target_strides[job.rank] = target_strides[d];
            job.source_strides[job.rank] = source_strides[d];
            job.rank++;
        }
    }
    if (job.rank == 0) {
        memcpy(target, source, size);
        return;
    }
    size_t planes = 1, plane = (size_t)job.extents[job.rank - 1];
    for (int d = 0; d < job.rank - 2; d++) planes *= (size_t)job.extents[d];
    if (job.rank > 1) plane *= (size_t)job.extents[job.rank - 2];
    size_t grain = (64 << 10) / (plane * size + 1) + 1;
    ck_parallel_for(planes, grain, copy_planes, &job);
}
