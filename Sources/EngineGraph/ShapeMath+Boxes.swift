// Slices, splits, pads, ranges, gathers.

/// The part of a dimension that a slice reads: `count` elements from `start`, `step` apart.
package struct SliceExtent: Sendable, Hashable {
    package let start: Int
    package let step: Int
    package let count: Int

    package init(start: Int, step: Int, count: Int) {
        self.start = start
        self.step = step
        self.count = count
    }
}

extension ShapeMath {
    /// Resolves a slice of one dimension: a negative bound wraps once, then is clamped.
    package func slice(start: Int, end: Int, step: Int, extent: Int) throws(EngineError) -> SliceExtent {
        try require(step != 0, "a stride is 0")
        try require(extent >= 0, "the sliced extent is \(extent)")
        // For a negative step the end's least valid value is −1: it stays, and means "through the first".
        let least = step > 0 ? 0 : -1
        let most = step > 0 ? extent : extent - 1
        let from = clamp(start < 0 ? start + extent : start, step > 0 ? 0 : min(0, most), most)
        let to = clamp(end < least ? end + extent : end, least, most)
        let distance = step > 0 ? to - from : from - to
        guard distance > 0 else { return SliceExtent(start: max(from, 0), step: step, count: 0) }
        // The magnitude of the least integer is no `Int`: it counts as the greatest.
        let stride = step == .min ? Int.max : Swift.abs(step)
        return SliceExtent(start: from, step: step, count: (distance - 1) / stride + 1)
    }

    /// Resolves a slice of every dimension of `shape`.
    package func slices(
        _ shape: [Int], starts: [Int], ends: [Int], steps: [Int]
    ) throws(EngineError) -> [SliceExtent] {
        let rank = shape.count
        try require(
            starts.count == rank && ends.count == rank && steps.count == rank,
            "\(starts.count) starts, \(ends.count) ends and \(steps.count) strides, expected \(rank) of each")
        var result: [SliceExtent] = []
        for dimension in 0..<rank {
            result.append(
                try slice(
                    start: starts[dimension], end: ends[dimension], step: steps[dimension], extent: shape[dimension]))
        }
        return result
    }

    private func clamp(_ value: Int, _ low: Int, _ high: Int) -> Int { max(low, min(value, high)) }

    /// The sizes of a split: by `size` where `sections` holds one number and the operand is a scalar.
    package func split(_ extent: Int, bySize size: Int, results: Int?) throws(EngineError) -> [Int] {
        try require(size >= 1, "the split size is \(size), expected at least 1")
        try require(extent >= 0, "the split extent is \(extent)")
        let count = extent == 0 ? 1 : (extent - 1) / size + 1
        if let results {
            try require(
                results == count, "\(extent) elements by \(size) make \(count) parts, expected \(results)")
        }
        return (0..<count).map { $0 + 1 < count ? size : extent - $0 * size }
    }

    package func split(_ extent: Int, sections: [Int], results: Int?) throws(EngineError) -> [Int] {
        var total = 0
        for section in sections {
            try require(section >= 0, "a section has \(section) elements")
            total = try sum(total, section)
        }
        try require(total == extent, "the sections sum to \(total), expected \(extent)")
        if let results {
            try require(
                sections.count == results, "there are \(sections.count) sections, expected \(results)")
        }
        return sections
    }

    /// The elements to add before and after each dimension, checked against what `mode` can supply.
    package func pads(
        _ shape: [Int], _ padding: [Int], mode: PaddingMode
    ) throws(EngineError) -> [(before: Int, after: Int)] {
        try require(
            padding.count == 2 * shape.count,
            "the padding has \(padding.count) numbers, expected \(2 * shape.count), two a dimension")
        var result: [(before: Int, after: Int)] = []
        for (dimension, extent) in shape.enumerated() {
            let (before, after) = (padding[2 * dimension], padding[2 * dimension + 1])
            let most =
                switch mode {
                case .constant: Int.max
                case .replicate: extent == 0 ? 0 : Int.max
                case .reflect: max(extent - 1, 0)
                case .symmetric, .circular: extent
                }
            try require(
                before >= 0 && after >= 0, "dimension \(dimension) is padded by \(before) and \(after), expected ≥ 0")
            try require(
                before <= most && after <= most,
                "dimension \(dimension) of \(extent) elements is padded by \(before) and \(after), \(mode) allows \(most)"
            )
            result.append((before, after))
        }
        return result
    }

    package func padded(_ shape: [Int], _ padding: [Int], mode: PaddingMode) throws(EngineError) -> [Int] {
        var result = shape
        for (dimension, pad) in try pads(shape, padding, mode: mode).enumerated() {
            result[dimension] = try sum(try sum(result[dimension], pad.before), pad.after)
        }
        return result
    }

    /// The number of integers of `range(start, stop, step)`.
    package func rangeCount(start: Int, stop: Int, step: Int) throws(EngineError) -> Int {
        try require(step != 0, "the step is 0")
        guard step > 0 ? start < stop : start > stop else { return 0 }
        let (distance, overflow) =
            step > 0
            ? stop.subtractingReportingOverflow(start)
            : start.subtractingReportingOverflow(stop)
        try require(!overflow && step != .min, "the range \(start) … \(stop) is too long")
        return (distance - 1) / Swift.abs(step) + 1
    }

    /// The number of elements of `range(start, stop, step)` in floating point, in the precision of `type`.
    package func rangeCount(
        start: Double, stop: Double, step: Double, in type: ElementType
    ) throws(EngineError) -> Int {
        try require(step != 0 && step.isFinite, "the step is \(step)")
        try require(start.isFinite && stop.isFinite, "the range is from \(start) to \(stop)")
        // NumPy divides in the operands' precision: 0.3 by steps of 0.1 is 3 in single and 4 in double precision.
        let steps = type == .float64 ? (stop - start) / step : Double((Float(stop) - Float(start)) / Float(step))
        let count = steps.rounded(.up)
        // Below 2⁵³ every count is exact.
        try require(count < 0x1p53, "the range from \(start) to \(stop) by \(step) is too long")
        return count > 0 ? Int(count) : 0
    }

    /// The result of gathering slices of `shape` at index vectors of `indices`: the last dimension holds the vectors.
    package func gatherND(_ shape: [Int], indices: [Int]) throws(EngineError) -> [Int] {
        guard let depth = indices.last else { throw failure("the indices are a scalar, expected rank ≥ 1") }
        try require(
            depth >= 0 && depth <= shape.count,
            "an index has \(depth) coordinates, the input has rank \(shape.count)")
        return Array(indices.dropLast()) + Array(shape.dropFirst(depth))
    }

    /// Joins shapes that agree outside dimension `axis`. A scalar among vectors joins as a vector of one: the
    /// converters build shapes so.
    package func concat(_ given: [[Int]], axis: Int) throws(EngineError) -> [Int] {
        let shapes = given.allSatisfy { $0.count <= 1 } ? given.map { $0.isEmpty ? [1] : $0 } : given
        guard var result = shapes.first else { throw failure("there is nothing to join") }
        let dimension = try self.axis(axis, rank: result.count)
        for shape in shapes.dropFirst() {
            let agrees =
                shape.count == result.count
                && shape.indices.allSatisfy { $0 == dimension || shape[$0] == result[$0] }
            try require(
                agrees, "shapes \(Self.text(shapes[0])) and \(Self.text(shape)) don't join along dimension \(dimension)"
            )
            result[dimension] = try sum(result[dimension], shape[dimension])
        }
        return result
    }
}
