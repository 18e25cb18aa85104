#if defined(__x86_64__)
#define CK_LEVEL 1
#include "attention_kernels.h"
#endif
