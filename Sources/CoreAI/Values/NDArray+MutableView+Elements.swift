extension NDArray.MutableView {
    /// The element at an index, which has a position for each dimension. Positions outside one stop the program.
    @inlinable
    public subscript<let rank: Int>(scalarAt index: InlineArray<rank, Int>) -> Element {
        get {
            unsafe start[layout.offset(of: index)]
        }
        @_lifetime(self: copy self)
        set {
            unsafe start[layout.offset(of: index)] = newValue
        }
    }

    /// Replaces the first elements, in row-major order, by those of a sequence.
    ///
    /// A sequence longer than the view stops the program; after a shorter one the other elements stay as they are.
    @_lifetime(self: copy self)
    @inlinable
    public mutating func copyElements(from sequence: some Sequence<Element>) {
        copy(sequence)
    }

    /// Replaces the first elements, in row-major order, by those of a collection.
    ///
    /// A collection longer than the view stops the program; after a shorter one the other elements stay as they are.
    @_lifetime(self: copy self)
    @inlinable
    public mutating func copyElements(fromContentsOf collection: some Collection<Element>) {
        copy(collection)
    }

    /// Copies the elements of `sequence` and says how many they were.
    @_lifetime(self: copy self)
    @inlinable
    @discardableResult
    mutating func copy(_ sequence: some Sequence<Element>) -> Int {
        if let count = sequence.withContiguousStorageIfAvailable({ unsafe copy(all: $0) }) { return count }
        var elements = sequence.makeIterator()
        var count = 0
        if layout.isContiguous {
            while count < layout.scalarCount, let element = elements.next() {
                unsafe start[count] = element
                count += 1
            }
        } else {
            let start = unsafe start
            layout.forEachRun { offset, size, stride in
                for index in 0..<size {
                    guard let element = elements.next() else { return }
                    unsafe start[offset + index * stride] = element
                    count += 1
                }
            }
        }
        requireEnd(elements.next() == nil)
        return count
    }

    @usableFromInline
    func copy(all elements: UnsafeBufferPointer<Element>) -> Int {
        requireEnd(elements.count <= layout.scalarCount)
        guard let source = elements.baseAddress else { return 0 }
        if layout.isContiguous {
            unsafe start.update(from: source, count: elements.count)
            return elements.count
        }
        let start = unsafe start
        var done = 0
        layout.forEachRun { offset, size, stride in
            for index in 0..<min(size, elements.count - done) {
                unsafe start[offset + index * stride] = source[done + index]
            }
            done = min(done + size, elements.count)
        }
        return done
    }

    /// Stops the program where elements are left over.
    @usableFromInline
    func requireEnd(_ isEnd: Bool) {
        guard isEnd else {
            fatalError("NDArray view: more elements to copy than the \(layout.scalarCount) of the view")
        }
    }
}

extension NDArray.MutableView {
    /// A part of the view, of the same rank, in place of the view.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(copy self)
    @_disfavoredOverload
    public consuming func slice(at ranges: [any NDArray.RangeExpression]) -> NDArray.MutableView<Element> {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), copying: self)
    }

    /// A part of the view, of the same rank, in place of the view.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(copy self)
    public consuming func slice<let indexRank: Int>(
        at ranges: [indexRank of any NDArray.RangeExpression]
    ) -> NDArray.MutableView<Element> {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), copying: self)
    }

    /// A part of the view, of the same rank; the view can be used again when the part is gone.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(&self)
    @_disfavoredOverload
    public mutating func mutatingSlice(at ranges: [any NDArray.RangeExpression]) -> NDArray.MutableView<Element> {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), mutating: &self)
    }

    /// A part of the view, of the same rank; the view can be used again when the part is gone.
    ///
    /// - Parameter ranges: A choice of positions for each of the first dimensions, at most as many as there are;
    ///   those left out stay whole. Positions outside a dimension stop the program.
    @_lifetime(&self)
    public mutating func mutatingSlice<let indexRank: Int>(
        at ranges: [indexRank of any NDArray.RangeExpression]
    ) -> NDArray.MutableView<Element> {
        unsafe _overrideLifetime(part(layout.sliced(at: ranges)), mutating: &self)
    }

    @_lifetime(copy self)
    private func part(_ slice: (offset: Int, layout: ArrayLayout)) -> NDArray.MutableView<Element> {
        let view = unsafe NDArray.MutableView<Element>(
            start: start + slice.offset, layout: slice.layout, scalarType: scalarType, buffer: buffer)
        return unsafe _overrideLifetime(view, copying: self)
    }
}
