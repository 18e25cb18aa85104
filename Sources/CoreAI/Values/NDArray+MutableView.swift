import EngineDelegation

extension NDArray {
    /// The elements of an array, or of memory that the caller has, for reading and writing.
    ///
    /// It can't outlive what it shows, and nobody else uses the elements meanwhile.
    @safe
    public struct MutableView<Element>: ~Escapable, ~Copyable where Element: BitwiseCopyable {
        @usableFromInline let start: UnsafeMutablePointer<Element>
        @usableFromInline let layout: ArrayLayout
        /// The scalar type; nil for elements of a type that is none.
        let scalarType: NDArray.ScalarType?
        /// The engine's buffer that holds the elements, if one does; not owned.
        let buffer: Unmanaged<HostBuffer>?

        @_lifetime(immortal)
        init(
            start: UnsafeMutablePointer<Element>, layout: ArrayLayout, scalarType: NDArray.ScalarType?,
            buffer: Unmanaged<HostBuffer>?
        ) {
            unsafe self.start = start
            self.layout = layout
            self.scalarType = scalarType
            unsafe self.buffer = buffer
        }
    }
}

extension NDArray.MutableView {
    /// The number of dimensions.
    public var rank: Int { layout.shape.count }

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

    /// Whether the elements lie in row-major order without gaps, and no dimension is interleaved.
    public var isContiguous: Bool { layout.isContiguous }

    /// The elements in row-major order; nil where they don't lie in that order without gaps.
    public var contiguousElements: MutableSpan<Element>? {
        @_lifetime(copy self)
        borrowing get {
            guard layout.isContiguous else { return nil }
            return unsafe _overrideLifetime(
                MutableSpan(_unsafeStart: start, count: layout.scalarCount), copying: self)
        }
    }

    /// Calls `body` with the address of the first element, the shape and the strides.
    ///
    /// The pointer and the spans must not be used after the call. Elements lie where the strides say; along an
    /// interleaved dimension they count blocks.
    public consuming func withUnsafeMutablePointer<R, E>(
        _ body: (UnsafeMutablePointer<Element>, _ shape: Span<Int>, _ strides: Span<Int>) throws(E) -> R
    ) throws(E) -> R where E: Error {
        let start = unsafe start
        return try unsafe body(start, layout.shape.span, layout.strides.span)
    }

    /// The same elements for reading.
    public var view: NDArray.View<Element> {
        @_lifetime(borrow self)
        borrowing get {
            let view = unsafe NDArray.View<Element>(
                start: start, layout: layout, scalarType: scalarType, buffer: buffer)
            return unsafe _overrideLifetime(view, borrowing: self)
        }
    }

    /// The same elements without their Swift type.
    ///
    /// Elements of a type that is no scalar type have no such view; asking for it stops the program.
    public var mutableRawView: NDArray.MutableRawView {
        @_lifetime(copy self)
        borrowing get {
            guard let scalarType else {
                fatalError("NDArray view: \(Element.self) is the type of no NDArray.ScalarType")
            }
            let view = unsafe NDArray.MutableRawView(
                start: start, bitOffset: 0, layout: layout, scalarType: scalarType, buffer: buffer)
            return unsafe _overrideLifetime(view, copying: self)
        }
    }
}

extension NDArray.MutableView {
    /// Creates a view over a caller's elements.
    ///
    /// Every element that the shape and strides can reach has to lie in the span, which rules out negative strides;
    /// otherwise the program stops.
    ///
    /// - Parameters:
    ///   - mutableSpan: The elements. The view lives as long as it may.
    ///   - shape: The size of each dimension, none negative.
    ///   - strides: The distances in elements; empty for dense row-major ones.
    @_lifetime(copy mutableSpan)
    public init(mutableSpan: consuming MutableSpan<Element>, shape: [Int], strides: [Int] = []) {
        let layout = requireValid("NDArray.MutableView") { () throws(LayoutError) in
            try ArrayLayout(shape: shape, strides: strides)
        }
        NDArray.requireInside(layout, elementCount: mutableSpan.count)
        let start = unsafe mutableSpan.withUnsafeMutableBufferPointer { elements in
            unsafe UnsafeMutableRawPointer(mutating: NDArray.address(of: UnsafeRawBufferPointer(elements)))
                .assumingMemoryBound(to: Element.self)
        }
        let view = unsafe NDArray.MutableView(
            start: start, layout: layout, scalarType: NDArray.ScalarType(swiftType: Element.self),
            buffer: nil)
        self = unsafe _overrideLifetime(view, copying: mutableSpan)
    }
}
