package import EngineDelegation
package import EngineGraph

/// A tensor's contents, element by element: what cases are made of and results are compared by.
package struct Elements: Sendable {
    package var type: TensorType
    /// The stored bits of each element, low bits first; two entries for a complex one.
    package var bits: [UInt64]

    package init(_ type: TensorType, bits: [UInt64]) {
        self.type = type
        self.bits = bits
    }

    /// Integers, wrapped to the type's width; bools; or numbers rounded to it.
    package init(_ shape: [Int], _ type: ElementType, _ integers: [Int]) {
        if type.isInteger || type == .bool {
            let mask: UInt64 = type.bitWidth >= 64 ? .max : (1 << UInt64(type.bitWidth)) - 1
            self.init(TensorType(shape, type), bits: integers.map { UInt64(truncatingIfNeeded: $0) & mask })
        } else {
            self.init(shape, type, integers.map(Double.init))
        }
    }

    /// Numbers rounded to the type; real and imaginary parts in turn for a complex type.
    package init(_ shape: [Int], _ type: ElementType, _ reals: [Double]) {
        let part = type.complexPart ?? type
        self.init(TensorType(shape, type), bits: reals.map { part.bits(of: $0) })
    }

    package var shape: [Int] { type.shape }
    package var count: Int { bits.count }
    private var part: ElementType { type.elementType.complexPart ?? type.elementType }

    package var reals: [Double] { bits.map { part.number(fromBits: $0) ?? .nan } }

    /// The elements of an integer or bool type; those of `ui64` by their bits.
    package var integers: [Int] {
        if type.elementType == .uint64 { return bits.map { Int(bitPattern: UInt($0)) } }
        return bits.map { type.elementType.integer(fromBits: $0) ?? 0 }
    }

    /// The same elements in another shape.
    package func reshaped(_ shape: [Int]) -> Elements {
        Elements(TensorType(shape, type.elementType), bits: bits)
    }
}

// MARK: Memory

extension Elements {
    package func tensor() throws(EngineError) -> HostTensor {
        let tensor = try HostTensor(allocating: type)
        let width = part.bitWidth
        if width < 8 {
            for index in 0..<tensor.byteCount { tensor.pointer.storeBytes(of: 0, toByteOffset: index, as: UInt8.self) }
            for (index, element) in bits.enumerated() {
                for bit in 0..<width where element >> UInt64(bit) & 1 == 1 {
                    let (place, shift) = (index * width + bit).quotientAndRemainder(dividingBy: 8)
                    let old = tensor.pointer.load(fromByteOffset: place, as: UInt8.self)
                    tensor.pointer.storeBytes(of: old | 1 << UInt8(shift), toByteOffset: place, as: UInt8.self)
                }
            }
            return tensor
        }
        for (index, element) in bits.enumerated() {
            let place = tensor.pointer + index * (width / 8)
            switch width {
            case 8: place.storeBytes(of: UInt8(truncatingIfNeeded: element), as: UInt8.self)
            case 16: place.storeBytes(of: UInt16(truncatingIfNeeded: element), as: UInt16.self)
            case 32: place.storeBytes(of: UInt32(truncatingIfNeeded: element), as: UInt32.self)
            default: place.storeBytes(of: element, as: UInt64.self)
            }
        }
        return tensor
    }

    package init(_ tensor: HostTensor) {
        let part = tensor.type.elementType.complexPart ?? tensor.type.elementType
        let count = (tensor.type.elementCount ?? 0) * (tensor.type.elementType.isComplex ? 2 : 1)
        let width = part.bitWidth
        let base = UnsafeRawPointer(tensor.pointer)
        let bits = (0..<count).map { index -> UInt64 in
            switch width {
            case 8: return UInt64(base.loadUnaligned(fromByteOffset: index, as: UInt8.self))
            case 16: return UInt64(base.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
            case 32: return UInt64(base.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
            case 64: return base.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
            default:
                return (0..<width).reduce(0) { element, bit in
                    let (place, shift) = (index * width + bit).quotientAndRemainder(dividingBy: 8)
                    let byte = base.loadUnaligned(fromByteOffset: place, as: UInt8.self)
                    return element | UInt64(byte >> UInt8(shift) & 1) << UInt64(bit)
                }
            }
        }
        self.init(tensor.type, bits: bits)
    }
}

extension ElementType {
    /// The bits of the value of this type nearest to `number`; of zero for a type that has no such conversion here.
    func bits(of number: Double) -> UInt64 {
        switch self {
        case .float64: return number.bitPattern
        case .float32, .tensorFloat32: return UInt64(Float(number).bitPattern)
        case .float16: return UInt64(Float16(number).bitPattern)
        case .bfloat16:
            let single = Float(number)
            guard !single.isNaN else { return 0x7FC0 }
            let pattern = UInt64(single.bitPattern)
            return (pattern + 0x7FFF + (pattern >> 16 & 1)) >> 16
        case .bool: return number == 0 ? 0 : 1
        default:
            guard isInteger, let whole = Int(exactly: number.rounded(.towardZero)) else { return 0 }
            return UInt64(truncatingIfNeeded: whole) & (bitWidth >= 64 ? .max : (1 << UInt64(bitWidth)) - 1)
        }
    }
}
