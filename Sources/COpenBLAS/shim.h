#include <cblas.h>
#include <openblas_config.h>
