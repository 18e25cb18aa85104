// Ops that move elements: permutations, boxes, gathers and scatters; and the ops that keep the shape along an axis.

extension ShapeRule {
    func inferMovement() throws(EngineError) -> ShapeAnswer {
        switch kind {
        case .slice: return try inferSlice()
        case .sliceUpdate: return try inferSliceUpdate()
        case .concat: return try inferConcat()
        case .split: return try inferSplit()
        case .pad: return try inferPad()
        default: break
        }
        let input = try tensor(0)
        let contents = try parameter(1)
        if kind == .reverse {
            if let contents { _ = try math.axes(contents, rank: input.rank) }
            return same(0)
        }
        guard let contents else { return unknown(1) }
        let permutation = try math.permutation(contents, rank: input.rank)
        return result(permutation.map { input.shape[$0] }, input.elementType)
    }

    /// The resolved box of a slice, where its bounds are known; the operands' lengths are checked anyway.
    private func box(_ input: TensorType) throws(EngineError) -> [SliceExtent]? {
        for index in 1...3 {
            let count = try math.elementCount(shape(index))
            try math.require(
                count == input.rank, "operand \(index) has \(count) elements, expected \(input.rank), the input's rank")
        }
        guard let starts = try parameter(1), let ends = try parameter(2), let steps = try parameter(3) else {
            if let steps = try parameter(3) { try math.require(!steps.contains(0), "a stride is 0") }
            return nil
        }
        return try math.slices(input.shape, starts: starts, ends: ends, steps: steps)
    }

    private func inferSlice() throws(EngineError) -> ShapeAnswer {
        let input = try tensor(0)
        if let box = try box(input) { return result(box.map(\.count), input.elementType) }
        // A static declaration lets the bounds be read when the slice runs; the kernel checks them then.
        if case .tensor(let declared)? = query.declared.first, declared.isStatic {
            try math.require(
                declared.elementType == input.elementType && declared.rank == input.rank
                    && zip(declared.shape, input.shape).allSatisfy { $0 <= $1 },
                "a slice of \(input) is declared as \(declared)")
            return .types([.tensor(declared)])
        }
        return unknown(1, 2, 3)
    }

    private func inferSliceUpdate() throws(EngineError) -> ShapeAnswer {
        let (input, update) = (try tensor(0), try tensor(4))
        try requireSameElements(0, 4)
        if let box = try box(input) {
            try math.require(
                box.map(\.count) == update.shape,
                "the update has shape \(ShapeMath.text(update.shape)), expected \(ShapeMath.text(box.map(\.count)))")
        } else {
            try math.require(
                update.rank == input.rank && zip(update.shape, input.shape).allSatisfy { $0 <= $1 },
                "the update has shape \(ShapeMath.text(update.shape)), the input \(ShapeMath.text(input.shape))")
        }
        return same(0)
    }

    private func inferConcat() throws(EngineError) -> ShapeAnswer {
        let first = try tensor(1)
        var shapes: [[Int]] = []
        for index in 1..<query.operands.count {
            try requireSameElements(1, index)
            shapes.append(try shape(index))
        }
        guard let axis = try scalar(0) else { return unknown(0) }
        return result(try math.concat(shapes, axis: axis), first.elementType)
    }

    private func inferSplit() throws(EngineError) -> ShapeAnswer {
        let input = try tensor(0)
        guard let contents = try parameter(1), let axis = try axis(2, rank: input.rank) else { return unknown(1, 2) }
        let extent = input.shape[axis]
        let count = query.declared.count
        let sizes =
            try tensor(1).rank == 0
            ? math.split(extent, bySize: contents.first ?? 0, results: count)
            : math.split(extent, sections: contents, results: count)
        return .types(
            sizes.map { size in
                var shape = input.shape
                shape[axis] = size
                return .tensor(TensorType(shape, input.elementType))
            })
    }

    private func inferPad() throws(EngineError) -> ShapeAnswer {
        let input = try tensor(0)
        try requireSameElements(0, 2)
        let valueCount = try math.elementCount(shape(2))
        try math.require(valueCount == 1, "the padding value has \(valueCount) elements, expected 1")
        guard case .padding(let mode) = query.op.attributes else { throw math.failure("there is no padding mode") }
        guard let padding = try parameter(1) else { return unknown(1) }
        return result(try math.padded(input.shape, padding, mode: mode), input.elementType)
    }

    func inferIndexed() throws(EngineError) -> ShapeAnswer {
        let input = try tensor(0)
        switch kind {
        case .gatherAlongAxis:
            try checkAlongAxis(input, axisOperand: 2)
            return result(try shape(1), input.elementType)
        case .gatherND:
            return result(try math.gatherND(input.shape, indices: try shape(1)), input.elementType)
        case .scatterAlongAxis:
            try requireSameElements(0, 2)
            try requireSameShape(1, 2)
            try checkAlongAxis(input, axisOperand: 3)
            return same(0)
        case .scatterND:
            try requireSameElements(0, 2)
            let expected = try math.gatherND(input.shape, indices: try shape(1))
            let given = try shape(2)
            try math.require(
                given == expected,
                "the updates have shape \(ShapeMath.text(given)), expected \(ShapeMath.text(expected))")
            return same(0)
        default:
            guard let contents = query.numbers(0) ?? query.integers(0)?.map(Double.init) else { return unknown(0) }
            let count = try math.elementCount(input.shape)
            try math.require(contents.count == count, "\(contents.count) known elements, expected \(count)")
            // NaN counts as not zero, as it compares.
            return result(
                [contents.count { $0 != 0 }, input.rank], try declaredElements(.integers, default: .int32))
        }
    }

    /// Checks that the indices agree with the input outside the axis.
    private func checkAlongAxis(_ input: TensorType, axisOperand: Int) throws(EngineError) {
        let indices = try shape(1)
        try math.require(
            indices.count == input.rank && input.rank >= 1,
            "the indices have rank \(indices.count), the input \(input.rank), expected equal and at least 1")
        guard let axis = try axis(axisOperand, rank: input.rank) else { return }
        for dimension in indices.indices where dimension != axis {
            try math.require(
                indices[dimension] == input.shape[dimension],
                "dimension \(dimension) of the indices has \(indices[dimension]) elements, expected \(input.shape[dimension])"
            )
        }
    }

    /// Ops with the input's shape: scans and sorts.
    func inferAlongAxis() throws(EngineError) -> ShapeAnswer {
        let input = try tensor(0)
        try math.require(input.rank >= 1, "the input is a scalar, expected rank ≥ 1")
        _ = try axis(1, rank: input.rank)
        guard kind == .argsort else { return same(0) }
        return result(input.shape, try declaredElements(.integers, default: .int32))
    }

    func inferReduction() throws(EngineError) -> ShapeAnswer {
        let input = try tensor(0)
        switch kind {
        case .argmax, .reduceIndex:
            var elements = ElementType.uint32
            if kind == .reduceIndex {
                try requireSameElements(0, 2)
                elements = try tensor(3).elementType
            } else {
                elements = try declaredElements(.integers, default: .uint32)
            }
            guard let axis = try axis(1, rank: input.rank) else { return unknown(1) }
            return result(try math.reduced(input.shape, axes: [axis]), elements)
        default:
            guard let axes = try parameter(1) else { return unknown(1) }
            var elements = input.elementType
            // The accumulator may be wider than what comes in and goes out.
            if kind == .reduce {
                elements = try declaredElements(
                    ElementSet([input.elementType, try tensor(2).elementType]), default: elements)
            }
            return result(try math.reduced(input.shape, axes: axes), elements)
        }
    }
}
