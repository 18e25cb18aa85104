#define CK_LEVEL 0
#include "simd/kernels.h"
