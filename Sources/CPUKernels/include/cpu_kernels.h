#pragma once

#include "ck_types.h"
#include "thread_pool.h"
