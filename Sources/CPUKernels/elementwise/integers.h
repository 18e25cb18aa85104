// The integer kernels of all eight types.

#define T int8_t
#define U uint32_t
#define S i8
#define SIGNED 1
#include "kernels_int.h"

#define T int16_t
#define U uint32_t
#define S i16
#define SIGNED 1
#include "kernels_int.h"

#define T int32_t
#define U uint32_t
#define S i32
#define SIGNED 1
#include "kernels_int.h"

#define T int64_t
#define U uint64_t
#define S i64
#define SIGNED 1
#include "kernels_int.h"

#define T uint8_t
#define U uint32_t
#define S u8
#define SIGNED 0
#include "kernels_int.h"

#define T uint16_t
#define U uint32_t
#define S u16
#define SIGNED 0
#include "kernels_int.h"

#define T uint32_t
#define U uint32_t
#define S u32
#define SIGNED 0
#include "kernels_int.h"

#define T uint64_t
#define U uint64_t
#define S u64
#define SIGNED 0
#include "kernels_int.h"
