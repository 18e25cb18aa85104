/// Reads a constant's elements as numbers, in row-major order: a splat repeated, packed types unpacked.
package struct ConstantReader {
    private let constant: Constant
    package let type: TensorType
    /// The number of elements of the type.
    package let count: Int

    /// Fails where the type is not a static dense tensor, or the constant has too few bytes for it.
    package init(_ constant: Constant, as type: TensorType) throws(EngineError) {
        let math = ShapeMath(.constant)
        guard type.encoding == .dense, let count = type.elementCount,
            let needed = type.elementType.byteCount(of: constant.isSplat ? min(count, 1) : count)
        else { throw math.failure("a constant of type \(type) can't be read") }
        try math.require(
            constant.byteCount >= needed,
            "a constant of type \(type) has \(constant.byteCount) bytes, expected \(needed)")
        self.constant = constant
        self.type = type
        self.count = count
    }

    /// The elements as integers (bools as 0 and 1); nil where there are more than `limit`, where they are no integers,
    /// or where one is too large for `Int`.
    package func integers(limit: Int) -> [Int]? {
        guard type.elementType.isInteger || type.elementType == .bool else { return nil }
        return elements(limit: limit, integer)
    }

    /// The elements as doubles; nil where there are more than `limit` or where they are complex.
    package func numbers(limit: Int) -> [Double]? {
        elements(limit: limit, number)
    }

    /// Element `index` as an integer; nil where it is none or too large, or the index is out of range.
    package func integer(_ index: Int) -> Int? {
        guard type.elementType.isInteger || type.elementType == .bool, index >= 0, index < count else { return nil }
        return narrowBits(constant.isSplat ? 0 : index).flatMap { type.elementType.integer(fromBits: $0) }
    }

    /// Element `index` as a double; nil where it is complex, or the index is out of range.
    package func number(_ index: Int) -> Double? {
        guard index >= 0, index < count else { return nil }
        let stored = constant.isSplat ? 0 : index
        guard let bits = narrowBits(stored) else { return wideNumber(stored) }
        return type.elementType.number(fromBits: bits)
    }

    /// The real and imaginary parts of complex elements, in turn; nil where there are more than `limit` elements or
    /// where they are real.
    package func complexParts(limit: Int) -> [Double]? {
        guard let part = type.elementType.complexPart else { return nil }
        let pairs = elements(limit: limit) { index -> [Double]? in
            guard let real = part.number(fromBits: bits(2 * index, part.bitWidth)),
                let imaginary = part.number(fromBits: bits(2 * index + 1, part.bitWidth))
            else { return nil }
            return [real, imaginary]
        }
        return pairs?.flatMap { $0 }
    }

    /// The one number that every element is, where the constant says so: a splat or a single element.
    package var uniformNumber: Double? {
        guard count > 0, constant.isSplat || count == 1 else { return nil }
        return number(0)
    }

    /// `value` of each stored element, a splat's repeated; nil where one is nil.
    private func elements<T>(limit: Int, _ value: (Int) -> T?) -> [T]? {
        guard count <= limit else { return nil }
        if count == 0 { return [] }
        if constant.isSplat { return value(0).map { Array(repeating: $0, count: count) } }
        var result: [T] = []
        result.reserveCapacity(count)
        for index in 0..<count {
            guard let element = value(index) else { return nil }
            result.append(element)
        }
        return result
    }

    /// The bits of element `index`; nil for types wider than 64 bits whose value takes more.
    private func narrowBits(_ index: Int) -> UInt64? {
        let width = type.elementType.bitWidth
        guard width > 64 else { return bits(index, width) }
        return nil
    }

    /// A 128-bit integer as a double.
    private func wideNumber(_ index: Int) -> Double? {
        guard type.elementType.isInteger, type.elementType.bitWidth == 128 else { return nil }
        let (low, high) = (bits(2 * index, 64), bits(2 * index + 1, 64))
        let top = type.elementType.isSignedInteger ? Double(Int64(bitPattern: high)) : Double(high)
        return top * 0x1p64 + Double(low)
    }

    /// The bits of the `index`-th field of `width` ≤ 64 bits. The bounds were checked by `init`.
    private func bits(_ index: Int, _ width: Int) -> UInt64 {
        let start = index * width
        let first = start / 8
        let last = (start + width - 1) / 8
        guard index >= 0, last < constant.byteCount else { return 0 }
        var result: UInt64 = 0
        for byte in first...last {
            let value = UInt64(unsafe constant.pointer.load(fromByteOffset: byte, as: UInt8.self))
            // A field that starts within a byte loses the bits below it; only types under a byte do.
            let shift = 8 * byte - start
            result |= shift >= 0 ? value << UInt64(shift) : value >> UInt64(-shift)
        }
        return width == 64 ? result : result & (1 << UInt64(width) - 1)
    }
}
