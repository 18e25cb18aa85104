package import EngineGraph

// The public scalar types and the engine's element types, in the two directions.
extension NDArray.ScalarType {
    /// The engine's name of this type.
    package var elementType: ElementType {
        switch self {
        case .bool: .bool
        case .int2: .int2
        case .int3: .int3
        case .int4: .int4
        case .int5: .int5
        case .int6: .int6
        case .int7: .int7
        case .int8: .int8
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .int128: .int128
        case .uint1: .uint1
        case .uint2: .uint2
        case .uint3: .uint3
        case .uint4: .uint4
        case .uint5: .uint5
        case .uint6: .uint6
        case .uint7: .uint7
        case .uint8: .uint8
        case .uint16: .uint16
        case .uint32: .uint32
        case .uint64: .uint64
        case .uint128: .uint128
        case .float8e5m2: .float8e5m2
        case .float8e4m3fn: .float8e4m3fn
        case .float8e8m0fn: .float8e8m0fn
        case .float4e2m1fn: .float4e2m1fn
        case .float16: .float16
        case .float32: .float32
        case .float64: .float64
        case .bfloat16: .bfloat16
        case .cfloat16: .complexFloat16
        case .cfloat32: .complexFloat32
        case .cfloat64: .complexFloat64
        }
    }

    private static let byElementType = Dictionary(uniqueKeysWithValues: allCases.map { ($0.elementType, $0) })

    /// The public type of the engine's `elementType`; nil for the few that the API has no name for.
    package init?(_ elementType: ElementType) {
        guard let known = Self.byElementType[elementType] else { return nil }
        self = known
    }

    /// The width of one stored element, in bits.
    package var bitWidth: Int { elementType.bitWidth }
}
