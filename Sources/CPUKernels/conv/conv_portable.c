#define CK_LEVEL 0
#include "conv_kernels.h"
