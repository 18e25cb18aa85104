#if defined(__x86_64__)
#define CK_LEVEL 2
#include "gemm_kernels.h"
#endif
