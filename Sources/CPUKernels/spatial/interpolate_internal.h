#pragma once

#include "elementwise.h"
#include "interpolate.h"

enum { CK_INTERPOLATE_MAX_RANK = 8 };

/// An element and the next one, whose share is `weight`; both are the same where that is 0.
typedef struct {
    size_t low, high;
    float weight;
} ck_place;

/// One dimension of a grid. `places` has `count` entries; NULL if the dimension is left as it is.
typedef struct {
    size_t extent, count;
    ck_place *places;
} ck_axis;

/// Rows that run along one dimension, in pieces of `inner` elements that stay together.
typedef struct {
    ck_type type, wide;
    bool nearest, failed;
    int outer_rank;
    ck_axis outer[CK_INTERPOLATE_MAX_RANK], along;
    size_t inner;
    /// The pieces of a row of the input that are needed, if not all (NULL). `along` counts in these.
    size_t *columns;
    size_t column_count;
    const char *input;
    char *output;
} ck_grid;

/// The elements around a point, and their shares.
typedef struct {
    size_t count, offsets[1 << CK_INTERPOLATE_MAX_RANK];
    double weights[1 << CK_INTERPOLATE_MAX_RANK];
} ck_corners;

/// The element at `at`, clamped to the edges, or those around it.
ck_place ck_interpolate_place(float at, size_t extent, bool nearest);

/// False if memory is short.
bool ck_interpolate_rows(ck_grid *grid);

/// Adds the next dimension.
static inline void ck_interpolate_split(ck_corners *corners, size_t extent, ck_place place) {
    size_t count = corners->count;
    for (size_t i = 0; i < count; i++) {
        size_t base = corners->offsets[i] * extent;
        corners->offsets[i] = base + place.low;
        if (place.weight == 0) continue;
        corners->offsets[count + i] = base + place.high;
        corners->weights[count + i] = corners->weights[i] * (double)place.weight;
        corners->weights[i] *= 1 - (double)place.weight;
        corners->count++;
    }
}
