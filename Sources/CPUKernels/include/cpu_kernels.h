#pragma once

#include "ck_types.h"
#include "elementwise.h"
#include "gemm.h"
#include "reduce.h"
#include "thread_pool.h"
