import EngineDelegation

extension NDArray {
    /// An array's memory and layout, for reading, whatever the scalar type.
    ///
    /// It can't outlive the array or the bytes that it shows.
    @safe
    public struct RawView: ~Escapable {
        /// The byte that holds the first element's first bit.
        let start: UnsafeRawPointer
        /// Where in that byte the first element begins; 0, unless the elements are packed.
        let bitOffset: Int
        let layout: ArrayLayout
        /// The type of the elements.
        public let scalarType: NDArray.ScalarType
        /// The engine's buffer that holds the memory, if one does; not owned.
        let buffer: Unmanaged<HostBuffer>?

        @_lifetime(immortal)
        init(
            start: UnsafeRawPointer, bitOffset: Int, layout: ArrayLayout, scalarType: NDArray.ScalarType,
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

extension NDArray.RawView {
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
    public var bytes: RawSpan {
        @_lifetime(copy self)
        get {
            let range = layout.byteRange(bitOffset: bitOffset, bitWidth: scalarType.bitWidth)
            let bytes = unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
            return unsafe _overrideLifetime(RawSpan(_unsafeBytes: bytes), copying: self)
        }
    }

    /// Calls `body` with the address of the first element, the shape and the strides.
    ///
    /// The pointer and the spans must not be used after the call. Elements lie where the strides say, which count
    /// elements; along an interleaved dimension they count blocks. Of packed elements, the pointer is to the byte
    /// that the first one begins in.
    public func withUnsafeBytes<R, E>(
        _ body: (UnsafeRawPointer, _ shape: Span<Int>, _ strides: Span<Int>) throws(E) -> R
    ) throws(E) -> R where E: Error {
        try unsafe body(start, layout.shape.span, layout.strides.span)
    }

    /// The same elements as values of a Swift type.
    ///
    /// `T` must be the Swift type of ``scalarType``, or, where Swift has none, a type of the same size, and the memory
    /// aligned for it. Anything else stops the program.
    @_lifetime(copy self)
    public consuming func view<T>(as: T.Type = T.self) -> NDArray.View<T> where T: BitwiseCopyable {
        scalarType.requireElement(T.self)
        let first = unsafe NDArray.requireAligned(start, for: T.self)
        let view = unsafe NDArray.View<T>(
            start: first.assumingMemoryBound(to: T.self), layout: layout, scalarType: scalarType, buffer: buffer)
        return unsafe _overrideLifetime(view, copying: self)
    }
}

extension NDArray.RawView {
    /// Creates a view over bytes that the caller has, as elements of a scalar type.
    ///
    /// Every element that the shape and strides can reach has to lie inside the bytes; otherwise the program stops.
    ///
    /// - Parameters:
    ///   - bytes: The memory. The view lives as long as it may.
    ///   - byteOffset: Where the first element lies in it.
    ///   - scalarType: The type of the elements; a later ``view(as:)`` is checked against it.
    ///   - shape: The size of each dimension, none negative.
    ///   - strides: The distances in elements; empty for dense row-major ones.
    ///   - interleaveLayout: The dimension whose elements lie in blocks, if one does.
    @_lifetime(copy bytes)
    public init(
        bytes: RawSpan, byteOffset: Int = 0, scalarType: NDArray.ScalarType, shape: [Int], strides: [Int] = [],
        interleaveLayout: NDArray.InterleaveLayout? = nil
    ) {
        let layout = requireValid("NDArray.RawView") { () throws(LayoutError) in
            try ArrayLayout(shape: shape, strides: strides, interleave: interleaveLayout)
        }
        NDArray.requireInside(layout, byteCount: bytes.byteCount, byteOffset: byteOffset, scalarType: scalarType)
        let start = unsafe bytes.withUnsafeBytes { unsafe NDArray.address(of: $0) }
        let view = unsafe NDArray.RawView(
            start: start + byteOffset, bitOffset: 0, layout: layout, scalarType: scalarType, buffer: nil)
        self = unsafe _overrideLifetime(view, copying: bytes)
    }
}

extension NDArray.RawView {
    /// A part of the view, of the same rank.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(copy self)
    @_disfavoredOverload
    public func slice(at ranges: [any NDArray.RangeExpression]) -> NDArray.RawView {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), copying: self)
    }

    /// A part of the view, of the same rank.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(copy self)
    public func slice<let indexRank: Int>(
        at ranges: [indexRank of any NDArray.RangeExpression]
    ) -> NDArray.RawView {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), copying: self)
    }

    @_lifetime(copy self)
    private func part(_ slice: (offset: Int, layout: ArrayLayout)) -> NDArray.RawView {
        let bit = bitOffset + slice.offset * scalarType.bitWidth
        let view = unsafe NDArray.RawView(
            start: start + bit >> 3, bitOffset: bit & 7, layout: slice.layout, scalarType: scalarType, buffer: buffer)
        return unsafe _overrideLifetime(view, copying: self)
    }
}

extension NDArray.RawView {
    /// The view as the runtime takes it.
    package var borrowedTensor: BorrowedTensor {
        unsafe BorrowedTensor(
            start: start, bitOffset: bitOffset, scalarType: scalarType, layout: layout,
            buffer: buffer?.takeUnretainedValue())
    }
}

extension NDArray {
    /// Stops the program where `layout` reaches outside a caller's bytes.
    static func requireInside(_ layout: ArrayLayout, byteCount: Int, byteOffset: Int, scalarType: ScalarType) {
        guard layout.isInside(byteCount: byteCount, byteOffset: byteOffset, bitWidth: scalarType.bitWidth) else {
            fatalError(
                "NDArray view: the shape \(layout.shape) with the strides \(layout.strides) reaches outside"
                    + " \(byteCount) bytes from byte \(byteOffset)")
        }
    }

    /// `start`, which must be aligned for values of `type`; otherwise the program stops.
    static func requireAligned<Element>(_ start: UnsafeRawPointer, for type: Element.Type) -> UnsafeRawPointer {
        guard Int(bitPattern: start) & (MemoryLayout<Element>.alignment - 1) == 0 else {
            fatalError("NDArray view: the memory is not aligned for \(type)")
        }
        return unsafe start
    }

    /// The address of a caller's memory; any aligned one where there are no bytes.
    static func address(of bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
        if let base = bytes.baseAddress { return unsafe base }
        return unsafe UnsafeRawPointer(bitPattern: HostBuffer.alignment).unsafelyUnwrapped
    }
}
