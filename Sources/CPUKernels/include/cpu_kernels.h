#pragma once

#include "ck_types.h"
#include "elementwise.h"
#include "gemm.h"
#include "movement.h"
#include "norm.h"
#include "reduce.h"
#include "softmax.h"
#include "thread_pool.h"
#include "weights.h"
