/// Arithmetic on shapes that shape rules and kernels share. It checks what it is given: an error names the op.
package struct ShapeMath: Sendable {
    /// The op's name, for errors.
    package let op: String

    package init(_ kind: OpKind) { op = kind.name }

    package init(op: String) { self.op = op }

    package func failure(_ reason: String) -> EngineError { .invalidValue(op: op, reason: reason) }

    package func require(_ holds: Bool, _ reason: @autoclosure () -> String) throws(EngineError) {
        if !holds { throw failure(reason()) }
    }

    // MARK: Counting

    package func product(_ a: Int, _ b: Int) throws(EngineError) -> Int {
        let (result, overflow) = a.multipliedReportingOverflow(by: b)
        if overflow { throw failure("\(a) × \(b) is too large") }
        return result
    }

    package func sum(_ a: Int, _ b: Int) throws(EngineError) -> Int {
        let (result, overflow) = a.addingReportingOverflow(b)
        if overflow { throw failure("\(a) + \(b) is too large") }
        return result
    }

    /// The number of elements of a static shape.
    package func elementCount(_ shape: [Int]) throws(EngineError) -> Int {
        guard let count = TensorType(shape, .uint8).elementCount else {
            throw failure("the shape \(Self.text(shape)) is dynamic or too large")
        }
        return count
    }

    /// The step between neighbours along each dimension of a contiguous tensor, in elements.
    package func rowMajorStrides(_ shape: [Int]) throws(EngineError) -> [Int] {
        var strides = shape
        var step = 1
        for dimension in shape.indices.reversed() {
            strides[dimension] = step
            step = try product(step, max(shape[dimension], 1))
        }
        return strides
    }

    // MARK: Axes

    /// `axis` in 0 ..< `rank`; a negative one counts from the end.
    package func axis(_ axis: Int, rank: Int) throws(EngineError) -> Int {
        guard axis >= -rank, axis < rank else { throw failure("axis \(axis) is out of range for rank \(rank)") }
        return axis < 0 ? axis + rank : axis
    }

    /// `axes`, each in 0 ..< `rank`, none twice, in the order given.
    package func axes(_ axes: [Int], rank: Int) throws(EngineError) -> [Int] {
        var seen = Set<Int>()
        var result: [Int] = []
        for axis in axes {
            let normalized = try self.axis(axis, rank: rank)
            try require(seen.insert(normalized).inserted, "axis \(axis) is given twice")
            result.append(normalized)
        }
        return result
    }

    /// Checks that `permutation` holds each of 0 ..< `rank` once. A negative entry counts from the end.
    package func permutation(_ permutation: [Int], rank: Int) throws(EngineError) -> [Int] {
        try require(
            permutation.count == rank,
            "the permutation has \(permutation.count) entries, expected \(rank), the input's rank")
        return try axes(permutation, rank: rank)
    }

    /// A reduction's result: the reduced dimensions stay, as 1.
    package func reduced(_ shape: [Int], axes: [Int]) throws(EngineError) -> [Int] {
        var result = shape
        for axis in try self.axes(axes, rank: shape.count) { result[axis] = 1 }
        return result
    }

    // MARK: Broadcasting

    /// The shape that both broadcast to, aligned at the right.
    package func broadcast(_ a: [Int], _ b: [Int]) throws(EngineError) -> [Int] {
        var result = a.count >= b.count ? a : b
        for back in 0..<min(a.count, b.count) {
            let (x, y) = (a[a.count - 1 - back], b[b.count - 1 - back])
            guard x == y || x == 1 || y == 1 else {
                throw failure("shapes \(Self.text(a)) and \(Self.text(b)) don't broadcast: \(x) against \(y)")
            }
            result[result.count - 1 - back] = x == 1 ? y : x
        }
        return result
    }

    /// Checks that `shape` broadcasts to `target`.
    package func checkBroadcast(_ shape: [Int], to target: [Int]) throws(EngineError) {
        let fits =
            shape.count <= target.count
            && zip(shape.reversed(), target.reversed()).allSatisfy { $0 == $1 || $0 == 1 }
        try require(fits, "shape \(Self.text(shape)) doesn't broadcast to \(Self.text(target))")
    }

    /// The steps, in elements, that read a contiguous tensor of `shape` as one of `target`: 0 where it is repeated.
    package func broadcastStrides(_ shape: [Int], to target: [Int]) throws(EngineError) -> [Int] {
        try checkBroadcast(shape, to: target)
        let own = try rowMajorStrides(shape)
        let lead = target.count - shape.count
        return target.indices.map { $0 < lead || shape[$0 - lead] == 1 ? 0 : own[$0 - lead] }
    }

    // MARK: Reshaping

    /// The shape that `request` means for `count` elements: one −1 stands for what is left.
    package func reshape(count: Int, to request: [Int]) throws(EngineError) -> [Int] {
        var result = request
        var inferred: Int?
        var known = 1
        for (dimension, extent) in request.enumerated() {
            if extent == -1 {
                try require(inferred == nil, "the shape \(Self.text(request)) has more than one −1")
                inferred = dimension
            } else {
                try require(extent >= 0, "the shape \(Self.text(request)) has a negative extent")
            }
        }
        known = try elementCount(request.map { $0 == -1 ? 1 : $0 })
        if let inferred {
            try require(
                known > 0 && count % known == 0, "\(count) elements don't fill the shape \(Self.text(request))")
            result[inferred] = count / known
        } else {
            try require(known == count, "\(count) elements don't fill the shape \(Self.text(request)): \(known)")
        }
        return result
    }

    /// `shape` with unit dimensions at the positions `axes` of the result.
    package func expanded(_ shape: [Int], axes: [Int]) throws(EngineError) -> [Int] {
        let rank = shape.count + axes.count
        let positions = Set(try self.axes(axes, rank: rank))
        var rest = shape[...]
        return (0..<rank).map { positions.contains($0) ? 1 : rest.popFirst() ?? 1 }
    }

    /// `shape` without the unit dimensions `axes`.
    package func shrunk(_ shape: [Int], axes: [Int]) throws(EngineError) -> [Int] {
        let positions = Set(try self.axes(axes, rank: shape.count))
        for axis in positions.sorted() {
            try require(shape[axis] == 1, "dimension \(axis) has \(shape[axis]) elements, expected 1")
        }
        return shape.indices.filter { !positions.contains($0) }.map { shape[$0] }
    }

    /// A shape as text: `[2, ?, 3]`.
    package static func text(_ shape: [Int]) -> String {
        "[" + shape.map { $0 == TensorType.dynamic ? "?" : String($0) }.joined(separator: ", ") + "]"
    }
}
