import EngineDelegation

extension NDArray {
    /// An array's memory and layout, for reading and writing, whatever the scalar type.
    ///
    /// It can't outlive the array or the bytes that it shows, and nobody else uses them meanwhile.
    @safe
    public struct MutableRawView: ~Copyable, ~Escapable {
        /// The byte that holds the first element's first bit.
        let start: UnsafeMutableRawPointer
        /// Where in that byte the first element begins; 0, unless the elements are packed.
        let bitOffset: Int
        let layout: ArrayLayout
        /// The type of the elements.
        public let scalarType: NDArray.ScalarType
        /// The engine's buffer that holds the memory, if one does; not owned.
        let buffer: Unmanaged<HostBuffer>?

        @_lifetime(immortal)
        init(
            start: UnsafeMutableRawPointer, bitOffset: Int, layout: ArrayLayout, scalarType: NDArray.ScalarType,
            buffer: Unmanaged<HostBuffer>?
        ) {
            unsafe self.start = start
            self.bitOffset = bitOffset
            self.layout = layout
            self.scalarType = scalarType
            unsafe self.buffer = buffer
        }
    }
}

extension NDArray.MutableRawView {
    /// The size of each dimension.
    public var shape: Span<Int> {
        @_lifetime(borrow self)
        borrowing get {
            layout.shape.span
        }
    }

    /// The distance, in elements, between neighbours along each dimension; between blocks along an interleaved one.
    public var strides: Span<Int> {
        @_lifetime(borrow self)
        borrowing get {
            layout.strides.span
        }
    }

    /// The interleaved dimension; nil where there is none.
    public var interleaveLayout: NDArray.InterleaveLayout? { layout.interleave }

    /// The bytes that the shape and strides can reach, from the lowest address on; with negative strides the first
    /// element is not at their beginning.
    public var mutableBytes: MutableRawSpan {
        @_lifetime(copy self)
        borrowing get {
            let range = layout.byteRange(bitOffset: bitOffset, bitWidth: scalarType.bitWidth)
            let bytes = unsafe UnsafeMutableRawBufferPointer(start: start + range.lowerBound, count: range.count)
            return unsafe _overrideLifetime(MutableRawSpan(_unsafeBytes: bytes), copying: self)
        }
    }

    /// The same memory for reading.
    public var rawView: NDArray.RawView {
        @_lifetime(borrow self)
        borrowing get {
            let view = unsafe NDArray.RawView(
                start: start, bitOffset: bitOffset, layout: layout, scalarType: scalarType, buffer: buffer)
            return unsafe _overrideLifetime(view, borrowing: self)
        }
    }

    /// Calls `body` with the address of the first element, the shape and the strides.
    ///
    /// The pointer and the spans must not be used after the call. Elements lie where the strides say, which count
    /// elements; along an interleaved dimension they count blocks. Of packed elements, the pointer is to the byte
    /// that the first one begins in.
    public consuming func withUnsafeMutableBytes<R, E>(
        _ body: (UnsafeMutableRawPointer, _ shape: Span<Int>, _ strides: Span<Int>) throws(E) -> R
    ) throws(E) -> R where E: Error {
        let start = unsafe start
        return try unsafe body(start, layout.shape.span, layout.strides.span)
    }

    /// The same elements as values of a Swift type, for writing.
    ///
    /// `T` must be the Swift type of ``scalarType``, or, where Swift has none, a type of the same size, and the memory
    /// aligned for it. Anything else stops the program.
    @_lifetime(copy self)
    public consuming func view<T>(as type: T.Type = T.self) -> NDArray.MutableView<T> where T: BitwiseCopyable {
        scalarType.requireElement(T.self)
        _ = unsafe NDArray.requireAligned(start, for: T.self)
        let view = unsafe NDArray.MutableView<T>(
            start: start.assumingMemoryBound(to: T.self), layout: layout, scalarType: scalarType, buffer: buffer)
        return unsafe _overrideLifetime(view, copying: self)
    }
}

extension NDArray.MutableRawView {
    /// Creates a view over bytes that the caller has, as elements of a scalar type.
    ///
    /// Every element that the shape and strides can reach has to lie inside the bytes; otherwise the program stops.
    ///
    /// - Parameters:
    ///   - mutableBytes: The memory. The view lives as long as it may.
    ///   - byteOffset: Where the first element lies in it.
    ///   - scalarType: The type of the elements; a later ``view(as:)`` is checked against it.
    ///   - shape: The size of each dimension, none negative.
    ///   - strides: The distances in elements; empty for dense row-major ones.
    ///   - interleaveLayout: The dimension whose elements lie in blocks, if one does.
    @_lifetime(copy mutableBytes)
    public init(
        mutableBytes: consuming MutableRawSpan, byteOffset: Int = 0, scalarType: NDArray.ScalarType, shape: [Int],
        strides: [Int] = [], interleaveLayout: NDArray.InterleaveLayout? = nil
    ) {
        let layout = requireValid("NDArray.MutableRawView") { () throws(LayoutError) in
            try ArrayLayout(shape: shape, strides: strides, interleave: interleaveLayout)
        }
        NDArray.requireInside(
            layout, byteCount: mutableBytes.byteCount, byteOffset: byteOffset, scalarType: scalarType)
        let start = unsafe mutableBytes.withUnsafeMutableBytes { bytes in
            unsafe UnsafeMutableRawPointer(mutating: NDArray.address(of: UnsafeRawBufferPointer(bytes)))
        }
        let view = unsafe NDArray.MutableRawView(
            start: start + byteOffset, bitOffset: 0, layout: layout, scalarType: scalarType, buffer: nil)
        self = unsafe _overrideLifetime(view, copying: mutableBytes)
    }
}

extension NDArray.MutableRawView {
    /// A part of the view, of the same rank, in place of the view.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(copy self)
    @_disfavoredOverload
    public consuming func slice(at ranges: [any NDArray.RangeExpression]) -> NDArray.MutableRawView {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), copying: self)
    }

    /// A part of the view, of the same rank, in place of the view.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(copy self)
    public consuming func slice<let indexRank: Int>(
        at ranges: [indexRank of any NDArray.RangeExpression]
    ) -> NDArray.MutableRawView {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), copying: self)
    }

    /// A part of the view, of the same rank; the view can be used again when the part is gone.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(&self)
    @_disfavoredOverload
    public mutating func mutatingSlice(at ranges: [any NDArray.RangeExpression]) -> NDArray.MutableRawView {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), mutating: &self)
    }

    /// A part of the view, of the same rank; the view can be used again when the part is gone.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(&self)
    public mutating func mutatingSlice<let indexRank: Int>(
        at ranges: [indexRank of any NDArray.RangeExpression]
    ) -> NDArray.MutableRawView {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), mutating: &self)
    }

    @_lifetime(copy self)
    private func part(_ slice: (offset: Int, layout: ArrayLayout)) -> NDArray.MutableRawView {
        let bit = bitOffset + slice.offset * scalarType.bitWidth
        let view = unsafe NDArray.MutableRawView(
            start: start + bit >> 3, bitOffset: bit & 7, layout: slice.layout, scalarType: scalarType, buffer: buffer)
        return unsafe _overrideLifetime(view, copying: self)
    }
}

extension NDArray.MutableRawView {
    /// The view as the runtime takes it.
    package var mutableTensor: MutableTensor {
        unsafe MutableTensor(
            start: start, bitOffset: bitOffset, scalarType: scalarType, layout: layout,
            buffer: buffer?.takeUnretainedValue())
    }
}
