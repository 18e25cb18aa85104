#pragma once

#include <stdatomic.h>

#include "cpu_kernels.h"

static inline bool is_index_type(ck_type type) { return type >= CK_I8 && type <= CK_U64; }

/// An entry of any integer type; an unsigned one too large for int64_t is out of any range anyway.
static inline int64_t load_index(ck_type type, const void *indices, size_t i) {
    switch (type) {
        case CK_I8: return ((const int8_t *)indices)[i];
        case CK_I16: return ((const int16_t *)indices)[i];
        case CK_I32: return ((const int32_t *)indices)[i];
        case CK_U8: return ((const uint8_t *)indices)[i];
        case CK_U16: return ((const uint16_t *)indices)[i];
        case CK_U32: return ((const uint32_t *)indices)[i];
        case CK_U64: {
            uint64_t value = ((const uint64_t *)indices)[i];
            return value > INT64_MAX ? INT64_MAX : (int64_t)value;
        }
        default: return ((const int64_t *)indices)[i];
    }
}

/// The place in `0 ..< extent`, or -1.
static inline int64_t wrap_index(int64_t index, int64_t extent) {
    if (index < 0) index += extent;
    return index < 0 || index >= extent ? -1 : index;
}

/// Keeps the smallest position, that of the first bad index.
static inline void note_bad(_Atomic int64_t *first, int64_t position) {
    int64_t known = atomic_load_explicit(first, memory_order_relaxed);
    while ((known < 0 || position < known) && !atomic_compare_exchange_weak(first, &known, position)) {}
}

/// The element offset, in slices, of one row of indices; -1 if one is out of range.
static inline int64_t slice_offset(ck_type type, const void *indices, size_t row, int depth, const int64_t *extents) {
    int64_t offset = 0;
    for (int d = 0; d < depth; d++) {
        int64_t index = wrap_index(load_index(type, indices, row * (size_t)depth + (size_t)d), extents[d]);
        if (index < 0) return -1;
        offset = offset * extents[d] + index;
    }
    return offset;
}
