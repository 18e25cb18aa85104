import EngineGraph

extension NumPyType {
    /// The element type that an array of this type has by itself; nil for raw bytes, which have none.
    var elementType: ElementType? {
        switch self {
        case .bool: .bool
        case .int(1): .int8
        case .int(2): .int16
        case .int(4): .int32
        case .int(8): .int64
        case .uint(1): .uint8
        case .uint(2): .uint16
        case .uint(4): .uint32
        case .uint(8): .uint64
        case .float(2): .float16
        case .float(4): .float32
        case .float(8): .float64
        case .complex(8): .complexFloat32
        case .complex(16): .complexFloat64
        default: nil
        }
    }

    /// The type that elements of `type` are saved as: themselves, or unsigned integers of the same width.
    init(saving type: ElementType) {
        switch type {
        case .bool: self = .bool
        case .int8, .int16, .int32, .int64: self = .int(type.bitWidth / 8)
        case .float16, .float32, .float64: self = .float(type.bitWidth / 8)
        case .tensorFloat32: self = .float(4)
        case .complexFloat32, .complexFloat64: self = .complex(type.bitWidth / 8)
        case .int2, .int3, .int4, .int5, .int6, .int7: self = .int(1)
        default: self = type.bitWidth > 64 ? .raw(type.bitWidth / 8) : .uint(max(1, type.bitWidth / 8))
        }
    }

    /// Whether an array of this type may hold the bits of `type`, which NumPy has no name for.
    func carriesBits(of type: ElementType) -> Bool {
        guard NumPyType(saving: type).elementType != type else { return false }
        switch self {
        case .uint(let size), .raw(let size): return size == max(1, type.bitWidth / 8)
        // One byte for each signed number of a few bits.
        case .int(1): return type.isPacked && type.isSignedInteger
        default: return false
        }
    }
}

extension NumPyArray {
    /// The elements as numbers, taken as `type` where the array carries bits of that type, else as what they are;
    /// nil for raw bytes that can't be of that type.
    func numbers(asStored type: ElementType) -> Numbers? {
        let carries = self.type.carriesBits(of: type)
        guard let elementType = carries ? type : self.type.elementType else { return nil }
        return bytes.withUnsafeBytes { bytes in
            Numbers(bytes, type: elementType, count: elementCount, packing: .bytes)
        }
    }
}
