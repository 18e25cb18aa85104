import EngineGraph

/// Elements of any type as numbers that can be compared and printed.
enum Numbers: Sendable, Equatable {
    case integers([Int128])
    case reals([Double])
    /// Real and imaginary parts in turn.
    case complex([Double])

    /// How elements that are narrower than a byte lie in memory.
    enum Packing {
        /// Side by side, least significant bits first: the engine's layout.
        case packed
        /// Each in the low bits of a byte of its own: NumPy's.
        case bytes
    }

    var count: Int {
        switch self {
        case .integers(let values): values.count
        case .reals(let values): values.count
        case .complex(let values): values.count / 2
        }
    }

    /// Decodes the first `count` elements of `bytes`; nil where the bytes are too few.
    init?(_ bytes: UnsafeRawBufferPointer, type: ElementType, count: Int, packing: Packing = .packed) {
        let width = packing == .bytes ? max(8, type.bitWidth) : type.bitWidth
        let (bits, overflow) = count.multipliedReportingOverflow(by: width)
        guard count >= 0, !overflow, bits / 8 + (bits % 8 == 0 ? 0 : 1) <= bytes.count else { return nil }
        if let part = type.complexPart {
            guard let parts = Numbers(bytes, type: part, count: count * 2), case .reals(let values) = parts else {
                return nil
            }
            self = .complex(values)
        } else if type.isFloat {
            self = .reals(Self.reals(bytes, type, count, width))
        } else {
            self = .integers(Self.integers(bytes, type, count, width))
        }
    }

    private static func load<T: BitwiseCopyable, R>(
        _ bytes: UnsafeRawBufferPointer, _ count: Int, _: T.Type, _ convert: (T) -> R
    ) -> [R] {
        (0..<count).map { convert(bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.size, as: T.self)) }
    }

    private static func reals(
        _ bytes: UnsafeRawBufferPointer, _ type: ElementType, _ count: Int, _ width: Int
    ) -> [Double] {
        switch type {
        case .float64: return load(bytes, count, Double.self) { $0 }
        case .float32, .tensorFloat32: return load(bytes, count, Float.self) { Double($0) }
        case .float16: return load(bytes, count, Float16.self) { Double(Float($0)) }
        case .bfloat16: return load(bytes, count, UInt16.self) { Double(Float(bitPattern: UInt32($0) << 16)) }
        default:
            let table = SmallFloat.table(type) ?? []
            return codes(bytes, count, stride: width, width: type.bitWidth).map {
                Int($0) < table.count ? table[Int($0)] : .nan
            }
        }
    }

    private static func integers(
        _ bytes: UnsafeRawBufferPointer, _ type: ElementType, _ count: Int, _ width: Int
    ) -> [Int128] {
        switch type {
        case .bool, .uint8: return load(bytes, count, UInt8.self) { Int128($0) }
        case .uint16: return load(bytes, count, UInt16.self) { Int128($0) }
        case .uint32: return load(bytes, count, UInt32.self) { Int128($0) }
        case .uint64: return load(bytes, count, UInt64.self) { Int128($0) }
        case .int8: return load(bytes, count, Int8.self) { Int128($0) }
        case .int16: return load(bytes, count, Int16.self) { Int128($0) }
        case .int32: return load(bytes, count, Int32.self) { Int128($0) }
        case .int64: return load(bytes, count, Int64.self) { Int128($0) }
        // The largest unsigned ones come out negative; equal stays equal.
        case .int128, .uint128: return load(bytes, count, Int128.self) { $0 }
        default:
            let bits = type.bitWidth
            return codes(bytes, count, stride: width, width: bits).map { code in
                let isNegative = type.isSignedInteger && code >> (bits - 1) & 1 == 1
                return Int128(code) - (isNegative ? 1 << bits : 0)
            }
        }
    }

    /// Elements of at most 8 bits that begin every `stride` bits.
    private static func codes(_ bytes: UnsafeRawBufferPointer, _ count: Int, stride: Int, width: Int) -> [UInt8] {
        (0..<count).map { index in
            let bit = index * stride
            let low = UInt16(bytes[bit / 8])
            // Widths of 3, 5, 6 and 7 bits cross byte borders.
            let high = bit % 8 + width > 8 ? UInt16(bytes[bit / 8 + 1]) << 8 : 0
            return UInt8(truncatingIfNeeded: (low | high) >> UInt16(bit % 8))
                & UInt8(truncatingIfNeeded: 1 << width - 1)
        }
    }

    /// The numbers as real ones: complex parts in turn, integers rounded where they need more than 53 bits.
    var asReals: [Double] {
        switch self {
        case .integers(let values): values.map { Double($0) }
        case .reals(let values), .complex(let values): values
        }
    }
}
