package import EngineDelegation
package import EngineGraph

/// An array's elements for reading, as the runtime takes them: a place in memory and a layout.
///
/// The collection that it came from guarantees that the memory stays; where `buffer` is set, this value does too.
@safe
package struct BorrowedTensor {
    /// The byte that holds the first element's first bit.
    package let start: UnsafeRawPointer
    /// Where in that byte the first element begins; 0, unless the elements are packed.
    package let bitOffset: Int
    package let scalarType: NDArray.ScalarType
    package let layout: ArrayLayout
    /// The engine's buffer that the memory lies in; nil for memory that the caller brought.
    package let buffer: HostBuffer?

    package init(
        start: UnsafeRawPointer, bitOffset: Int, scalarType: NDArray.ScalarType, layout: ArrayLayout,
        buffer: HostBuffer?
    ) {
        unsafe self.start = start
        self.bitOffset = bitOffset
        self.scalarType = scalarType
        self.layout = layout
        self.buffer = buffer
    }

    package var elementType: ElementType { scalarType.elementType }
    package var shape: [Int] { layout.shape }
    /// In elements; of an interleaved dimension, between blocks.
    package var strides: [Int] { layout.strides }
    package var interleave: NDArray.InterleaveLayout? { layout.interleave }
    package var scalarCount: Int { layout.scalarCount }
    /// Whether the elements lie row-major without gaps from `start` on.
    package var isContiguous: Bool { layout.isContiguous && bitOffset == 0 }
    /// The first element's place in `buffer`.
    package var byteOffset: Int? { buffer.map { unsafe start - UnsafeRawPointer($0.pointer) } }

    /// The bytes that the layout can touch.
    package var bytes: UnsafeRawBufferPointer {
        let range = layout.byteRange(bitOffset: bitOffset, bitWidth: scalarType.bitWidth)
        return unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
    }
}

/// An array's elements for reading and writing, as the runtime takes them.
///
/// While a copy of this value lives, nobody else uses the memory: the compiler saw to it, or the lease does.
@safe
package struct MutableTensor {
    /// The byte that holds the first element's first bit.
    package let start: UnsafeMutableRawPointer
    /// Where in that byte the first element begins; 0, unless the elements are packed.
    package let bitOffset: Int
    package let scalarType: NDArray.ScalarType
    package let layout: ArrayLayout
    /// The engine's buffer that the memory lies in; nil for memory that the caller brought.
    package let buffer: HostBuffer?
    private let lease: StorageLease?

    init(
        start: UnsafeMutableRawPointer, bitOffset: Int, scalarType: NDArray.ScalarType, layout: ArrayLayout,
        buffer: HostBuffer?, lease: StorageLease? = nil
    ) {
        unsafe self.start = start
        self.bitOffset = bitOffset
        self.scalarType = scalarType
        self.layout = layout
        self.buffer = buffer
        self.lease = lease
    }

    package var elementType: ElementType { scalarType.elementType }
    package var shape: [Int] { layout.shape }
    /// In elements; of an interleaved dimension, between blocks.
    package var strides: [Int] { layout.strides }
    package var interleave: NDArray.InterleaveLayout? { layout.interleave }
    package var scalarCount: Int { layout.scalarCount }
    /// Whether the elements lie row-major without gaps from `start` on.
    package var isContiguous: Bool { layout.isContiguous && bitOffset == 0 }
    /// The first element's place in `buffer`.
    package var byteOffset: Int? { buffer.map { unsafe UnsafeMutableRawPointer(start) - $0.pointer } }

    /// The bytes that the layout can touch.
    package var bytes: UnsafeMutableRawBufferPointer {
        let range = layout.byteRange(bitOffset: bitOffset, bitWidth: scalarType.bitWidth)
        return unsafe UnsafeMutableRawBufferPointer(start: start + range.lowerBound, count: range.count)
    }

    /// The same elements for reading.
    package var borrowed: BorrowedTensor {
        unsafe BorrowedTensor(
            start: start, bitOffset: bitOffset, scalarType: scalarType, layout: layout, buffer: buffer)
    }
}

extension ArrayLayout {
    /// The bytes that the layout can touch, counted from the one that holds the first element's first bit.
    func byteRange(bitOffset: Int, bitWidth: Int) -> Range<Int> {
        // Shifts round down, also below zero.
        let first = (bitOffset + reach.lowerBound * bitWidth) >> 3
        let end = (bitOffset + reach.upperBound * bitWidth + 7) >> 3
        return reach.isEmpty ? 0..<0 : first..<end
    }
}
