#pragma once

#include "cpu_kernels.h"

bool ck_reduce_supports(ck_reduce_op op, ck_type type);

/// The operation that the kernels run: a mean is a sum, bools know only any and all.
ck_reduce_op ck_reduce_effective(ck_reduce_op op, ck_type type);

/// The value that the (effective) operation starts from.
void ck_reduce_identity(ck_reduce_op op, ck_type type, void *value);

/// `n` of them.
static inline void ck_reduce_start(ck_reduce_op op, ck_type type, void *values, size_t n) {
    char value[8];
    size_t size = ck_type_size(type);
    ck_reduce_identity(op, type, value);
    for (size_t i = 0; i < n; i++) memcpy((char *)values + i * size, value, size);
}
