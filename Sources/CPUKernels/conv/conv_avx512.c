#if defined(__x86_64__)
#define CK_LEVEL 2
#include "conv_kernels.h"
#endif
