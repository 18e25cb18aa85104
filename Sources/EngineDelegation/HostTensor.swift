package import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A contiguous row-major tensor in host memory.
package struct HostTensor: Sendable {
    package let type: TensorType
    package let buffer: HostBuffer
    package let byteOffset: Int

    /// Wraps `type.byteCount` bytes of `buffer`, from `byteOffset` on.
    package init(type: TensorType, buffer: HostBuffer, byteOffset: Int = 0) {
        self.type = type
        self.buffer = buffer
        self.byteOffset = byteOffset
    }

    /// Allocates a tensor of a static type.
    package init(allocating type: TensorType) throws(EngineError) {
        guard let byteCount = type.byteCount else {
            throw .invalidValue(op: "allocation", reason: "\(type) has no size that fits in memory")
        }
        self.init(type: type, buffer: try HostBuffer(uninitializedByteCount: byteCount))
    }

    package var pointer: UnsafeMutableRawPointer { buffer.pointer + byteOffset }
    package var byteCount: Int { type.byteCount ?? 0 }

    /// The same bytes under another shape of as many elements.
    package func reshaped(_ shape: [Int]) -> HostTensor {
        HostTensor(
            type: TensorType(shape, type.elementType, encoding: type.encoding), buffer: buffer, byteOffset: byteOffset)
    }

    /// The contents as integers, where the type holds integers or bools; nil beyond `limit` elements.
    package func integers(limit: Int = 4096) -> [Int]? {
        guard let count = type.elementCount, count <= limit else { return nil }
        let base = UnsafeRawPointer(pointer)
        func read<T: FixedWidthInteger>(_: T.Type) -> [Int] {
            (0..<count).map {
                Int(truncatingIfNeeded: base.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.size, as: T.self))
            }
        }
        switch type.elementType {
        case .bool: return read(UInt8.self).map { $0 == 0 ? 0 : 1 }
        case .int8: return read(Int8.self)
        case .int16: return read(Int16.self)
        case .int32: return read(Int32.self)
        case .int64: return read(Int64.self)
        case .uint8: return read(UInt8.self)
        case .uint16: return read(UInt16.self)
        case .uint32: return read(UInt32.self)
        case .uint64: return read(UInt64.self)
        default: return nil
        }
    }

    /// The contents as numbers, where the type is an integer, a bool or a float of at least 16 bits.
    package func numbers(limit: Int = 4096) -> [Double]? {
        if let integers = integers(limit: limit) { return integers.map(Double.init) }
        guard let count = type.elementCount, count <= limit else { return nil }
        let base = UnsafeRawPointer(pointer)
        switch type.elementType {
        case .float32:
            return (0..<count).map { Double(base.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self)) }
        case .float64:
            return (0..<count).map { base.loadUnaligned(fromByteOffset: $0 * 8, as: Double.self) }
        case .float16:
            return (0..<count).map { Double(Float(base.loadUnaligned(fromByteOffset: $0 * 2, as: Float16.self))) }
        case .bfloat16:
            return (0..<count).map {
                let bits = UInt32(base.loadUnaligned(fromByteOffset: $0 * 2, as: UInt16.self)) << 16
                return Double(Float(bitPattern: bits))
            }
        default: return nil
        }
    }
}

extension HostTensor {
    /// The tensor that a constant of type `type` stands for: the asset's own bytes where they are aligned and whole, a
    /// copy where they are not.
    package init(constant: Constant, type: TensorType) throws(EngineError) {
        guard let byteCount = type.byteCount, let elementCount = type.elementCount else {
            throw .invalidValue(op: "constant", reason: "\(type) has no size that fits in memory")
        }
        if !constant.isSplat {
            guard constant.byteCount >= byteCount else {
                throw .invalidValue(
                    op: "constant", reason: "\(type) takes \(byteCount) bytes, \(constant.byteCount) are there")
            }
            let address = UnsafeMutableRawPointer(mutating: constant.pointer)
            let alignment = max(1, min(16, type.elementType.bitWidth / 8))
            if Int(bitPattern: address) % alignment == 0 {
                // The owner is the constant: it keeps the map alive. Constants are never written.
                self.init(type: type, buffer: HostBuffer(lending: address, byteCount: byteCount, owner: constant))
                return
            }
            self = try HostTensor(allocating: type)
            pointer.copyMemory(from: constant.pointer, byteCount: byteCount)
            return
        }
        self = try HostTensor(allocating: type)
        let width = type.elementType.bitWidth
        guard byteCount > 0 else { return }
        guard constant.byteCount >= 1, constant.byteCount * 8 >= width else {
            throw .invalidValue(op: "constant", reason: "a splat of \(type) holds no element")
        }
        if width < 8 {
            let code = constant.pointer.load(as: UInt8.self) & UInt8((1 << width) - 1)
            memset(pointer, 0, byteCount)
            for index in 0..<elementCount {
                // Widths of 3, 5, 6 and 7 bits cross byte borders.
                let bit = index * width
                let shifted = UInt16(code) << UInt16(bit % 8)
                pointer.storeBytes(
                    of: pointer.load(fromByteOffset: bit / 8, as: UInt8.self) | UInt8(truncatingIfNeeded: shifted),
                    toByteOffset: bit / 8, as: UInt8.self)
                if shifted > 0xFF {
                    pointer.storeBytes(
                        of: pointer.load(fromByteOffset: bit / 8 + 1, as: UInt8.self) | UInt8(shifted >> 8),
                        toByteOffset: bit / 8 + 1, as: UInt8.self)
                }
            }
            return
        }
        // Doubling copies: one element, then two, then four.
        let size = width / 8
        pointer.copyMemory(from: constant.pointer, byteCount: size)
        var filled = size
        while filled < byteCount {
            let count = min(filled, byteCount - filled)
            (pointer + filled).copyMemory(from: pointer, byteCount: count)
            filled += count
        }
    }
}

extension HostTensor {
    /// A tensor of a standard integer type with these contents; nil for other types, or where the counts differ.
    package init?(integers: [Int], type: TensorType) {
        guard type.elementCount == integers.count, type.elementType.isInteger || type.elementType == .bool,
            let tensor = try? HostTensor(allocating: type)
        else { return nil }
        func store<T: FixedWidthInteger>(_: T.Type) {
            for (index, value) in integers.enumerated() {
                tensor.pointer.storeBytes(
                    of: T(truncatingIfNeeded: value), toByteOffset: index * MemoryLayout<T>.size, as: T.self)
            }
        }
        switch type.elementType.bitWidth {
        case 8: store(UInt8.self)
        case 16: store(UInt16.self)
        case 32: store(UInt32.self)
        case 64: store(UInt64.self)
        default: return nil
        }
        self = tensor
    }
}
