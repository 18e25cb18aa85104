import CoreAI
import EngineGraph
import Foundation

extension NDArray.ScalarType {
    /// The name that outputs and summaries show: `Float32`.
    var displayName: String { elementType.displayName }
}

extension NDArray {
    /// A dense array of zeros; an error where `shape` is none or takes more memory than the machine has.
    static func zeros(_ shape: [Int], _ scalarType: ScalarType) throws(CommandError) -> NDArray {
        // Sizes of zero don't make a product of the others smaller: strides are made of those too.
        let extents = shape.map { max($0, 1) }
        guard shape.allSatisfy({ $0 >= 0 }),
            let byteCount = TensorType(extents, scalarType.elementType).byteCount,
            byteCount <= Int(clamping: ProcessInfo.processInfo.physicalMemory)
        else {
            throw .failure("\(scalarType.displayName) \(shape) is more than this machine's memory holds")
        }
        return NDArray(shape: shape, scalarType: scalarType)
    }

    /// The array that a file holds. Bits of a type that NumPy has no name for are taken as `expected`; anything else
    /// stays what it is.
    init(_ array: NumPyArray, expected: ScalarType?) throws(CommandError) {
        if let expected, array.type.carriesBits(of: expected.elementType) {
            self = try .zeros(array.shape, expected)
            if expected.elementType.isPacked {
                pack(array.bytes)
            } else {
                fill(array.bytes)
            }
            return
        }
        guard let elementType = array.type.elementType, let scalarType = ScalarType(elementType) else {
            let wanted = expected.map { ", and they don't fit \($0.displayName)" } ?? ""
            throw .failure("these are raw bytes (\(array.type.descriptor))\(wanted)")
        }
        self = try .zeros(array.shape, scalarType)
        fill(array.bytes)
    }

    private mutating func fill(_ bytes: ArraySlice<UInt8>) {
        mutableRawView().withUnsafeMutableBytes { pointer, _, _ in
            bytes.withUnsafeBytes { source in
                if let base = source.baseAddress { pointer.copyMemory(from: base, byteCount: source.count) }
            }
        }
    }

    /// Fills elements of a few bits from a byte each.
    private mutating func pack(_ codes: ArraySlice<UInt8>) {
        let width = scalarType.elementType.bitWidth
        mutableRawView().withUnsafeMutableBytes { pointer, _, _ in
            for (index, code) in codes.enumerated() {
                let bit = index * width
                let bits = UInt16(code & UInt8(truncatingIfNeeded: 1 << width - 1)) << UInt16(bit % 8)
                // The array is zero until here. Widths of 3, 5, 6 and 7 bits cross byte borders.
                let low = pointer.load(fromByteOffset: bit / 8, as: UInt8.self) | UInt8(truncatingIfNeeded: bits)
                pointer.storeBytes(of: low, toByteOffset: bit / 8, as: UInt8.self)
                if bits > 0xFF {
                    pointer.storeBytes(of: UInt8(bits >> 8), toByteOffset: bit / 8 + 1, as: UInt8.self)
                }
            }
        }
    }

    /// The elements of a dense array as numbers.
    func numbers() throws(CommandError) -> Numbers {
        let count = try checkedCount()
        let type = scalarType.elementType
        let numbers = rawView().withUnsafeBytes { pointer, _, _ in
            let bytes = UnsafeRawBufferPointer(start: pointer, count: type.byteCount(of: count) ?? 0)
            return Numbers(bytes, type: type, count: count)
        }
        guard let numbers else { throw .failure("\(scalarType.displayName) \(shape) can't be read") }
        return numbers
    }

    /// The array as a file holds it: in its own type, or in unsigned integers of the same width.
    func numPyArray() throws(CommandError) -> NumPyArray {
        let count = try checkedCount()
        let type = scalarType.elementType
        let saved = NumPyType(saving: type)
        if type.isPacked {
            let bytes: [UInt8]
            switch try numbers() {
            case .integers(let values): bytes = values.map { UInt8(truncatingIfNeeded: $0) }
            default: bytes = codes(count)
            }
            return try NumPyArray(type: saved, shape: shape, bytes: bytes[...])
        }
        let bytes = rawView().withUnsafeBytes { pointer, _, _ in
            Array(UnsafeRawBufferPointer(start: pointer, count: type.byteCount(of: count) ?? 0))
        }
        return try NumPyArray(type: saved, shape: shape, bytes: bytes[...])
    }

    /// The bits of packed elements, a byte each.
    private func codes(_ count: Int) -> [UInt8] {
        let unsigned: ElementType = .uint4
        let numbers = rawView().withUnsafeBytes { pointer, _, _ in
            Numbers(
                UnsafeRawBufferPointer(start: pointer, count: unsigned.byteCount(of: count) ?? 0), type: unsigned,
                count: count)
        }
        guard case .integers(let values) = numbers else { return [] }
        return values.map { UInt8(truncatingIfNeeded: $0) }
    }

    /// The number of elements, which lie side by side in row-major order.
    private func checkedCount() throws(CommandError) -> Int {
        var stride = 1
        for (extent, given) in zip(shape, strides).reversed() {
            if extent > 1, given != stride { throw .failure("an array with strides \(strides) is not dense") }
            stride *= extent
        }
        return stride
    }
}
