// Conversions between the classes of a program, and choices by element size.

#define CONVERT(name, F, T, expression)                                                                      \
    static void name(void *d, const void *pa, const void *pb, const void *pc, size_t n) {                    \
        (void)pb, (void)pc;                                                                                  \
        const F *a = pa;                                                                                     \
        T *to = d;                                                                                           \
        CK_LOOP for (size_t i = 0; i < n; i++) {                                                             \
            F x = a[i];                                                                                      \
            to[i] = (T)(expression);                                                                         \
        }                                                                                                    \
    }

// Integers saturate, as floats do: W is a type that holds every value of both.
#define NARROW(W, T, least, greatest) \
    ((W)(x) > (W)(greatest) ? (T)(greatest) : (W)(x) < (W)(least) ? (T)(least) : (T)(x))

#define FROM_INTEGER(name, F, W)                                                                             \
    CONVERT(name##_bool, F, uint8_t, x != 0)                                                                 \
    CONVERT(name##_i8, F, int8_t, NARROW(W, int8_t, INT8_MIN, INT8_MAX))                                     \
    CONVERT(name##_i16, F, int16_t, NARROW(W, int16_t, INT16_MIN, INT16_MAX))                                \
    CONVERT(name##_i32, F, int32_t, NARROW(W, int32_t, INT32_MIN, INT32_MAX))                                \
    CONVERT(name##_i64, F, int64_t, NARROW(W, int64_t, INT64_MIN, INT64_MAX))                                \
    CONVERT(name##_u8, F, uint8_t, NARROW(W, uint8_t, 0, UINT8_MAX))                                         \
    CONVERT(name##_u16, F, uint16_t, NARROW(W, uint16_t, 0, UINT16_MAX))                                     \
    CONVERT(name##_u32, F, uint32_t, NARROW(W, uint32_t, 0, UINT32_MAX))                                     \
    CONVERT(name##_u64, F, uint64_t, NARROW(__int128, uint64_t, 0, UINT64_MAX))                              \
    CONVERT(name##_f32, F, float, x)                                                                         \
    CONVERT(name##_f64, F, double, x)                                                                        \
    SELECT_TARGET(name)

#define SELECT_TARGET(name)                                                                                  \
    static ck_ew_kernel name(ck_type to) {                                                                   \
        switch (to) {                                                                                        \
            case CK_BOOL: return name##_bool;                                                                \
            case CK_I8: return name##_i8;                                                                    \
            case CK_I16: return name##_i16;                                                                  \
            case CK_I32: return name##_i32;                                                                  \
            case CK_I64: return name##_i64;                                                                  \
            case CK_U8: return name##_u8;                                                                    \
            case CK_U16: return name##_u16;                                                                  \
            case CK_U32: return name##_u32;                                                                  \
            case CK_U64: return name##_u64;                                                                  \
            case CK_F32: return name##_f32;                                                                  \
            case CK_F64: return name##_f64;                                                                  \
            default: return NULL;                                                                            \
        }                                                                                                    \
    }

// bool's bytes may be any but are read as 0 or 1.
CONVERT(from_bool_8, uint8_t, uint8_t, x != 0)
CONVERT(from_bool_16, uint8_t, uint16_t, x != 0)
CONVERT(from_bool_32, uint8_t, uint32_t, x != 0)
CONVERT(from_bool_64, uint8_t, uint64_t, x != 0)
CONVERT(from_bool_f32, uint8_t, float, x != 0)
CONVERT(from_bool_f64, uint8_t, double, x != 0)

static ck_ew_kernel from_bool(ck_type to) {
    switch (to) {
        case CK_BOOL:
        case CK_I8:
        case CK_U8: return from_bool_8;
        case CK_I16:
        case CK_U16: return from_bool_16;
        case CK_I32:
        case CK_U32: return from_bool_32;
        case CK_I64:
        case CK_U64: return from_bool_64;
        case CK_F32: return from_bool_f32;
        case CK_F64: return from_bool_f64;
        default: return NULL;
    }
}

FROM_INTEGER(from_i8, int8_t, int64_t)
FROM_INTEGER(from_i16, int16_t, int64_t)
FROM_INTEGER(from_i32, int32_t, int64_t)
FROM_INTEGER(from_i64, int64_t, __int128)
FROM_INTEGER(from_u8, uint8_t, int64_t)
FROM_INTEGER(from_u16, uint16_t, int64_t)
FROM_INTEGER(from_u32, uint32_t, int64_t)
FROM_INTEGER(from_u64, uint64_t, __int128)

#define SATURATE(T, least, greatest, limit) \
    (x != x ? (T)0 : x >= (limit) ? (T)(greatest) : x < ((least) == 0 ? 0 : -(limit)) ? (T)(least) : (T)x)

#define FROM_FLOAT(name, F)                                                                                  \
    CONVERT(name##_bool, F, uint8_t, x != 0)                                                                 \
    CONVERT(name##_i8, F, int8_t, SATURATE(int8_t, INT8_MIN, INT8_MAX, (F)0x1p7))                            \
    CONVERT(name##_i16, F, int16_t, SATURATE(int16_t, INT16_MIN, INT16_MAX, (F)0x1p15))                      \
    CONVERT(name##_i32, F, int32_t, SATURATE(int32_t, INT32_MIN, INT32_MAX, (F)0x1p31))                      \
    CONVERT(name##_i64, F, int64_t, SATURATE(int64_t, INT64_MIN, INT64_MAX, (F)0x1p63))                      \
    CONVERT(name##_u8, F, uint8_t, SATURATE(uint8_t, 0, UINT8_MAX, (F)0x1p8))                                \
    CONVERT(name##_u16, F, uint16_t, SATURATE(uint16_t, 0, UINT16_MAX, (F)0x1p16))                           \
    CONVERT(name##_u32, F, uint32_t, SATURATE(uint32_t, 0, UINT32_MAX, (F)0x1p32))                           \
    CONVERT(name##_u64, F, uint64_t, SATURATE(uint64_t, 0, UINT64_MAX, (F)0x1p64))                           \
    CONVERT(name##_f32, F, float, x)                                                                         \
    CONVERT(name##_f64, F, double, x)                                                                        \
    SELECT_TARGET(name)

FROM_FLOAT(from_f32, float)
FROM_FLOAT(from_f64, double)

static ck_ew_kernel cast_kernel(ck_type from, ck_type to) {
    switch (from) {
        case CK_BOOL: return from_bool(to);
        case CK_I8: return from_i8(to);
        case CK_I16: return from_i16(to);
        case CK_I32: return from_i32(to);
        case CK_I64: return from_i64(to);
        case CK_U8: return from_u8(to);
        case CK_U16: return from_u16(to);
        case CK_U32: return from_u32(to);
        case CK_U64: return from_u64(to);
        case CK_F32: return from_f32(to);
        case CK_F64: return from_f64(to);
        default: return NULL;
    }
}

#define WHERE(name, T)                                                                                       \
    static void name(void *d, const void *pa, const void *pb, const void *pc, size_t n) {                    \
        const uint8_t *a = pa;                                                                               \
        const T *b = pb, *c = pc;                                                                            \
        T *to = d;                                                                                           \
        CK_LOOP for (size_t i = 0; i < n; i++) {                                                             \
            T x = b[i], y = c[i];                                                                            \
            to[i] = a[i] ? x : y;                                                                            \
        }                                                                                                    \
    }

WHERE(where_8, uint8_t)
WHERE(where_16, uint16_t)
WHERE(where_32, uint32_t)
WHERE(where_64, uint64_t)

static ck_ew_kernel where_kernel(ck_type type) {
    switch (ck_type_size(type)) {
        case 1: return where_8;
        case 2: return where_16;
        case 4: return where_32;
        default: return where_64;
    }
}

#define LOGIC(name, expression) PAIR(name##_bool, uint8_t, uint8_t, expression)
EACH(not_bool, uint8_t, x == 0)
LOGIC(and, (x != 0) & (y != 0))
LOGIC(or, (x != 0) | (y != 0))
LOGIC(xor, (x != 0) ^ (y != 0))
LOGIC(equal, (x != 0) == (y != 0))
LOGIC(greater, (x != 0) & (y == 0))
LOGIC(greater_equal, (x != 0) | (y == 0))
EACH(same_bool, uint8_t, x != 0)

static ck_ew_kernel bool_kernel(ck_ew_op op) {
    switch (op) {
        case CK_EW_ABS:
        case CK_EW_RELU: return same_bool;
        case CK_EW_NOT: return not_bool;
        case CK_EW_MUL:
        case CK_EW_MINIMUM:
        case CK_EW_AND: return and_bool;
        case CK_EW_ADD:
        case CK_EW_MAXIMUM:
        case CK_EW_OR: return or_bool;
        case CK_EW_SUB:
        case CK_EW_NOT_EQUAL:
        case CK_EW_XOR: return xor_bool;
        case CK_EW_EQUAL: return equal_bool;
        case CK_EW_GREATER: return greater_bool;
        case CK_EW_GREATER_EQUAL: return greater_equal_bool;
        default: return NULL;
    }
}
