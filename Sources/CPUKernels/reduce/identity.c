#include <math.h>

#include "reduce_internal.h"

bool ck_reduce_supports(ck_reduce_op op, ck_type type) {
    if ((unsigned)op > CK_REDUCE_SUM_SQUARES || (unsigned)type > CK_F64) return false;
    if (op == CK_REDUCE_ANY || op == CK_REDUCE_ALL) return type == CK_BOOL;
    return type >= CK_F16 || (op != CK_REDUCE_MEAN && op != CK_REDUCE_SUM_SQUARES);
}

ck_reduce_op ck_reduce_effective(ck_reduce_op op, ck_type type) {
    if (op == CK_REDUCE_MEAN) return CK_REDUCE_SUM;
    if (type != CK_BOOL) return op;
    if (op == CK_REDUCE_SUM || op == CK_REDUCE_MAX) return CK_REDUCE_ANY;
    return op == CK_REDUCE_PRODUCT || op == CK_REDUCE_MIN ? CK_REDUCE_ALL : op;
}

static int64_t least(ck_type type) {
    switch (type) {
        case CK_I8: return INT8_MIN;
        case CK_I16: return INT16_MIN;
        case CK_I32: return INT32_MIN;
        case CK_I64: return INT64_MIN;
        default: return 0;
    }
}

void ck_reduce_identity(ck_reduce_op op, ck_type type, void *value) {
    double real = op == CK_REDUCE_PRODUCT || op == CK_REDUCE_ALL;
    int64_t integer = (int64_t)real;
    if (op == CK_REDUCE_MAX) real = -INFINITY, integer = least(type);
    // All ones but for the sign: the greatest integer.
    if (op == CK_REDUCE_MIN) real = INFINITY, integer = ~least(type);
    if (type == CK_F64) memcpy(value, &real, sizeof real);
    else if (type >= CK_F16) ck_cast(type, value, CK_F64, &real, 1);
    // The low bytes, not a cast: all ones must stay all ones.
    else memcpy(value, &integer, ck_type_size(type));
}
