/// An array as NumPy's files hold it, brought to little-endian row-major order.
struct NumPyArray: Sendable {
    /// More than NumPy itself takes.
    static let maximumRank = 64

    let type: NumPyType
    let shape: [Int]
    /// The elements: exactly as many bytes as type and shape ask for.
    let bytes: ArraySlice<UInt8>

    /// - Throws: where the bytes are not what type and shape ask for.
    init(type: NumPyType, shape: [Int], bytes: ArraySlice<UInt8>) throws(CommandError) {
        guard let byteCount = Self.byteCount(of: shape, type) else {
            throw .failure("the shape \(shape) is negative or too large")
        }
        guard bytes.count == byteCount else {
            throw .failure("\(type.name) \(shape) takes \(byteCount) bytes, \(bytes.count) are there")
        }
        self.type = type
        self.shape = shape
        self.bytes = bytes
    }

    var elementCount: Int { type.byteCount == 0 ? 0 : bytes.count / type.byteCount }

    /// The bytes of `shape` in `type`; nil where an extent is negative or the product overflows.
    static func byteCount(of shape: [Int], _ type: NumPyType) -> Int? {
        guard shape.allSatisfy({ $0 >= 0 }) else { return nil }
        if shape.contains(0) { return 0 }
        var count = type.byteCount
        for extent in shape {
            let (product, overflow) = count.multipliedReportingOverflow(by: extent)
            if overflow { return nil }
            count = product
        }
        return count
    }

    /// Row-major bytes from column-major ones.
    static func rowMajor(columnMajor bytes: ArraySlice<UInt8>, shape: [Int], width: Int) -> [UInt8] {
        // The first extent varies fastest in the source, the last in the result.
        var strides = [Int](repeating: 0, count: shape.count)
        var stride = width
        for (axis, extent) in shape.enumerated() {
            strides[axis] = stride
            stride *= extent
        }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        guard !bytes.isEmpty else { return result }
        var position = [Int](repeating: 0, count: shape.count)
        var offset = bytes.startIndex
        while true {
            result.append(contentsOf: bytes[offset..<offset + width])
            var axis = shape.count - 1
            while axis >= 0 {
                position[axis] += 1
                offset += strides[axis]
                if position[axis] < shape[axis] { break }
                offset -= strides[axis] * shape[axis]
                position[axis] = 0
                axis -= 1
            }
            if axis < 0 { return result }
        }
    }

    /// `bytes` with each group of `width` reversed.
    static func swapped(_ bytes: ArraySlice<UInt8>, width: Int) -> [UInt8] {
        var result = Array(bytes)
        guard width > 1 else { return result }
        for start in stride(from: 0, to: result.count - width + 1, by: width) {
            result[start..<start + width].reverse()
        }
        return result
    }
}
