// One level's kernels: everything that vector_portable.c, vector_avx2.c and vector_avx512.c share.

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../vector_kernels.h"

#include "begin.h"

#include "vector.h"

#include "functions.h"

#include "../elementwise/halves.h"
#include "../elementwise/kernels_float.h"
#include "../elementwise/integers.h"
#include "../elementwise/kernels_cast.h"
#include "../elementwise/table.h"
#include "../reduce/float_rows.h"
#include "../reduce/plain.h"
#include "../normalize/rows.h"

const ck_vector_kernels CK_NAME(ck_vector_kernels) = {
    .elementwise = elementwise_kernel,
    .widen = widen,
    .narrow = narrow,
    .float_row = float_row,
    .float_column = float_column,
    .plain_row = plain_row,
    .plain_column = plain_column,
    .float_arg_row = float_arg_row,
    .float_arg_column = float_arg_column,
    .plain_arg_row = plain_arg_row,
    .plain_arg_column = plain_arg_column,
    .exp_row = exp_row,
    .exp_columns = exp_columns,
    .scale_row = scale_row,
    .norm_row = norm_row,
};

#include "end.h"
