// Elementwise ops, choices, constants, and the ops that compute or change shapes.

extension ShapeRule {
    func inferElementwise() throws(EngineError) -> ShapeAnswer {
        let category = kind.info.category
        let first = try tensor(0)
        if category.contains(.unary) {
            switch kind {
            case .cast: return result(first.shape, try declaredElements(.any, default: first.elementType))
            case .realPart, .imaginaryPart: return result(first.shape, first.elementType.complexPart ?? .float32)
            default: return result(first.shape, category.contains(.predicate) ? .bool : first.elementType)
            }
        }
        try requireSameElements(0, 1)
        let elementType: ElementType
        if kind == .createComplex {
            guard let complex = first.elementType.complexType else {
                throw math.failure("there is no complex type of \(first.elementType.dialectName)")
            }
            elementType = complex
        } else {
            elementType = category.contains(.predicate) ? .bool : first.elementType
        }
        if category.contains(.broadcasting) {
            return result(try math.broadcast(first.shape, try shape(1)), elementType)
        }
        try requireSameShape(0, 1)
        return result(first.shape, elementType)
    }

    func inferWhere() throws(EngineError) -> ShapeAnswer {
        try requireSameElements(1, 2)
        let elementType = try tensor(1).elementType
        if kind == .broadcastingWhere {
            let choices = try math.broadcast(try shape(1), try shape(2))
            return result(try math.broadcast(try shape(0), choices), elementType)
        }
        try requireSameShape(0, 1)
        try requireSameShape(0, 2)
        return result(try shape(0), elementType)
    }

    func inferShape() throws(EngineError) -> ShapeAnswer {
        switch kind {
        case .constant: return try inferConstant()
        case .getShape:
            return result([try tensor(0).rank], try declaredElements(.integers, default: .uint32))
        case .broadcastShapes: return try inferBroadcastShapes()
        case .range: return try inferRange()
        default: break
        }
        let input = try tensor(0)
        if kind == .broadcastInDims { return try inferBroadcastInDims(input) }
        guard let parameter = try parameter(1) else { return unknown(1) }
        let shape: [Int]
        switch kind {
        case .reshape: shape = try math.reshape(count: math.elementCount(input.shape), to: parameter)
        case .expandDims: shape = try math.expanded(input.shape, axes: parameter)
        case .shrinkDims: shape = try math.shrunk(input.shape, axes: parameter)
        case .broadcastTo:
            try math.require(
                parameter.allSatisfy { $0 >= 0 }, "the shape \(ShapeMath.text(parameter)) has a negative extent")
            try math.checkBroadcast(input.shape, to: parameter)
            shape = parameter
        default: shape = try tiled(input.shape, parameter)
        }
        return result(shape, input.elementType)
    }

    private func inferConstant() throws(EngineError) -> ShapeAnswer {
        guard query.declared.count == 1, case .tensor(let type) = query.declared[0], type.encoding == .dense,
            type.isStatic, let count = type.elementCount
        else { throw math.failure("a constant is declared as \(query.declared), expected a static tensor") }
        if case .constant(let constant) = query.op.attributes {
            let stored = constant.isSplat ? min(count, 1) : count
            let byteCount = type.elementType.byteCount(of: stored) ?? .max
            try math.require(
                constant.byteCount >= byteCount,
                "a constant of type \(type) has \(constant.byteCount) bytes, expected \(byteCount)")
        }
        return .types(query.declared)
    }

    private func inferBroadcastShapes() throws(EngineError) -> ShapeAnswer {
        let (x, y) = (try tensor(0), try tensor(1))
        if let a = try parameter(0), let b = try parameter(1) { _ = try math.broadcast(a, b) }
        return result(
            [max(x.shape.first ?? 0, y.shape.first ?? 0)], try declaredElements(.integers, default: x.elementType))
    }

    private func inferBroadcastInDims(_ input: TensorType) throws(EngineError) -> ShapeAnswer {
        guard let sizes = try parameter(1), let given = try parameter(2) else { return unknown(1, 2) }
        let axes = try math.axes(given, rank: input.rank)
        try math.require(sizes.count == axes.count, "\(sizes.count) sizes for \(axes.count) axes")
        var shape = input.shape
        for (axis, size) in zip(axes, sizes) {
            try math.require(
                size >= 0 && (shape[axis] == 1 || shape[axis] == size),
                "dimension \(axis) of \(shape[axis]) elements can't be broadcast to \(size)")
            shape[axis] = size
        }
        return result(shape, input.elementType)
    }

    private func tiled(_ shape: [Int], _ repeats: [Int]) throws(EngineError) -> [Int] {
        try math.require(
            repeats.count <= shape.count, "\(repeats.count) repetitions for an input of rank \(shape.count)")
        var result = shape
        let lead = shape.count - repeats.count
        for (index, count) in repeats.enumerated() {
            try math.require(count >= 1, "dimension \(lead + index) is repeated \(count) times, expected at least 1")
            result[lead + index] = try math.product(shape[lead + index], count)
        }
        return result
    }

    private func inferRange() throws(EngineError) -> ShapeAnswer {
        try requireSameElements(0, 1)
        try requireSameElements(0, 2)
        let elementType = try tensor(0).elementType
        if elementType.isInteger {
            guard let start = try scalar(0), let stop = try scalar(1), let step = try scalar(2) else {
                return unknown(0, 1, 2)
            }
            return result([try math.rangeCount(start: start, stop: stop, step: step)], elementType)
        }
        guard let start = try numbers(0)?.first, let stop = try numbers(1)?.first, let step = try numbers(2)?.first
        else { return unknown(0, 1, 2) }
        var count = try math.rangeCount(start: start, stop: stop, step: step, in: elementType)
        // A converter that counted in double precision declared its own count.
        if case .tensor(let declared)? = query.declared.first, declared.rank == 1, declared.shape[0] != count,
            declared.shape[0] == (try math.rangeCount(start: start, stop: stop, step: step, in: .float64))
        {
            count = declared.shape[0]
        }
        return result([count], elementType)
    }
}

extension ElementType {
    /// The complex type whose parts are of this type.
    package var complexType: ElementType? { Self.allCases.first { $0.complexPart == self } }
}
