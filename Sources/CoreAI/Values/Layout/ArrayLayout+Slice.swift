extension ArrayLayout {
    /// The layout of a part of the array, and the offset of its first element. The rank stays.
    func sliced(
        _ count: Int, at range: (Int) -> any NDArray.RangeExpression
    ) -> (offset: Int, layout: ArrayLayout) {
        guard count <= shape.count else {
            fatalError("NDArray slice: \(count) ranges were given for \(shape.count) dimensions")
        }
        var sizes = shape
        var steps = strides
        var interleave = self.interleave
        var offset = 0
        for axis in 0..<count {
            let size = sizes[axis]
            let range = range(axis).relative(to: 0..<size)
            guard range.lowerBound >= 0, range.upperBound <= size else {
                fatalError("NDArray slice: \(range) is outside dimension \(axis), whose size is \(size)")
            }
            sizes[axis] = range.count
            // An empty part has no first element that would have to lie inside.
            guard !range.isEmpty else { continue }
            guard range.count < size else { continue }
            guard let blocks = interleave, blocks.dimension == axis else {
                offset += range.lowerBound * steps[axis]
                continue
            }
            let block = range.lowerBound / blocks.factor
            let within = range.lowerBound % blocks.factor
            offset += block * steps[axis] + within
            if (range.upperBound - 1) / blocks.factor == block {
                // Inside one block the elements are neighbours, and nothing is interleaved any more.
                interleave = nil
                steps[axis] = 1
            } else if within != 0 {
                fatalError(
                    "NDArray slice: \(range) of dimension \(axis) starts inside a block of \(blocks.factor)"
                        + " interleaved elements and leaves it")
            }
        }
        let layout = requireValid("NDArray slice") { () throws(LayoutError) in
            try ArrayLayout(shape: sizes, strides: steps, interleave: interleave)
        }
        return (layout.scalarCount == 0 ? 0 : offset, layout)
    }

    func sliced(at ranges: [any NDArray.RangeExpression]) -> (offset: Int, layout: ArrayLayout) {
        sliced(ranges.count) { ranges[$0] }
    }

    func sliced<let count: Int>(
        at ranges: InlineArray<count, any NDArray.RangeExpression>
    ) -> (offset: Int, layout: ArrayLayout) {
        sliced(count) { ranges[$0] }
    }
}
