#define CK_LEVEL 0
#include "attention_kernels.h"
