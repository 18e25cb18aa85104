#define CK_LEVEL 0
#include "gemm_kernels.h"
