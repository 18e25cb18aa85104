// The plain reductions of every type, chosen at run time.

#define T int8_t
#define A uint32_t
#define S i8
#include "plain_rows.h"

#define T int16_t
#define A uint32_t
#define S i16
#include "plain_rows.h"

#define T int32_t
#define A uint32_t
#define S i32
#include "plain_rows.h"

#define T int64_t
#define A uint64_t
#define S i64
#include "plain_rows.h"

#define T uint8_t
#define A uint32_t
#define S u8
#include "plain_rows.h"

#define T uint16_t
#define A uint32_t
#define S u16
#include "plain_rows.h"

#define T uint32_t
#define A uint32_t
#define S u32
#include "plain_rows.h"

#define T uint64_t
#define A uint64_t
#define S u64
#include "plain_rows.h"

#define T double
#define A double
#define S f64
#define IS_NAN(x) ((x) != (x))
#include "plain_rows.h"

#define EVERY_PLAIN(name, ...)                               \
    switch (type) {                                          \
        case CK_I8: name##_i8(__VA_ARGS__); break;           \
        case CK_I16: name##_i16(__VA_ARGS__); break;         \
        case CK_I32: name##_i32(__VA_ARGS__); break;         \
        case CK_I64: name##_i64(__VA_ARGS__); break;         \
        case CK_BOOL:                                        \
        case CK_U8: name##_u8(__VA_ARGS__); break;           \
        case CK_U16: name##_u16(__VA_ARGS__); break;         \
        case CK_U32: name##_u32(__VA_ARGS__); break;         \
        case CK_U64: name##_u64(__VA_ARGS__); break;         \
        case CK_F64: name##_f64(__VA_ARGS__); break;         \
        default: break;                                      \
    }

static void plain_row(ck_reduce_op op, ck_type type, void *sum, const void *a, size_t n) {
    EVERY_PLAIN(plain_row, op, sum, a, n)
}

static void plain_column(ck_reduce_op op, ck_type type, void *sums, const void *a, size_t n) {
    EVERY_PLAIN(plain_column, op, sums, a, n)
}

static void plain_arg_column(
    bool greatest, ck_type type, void *best, uint32_t *index, const void *a, size_t n, uint32_t row) {
    EVERY_PLAIN(plain_arg_column, greatest, best, index, a, n, row)
}

static void plain_arg_row(bool greatest, ck_type type, void *best, size_t *index, const void *a, size_t n) {
    EVERY_PLAIN(plain_arg_row, greatest, best, index, a, n)
}
