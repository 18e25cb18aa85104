/// The scalar types that a value of a program can have: those of the dialect and those of the public API.
package enum ElementType: UInt8, Sendable, Hashable, CaseIterable {
    case bool
    case int2, int3, int4, int5, int6, int7, int8, int16, int32, int64, int128
    case uint1, uint2, uint3, uint4, uint5, uint6, uint7, uint8, uint16, uint32, uint64, uint128
    case float8e5m2, float8e4m3fn, float8e8m0fn, float4e2m1fn
    case float16, bfloat16, tensorFloat32, float32, float64
    case complexFloat8e5m2, complexFloat8e4m3fn
    case complexFloat16, complexBFloat16, complexFloat32, complexFloat64

    /// The width of one element, in bits, as it is stored.
    package var bitWidth: Int {
        switch self {
        case .uint1: 1
        case .int2, .uint2: 2
        case .int3, .uint3: 3
        case .int4, .uint4, .float4e2m1fn: 4
        case .int5, .uint5: 5
        case .int6, .uint6: 6
        case .int7, .uint7: 7
        case .bool, .int8, .uint8, .float8e5m2, .float8e4m3fn, .float8e8m0fn: 8
        case .int16, .uint16, .float16, .bfloat16, .complexFloat8e5m2, .complexFloat8e4m3fn: 16
        case .int32, .uint32, .float32, .tensorFloat32, .complexFloat16, .complexBFloat16: 32
        case .int64, .uint64, .float64, .complexFloat32: 64
        case .int128, .uint128, .complexFloat64: 128
        }
    }

    /// Whether elements are packed several to a byte, least significant bits first.
    package var isPacked: Bool { bitWidth < 8 }

    package var isComplex: Bool {
        switch self {
        case .complexFloat8e5m2, .complexFloat8e4m3fn, .complexFloat16, .complexBFloat16, .complexFloat32,
            .complexFloat64:
            true
        default: false
        }
    }

    /// Whether the type is a real floating-point type, of any width.
    package var isFloat: Bool {
        switch self {
        case .float8e5m2, .float8e4m3fn, .float8e8m0fn, .float4e2m1fn, .float16, .bfloat16, .tensorFloat32, .float32,
            .float64:
            true
        default: false
        }
    }

    package var isSignedInteger: Bool {
        switch self {
        case .int2, .int3, .int4, .int5, .int6, .int7, .int8, .int16, .int32, .int64, .int128: true
        default: false
        }
    }

    package var isUnsignedInteger: Bool {
        switch self {
        case .uint1, .uint2, .uint3, .uint4, .uint5, .uint6, .uint7, .uint8, .uint16, .uint32, .uint64, .uint128:
            true
        default: false
        }
    }

    /// Whether the type is an integer type; `bool` is not one.
    package var isInteger: Bool { isSignedInteger || isUnsignedInteger }

    /// The type of the two parts of a complex type.
    package var complexPart: ElementType? {
        switch self {
        case .complexFloat8e5m2: .float8e5m2
        case .complexFloat8e4m3fn: .float8e4m3fn
        case .complexFloat16: .float16
        case .complexBFloat16: .bfloat16
        case .complexFloat32: .float32
        case .complexFloat64: .float64
        default: nil
        }
    }

    /// The bytes that `count` elements take in a contiguous buffer; nil where the product overflows.
    package func byteCount(of count: Int) -> Int? {
        guard count >= 0 else { return nil }
        let (bits, overflow) = count.multipliedReportingOverflow(by: bitWidth)
        guard !overflow, bits <= Int.max - 7 else { return nil }
        return (bits + 7) / 8
    }

    /// The name in the dialect's text: `f32`, `si8`, `ui4`, `complex<f32>`.
    package var dialectName: String {
        if let part = complexPart { return "complex<\(part.dialectName)>" }
        switch self {
        case .bool: return "i1"
        case .float8e5m2: return "f8E5M2"
        case .float8e4m3fn: return "f8E4M3FN"
        case .float8e8m0fn: return "f8E8M0FNU"
        case .float4e2m1fn: return "f4E2M1FN"
        case .float16: return "f16"
        case .bfloat16: return "bf16"
        case .tensorFloat32: return "tf32"
        case .float32: return "f32"
        case .float64: return "f64"
        default: return (isSignedInteger ? "si" : "ui") + String(bitWidth)
        }
    }

    /// The name that a summary shows: `Float32`, `UInt8`, `Bool`.
    package var displayName: String {
        switch self {
        case .bool: "Bool"
        case .float8e5m2: "Float8E5M2"
        case .float8e4m3fn: "Float8E4M3FN"
        case .float8e8m0fn: "Float8E8M0FN"
        case .float4e2m1fn: "Float4E2M1FN"
        case .float16: "Float16"
        case .bfloat16: "BFloat16"
        case .tensorFloat32: "TensorFloat32"
        case .float32: "Float32"
        case .float64: "Float64"
        case .complexFloat8e5m2: "ComplexFloat8E5M2"
        case .complexFloat8e4m3fn: "ComplexFloat8E4M3FN"
        case .complexFloat16: "ComplexFloat16"
        case .complexBFloat16: "ComplexBFloat16"
        case .complexFloat32: "ComplexFloat32"
        case .complexFloat64: "ComplexFloat64"
        default: (isSignedInteger ? "Int" : "UInt") + String(bitWidth)
        }
    }
}
