extension NDArray {
    /// The type of an array's elements.
    ///
    /// Types narrower than a byte are packed without gaps, the first element in the lowest bits of the first byte;
    /// their bytes are reached through raw views. So are those of the types that Swift has no type for, unless an
    /// app brings a type of the same size.
    public enum ScalarType: Hashable, Sendable, CaseIterable {
        /// A truth value, one byte: 0 or 1.
        case bool
        /// A 2-bit signed integer, packed.
        case int2
        /// A 3-bit signed integer, packed.
        case int3
        /// A 4-bit signed integer, packed.
        case int4
        /// A 5-bit signed integer, packed.
        case int5
        /// A 6-bit signed integer, packed.
        case int6
        /// A 7-bit signed integer, packed.
        case int7
        /// An 8-bit signed integer.
        case int8
        /// A 16-bit signed integer.
        case int16
        /// A 32-bit signed integer.
        case int32
        /// A 64-bit signed integer.
        case int64
        /// A 128-bit signed integer.
        case int128
        /// A 1-bit unsigned integer, packed.
        case uint1
        /// A 2-bit unsigned integer, packed.
        case uint2
        /// A 3-bit unsigned integer, packed.
        case uint3
        /// A 4-bit unsigned integer, packed.
        case uint4
        /// A 5-bit unsigned integer, packed.
        case uint5
        /// A 6-bit unsigned integer, packed.
        case uint6
        /// A 7-bit unsigned integer, packed.
        case uint7
        /// An 8-bit unsigned integer.
        case uint8
        /// A 16-bit unsigned integer.
        case uint16
        /// A 32-bit unsigned integer.
        case uint32
        /// A 64-bit unsigned integer.
        case uint64
        /// A 128-bit unsigned integer.
        case uint128
        /// An 8-bit float: 5 bits of exponent, 2 of mantissa.
        case float8e5m2
        /// An 8-bit float: 4 bits of exponent, 3 of mantissa, no infinities.
        case float8e4m3fn
        /// A power of two in 8 bits: the exponent alone.
        case float8e8m0fn
        /// A 4-bit float, packed: 2 bits of exponent, 1 of mantissa.
        case float4e2m1fn
        /// IEEE half precision.
        case float16
        /// IEEE single precision.
        case float32
        /// IEEE double precision.
        case float64
        /// The upper half of single precision.
        case bfloat16
        /// A complex number of two half-precision parts, the real one first.
        case cfloat16
        /// A complex number of two single-precision parts, the real one first.
        case cfloat32
        /// A complex number of two double-precision parts, the real one first.
        case cfloat64
    }
}
