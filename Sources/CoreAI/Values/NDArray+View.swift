import EngineDelegation

extension NDArray {
    /// The elements of an array, or of memory that the caller has, for reading.
    ///
    /// It can't outlive what it shows. Copying it is cheap, and copies no elements.
    @safe
    public struct View<Element>: ~Escapable where Element: BitwiseCopyable {
        @usableFromInline let start: UnsafePointer<Element>
        @usableFromInline let layout: ArrayLayout
        /// The scalar type; nil for elements of a type that is none.
        let scalarType: NDArray.ScalarType?
        /// The engine's buffer that holds the elements, if one does; not owned.
        let buffer: Unmanaged<HostBuffer>?

        @_lifetime(immortal)
        init(
            start: UnsafePointer<Element>, layout: ArrayLayout, scalarType: NDArray.ScalarType?,
            buffer: Unmanaged<HostBuffer>?
        ) {
            unsafe self.start = start
            self.layout = layout
            self.scalarType = scalarType
            unsafe self.buffer = buffer
        }
    }
}

extension NDArray.View {
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
    public var contiguousElements: Span<Element>? {
        @_lifetime(copy self)
        borrowing get {
            guard layout.isContiguous else { return nil }
            return unsafe _overrideLifetime(Span(_unsafeStart: start, count: layout.scalarCount), copying: self)
        }
    }

    /// Calls `body` with the address of the first element, the shape and the strides.
    ///
    /// The pointer and the spans must not be used after the call. Elements lie where the strides say; along an
    /// interleaved dimension they count blocks.
    public func withUnsafePointer<R, E>(
        _ body: (UnsafePointer<Element>, _ shape: Span<Int>, _ strides: Span<Int>) throws(E) -> R
    ) throws(E) -> R where E: Error {
        try unsafe body(start, layout.shape.span, layout.strides.span)
    }

    /// The same elements without their Swift type.
    ///
    /// Elements of a type that is no scalar type have no such view; asking for it stops the program.
    public var rawView: NDArray.RawView {
        @_lifetime(copy self)
        borrowing get {
            guard let scalarType else {
                fatalError("NDArray view: \(Element.self) is the type of no NDArray.ScalarType")
            }
            let view = unsafe NDArray.RawView(
                start: start, bitOffset: 0, layout: layout, scalarType: scalarType, buffer: buffer)
            return unsafe _overrideLifetime(view, copying: self)
        }
    }
}

extension NDArray.View {
    /// Creates a view over a caller's elements.
    ///
    /// Every element that the shape and strides can reach has to lie in the span, which rules out negative strides;
    /// otherwise the program stops.
    ///
    /// - Parameters:
    ///   - span: The elements. The view lives as long as it may.
    ///   - shape: The size of each dimension, none negative.
    ///   - strides: The distances in elements; empty for dense row-major ones.
    @_lifetime(copy span)
    public init(span: Span<Element>, shape: [Int], strides: [Int] = []) {
        let layout = requireValid("NDArray.View") { () throws(LayoutError) in
            try ArrayLayout(shape: shape, strides: strides)
        }
        NDArray.requireInside(layout, elementCount: span.count)
        let start = unsafe span.withUnsafeBufferPointer { elements in
            unsafe NDArray.address(of: UnsafeRawBufferPointer(elements)).assumingMemoryBound(to: Element.self)
        }
        let view = unsafe NDArray.View(
            start: start, layout: layout, scalarType: NDArray.ScalarType(swiftType: Element.self),
            buffer: nil)
        self = unsafe _overrideLifetime(view, copying: span)
    }
}

extension NDArray.View {
    /// The element at an index, which has a position for each dimension. Positions outside one stop the program.
    @inlinable
    public subscript<let rank: Int>(scalarAt index: InlineArray<rank, Int>) -> Element {
        unsafe start[layout.offset(of: index)]
    }

    /// A part of the view, of the same rank.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(copy self)
    @_disfavoredOverload
    public func slice(at ranges: [any NDArray.RangeExpression]) -> NDArray.View<Element> {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), copying: self)
    }

    /// A part of the view, of the same rank.
    ///
    /// ```swift
    /// let row = view.slice(at: [2])
    /// let region = view.slice(at: [.all, 1..<3])
    /// ```
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(copy self)
    public func slice<let indexRank: Int>(
        at ranges: [indexRank of any NDArray.RangeExpression]
    ) -> NDArray.View<Element> {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), copying: self)
    }

    @_lifetime(copy self)
    private func part(_ slice: (offset: Int, layout: ArrayLayout)) -> NDArray.View<Element> {
        let view = unsafe NDArray.View<Element>(
            start: start + slice.offset, layout: slice.layout, scalarType: scalarType, buffer: buffer)
        return unsafe _overrideLifetime(view, copying: self)
    }
}

extension NDArray {
    /// Stops the program where `layout` reaches outside a caller's elements.
    static func requireInside(_ layout: ArrayLayout, elementCount: Int) {
        guard layout.reach.lowerBound >= 0, layout.reach.upperBound <= elementCount else {
            fatalError(
                "NDArray view: the shape \(layout.shape) with the strides \(layout.strides) reaches outside"
                    + " \(elementCount) elements")
        }
    }
}
