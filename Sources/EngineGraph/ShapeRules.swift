/// The types of an op's results from those of its operands, or what is needed to tell them. It checks everything
/// that a kernel for the op takes for granted, so that a kernel need not.
///
/// The result types fit the declared ones: a mismatch is an error. Of control flow and of a named op that the engine
/// doesn't know only the declaration is known: where it is dynamic, the answer is `needsValues` of no operand, and the
/// caller looks inside.
package func inferTypes(_ query: ShapeQuery) throws(EngineError) -> ShapeAnswer {
    let rule = ShapeRule(query)
    try rule.checkOperands()
    let answer = try rule.infer()
    guard case .types(let types) = answer else { return answer }
    return .types(try rule.checkResults(types))
}

/// A query with what the rules ask of it. The rules are in extensions, by family.
struct ShapeRule {
    let query: ShapeQuery
    let math: ShapeMath

    init(_ query: ShapeQuery) {
        self.query = query
        math = ShapeMath(query.op.kind)
    }

    var kind: OpKind { query.op.kind }

    // MARK: What the query holds

    /// The type of operand `index`, which the table says is a tensor.
    func tensor(_ index: Int) throws(EngineError) -> TensorType {
        guard query.operands.indices.contains(index), case .tensor(let type) = query.operands[index] else {
            throw math.failure("operand \(index) is not a tensor")
        }
        return type
    }

    func shape(_ index: Int) throws(EngineError) -> [Int] { try tensor(index).shape }

    /// The contents of an integer operand where they are known, as many as its type says.
    func parameter(_ index: Int) throws(EngineError) -> [Int]? {
        guard let values = query.integers(index) else { return nil }
        let count = try math.elementCount(shape(index))
        try math.require(
            values.count == count, "operand \(index) has \(values.count) known elements, expected \(count)")
        return values
    }

    /// The content of a scalar integer operand, where it is known.
    func scalar(_ index: Int) throws(EngineError) -> Int? {
        guard let values = try parameter(index) else { return nil }
        guard let value = values.first, values.count == 1 else {
            throw math.failure("operand \(index) has \(values.count) elements, expected 1")
        }
        return value
    }

    func numbers(_ index: Int) throws(EngineError) -> [Double]? {
        guard let values = query.numbers(index) else { return nil }
        let count = try math.elementCount(shape(index))
        try math.require(
            values.count == count, "operand \(index) has \(values.count) known elements, expected \(count)")
        return values
    }

    /// An axis operand, in 0 ..< `rank`, where it is known.
    func axis(_ index: Int, rank: Int) throws(EngineError) -> Int? {
        guard let value = try scalar(index) else { return nil }
        return try math.axis(value, rank: rank)
    }

    // MARK: Checks

    func requireSameShape(_ a: Int, _ b: Int) throws(EngineError) {
        let (x, y) = (try shape(a), try shape(b))
        try math.require(
            x == y,
            "operand \(b) \(label(b))has shape \(ShapeMath.text(y)), expected \(ShapeMath.text(x)), that of operand \(a)"
        )
    }

    func requireSameElements(_ a: Int, _ b: Int) throws(EngineError) {
        let (x, y) = (try tensor(a).elementType, try tensor(b).elementType)
        try math.require(
            x == y,
            "operand \(b) \(label(b))has element type \(y.dialectName), expected \(x.dialectName), that of operand \(a)"
        )
    }

    private func label(_ index: Int) -> String { kind.info.operand(index).map { "'\($0.name)' " } ?? "" }

    /// Checks the operands against the table: count, class, element type, rank; static, of a size that can be counted.
    func checkOperands() throws(EngineError) {
        let info = kind.info
        let operands = query.operands
        try math.require(
            info.acceptsOperandCount(operands.count),
            "\(operands.count) operands, expected \(info.operandCountDescription)")
        try math.require(
            operands.count == query.op.operands.count,
            "\(operands.count) operand types for \(query.op.operands.count) operands")
        for (index, type) in operands.enumerated() {
            if let expected = info.operand(index), !expected.accepts(type) {
                throw math.failure("operand \(index) \(label(index))is \(type), expected \(expected.expectation)")
            }
            try check(type, "operand \(index)")
        }
        if let reason = query.op.attributeFailure { throw math.failure(reason) }
    }

    private func check(_ type: ValueType, _ what: String) throws(EngineError) {
        switch type {
        case .tensor(let tensor), .handle(let tensor):
            try math.require(
                tensor.rank <= TensorType.maximumRank,
                "\(what) has rank \(tensor.rank), at most \(TensorType.maximumRank) is supported")
            try math.require(tensor.isStatic, "\(what) has the dynamic type \(tensor)")
            try math.require(tensor.byteCount != nil, "\(what) of type \(tensor) is too large")
        case .image(let image):
            try math.require(image.width >= 0 && image.height >= 0, "\(what) is \(type)")
        case .token: break
        }
    }

    /// Checks the inferred `types` against the declared ones.
    func checkResults(_ types: [ValueType]) throws(EngineError) -> [ValueType] {
        try math.require(
            types.count == query.declared.count, "\(query.declared.count) results, expected \(types.count)")
        for (index, (type, declared)) in zip(types, query.declared).enumerated() {
            try check(type, "result \(index)")
            try math.require(
                declared.accepts(type), "result \(index) is declared as \(declared), its operands make it \(type)")
        }
        return types
    }

    // MARK: Answers

    /// The answer where contents of operands are missing: those of `indices` that aren't known.
    func unknown(_ indices: Int...) -> ShapeAnswer {
        .needsValues(operands: indices.filter { query.integers($0) == nil && query.numbers($0) == nil })
    }

    func result(_ shape: [Int], _ elementType: ElementType) -> ShapeAnswer {
        .types([.tensor(TensorType(shape, elementType))])
    }

    /// The same type as operand `index`.
    func same(_ index: Int) -> ShapeAnswer { .types([query.operands[index]]) }

    /// The element type that the first result is declared with, where the rule leaves the choice.
    func declaredElements(_ allowed: ElementSet, default other: ElementType) throws(EngineError) -> ElementType {
        guard let declared = query.declared.first else { return other }
        guard case .tensor(let type) = declared else {
            throw math.failure("the result is declared as \(declared), expected a tensor")
        }
        try math.require(
            allowed.contains(type.elementType),
            "the result is declared with element type \(type.elementType.dialectName), expected \(allowed)")
        return type.elementType
    }

    /// The declared types where they are static.
    func declaredTypes() -> ShapeAnswer {
        let isStatic = query.declared.allSatisfy { $0.tensor?.isStatic ?? true }
        return isStatic ? .types(query.declared) : .needsValues(operands: [])
    }

    // MARK: Dispatch

    func infer() throws(EngineError) -> ShapeAnswer {
        let category = kind.info.category
        if !category.isDisjoint(with: .elementwise) { return try inferElementwise() }
        if category.contains(.reduction) { return try inferReduction() }
        switch kind {
        case .constant, .getShape, .broadcastShapes, .reshape, .expandDims, .shrinkDims, .broadcastTo,
            .broadcastInDims, .range, .tile:
            return try inferShape()
        case .where, .broadcastingWhere: return try inferWhere()
        case .transpose, .reverse, .slice, .sliceUpdate, .concat, .split, .pad: return try inferMovement()
        case .gatherAlongAxis, .gatherND, .scatterAlongAxis, .scatterND, .nonZero: return try inferIndexed()
        case .scan, .argsort, .sort, .softmax: return try inferAlongAxis()
        case .batchMatmul, .broadcastingBatchMatmul, .conv2d, .conv3d, .convTranspose2d, .convTranspose3d, .maxPool2d,
            .maxPool3d, .sumPool2d, .sumPool3d, .interpolate, .interpolateCoordinates:
            return try inferWindows()
        case .blockwiseShiftScale, .lutToDense, .lutToSparseWithBitmask, .buildSparseWithBitmask,
            .sparseWithBitmaskToDense, .sparseWithBitmaskBlockwiseShiftScale, .quantize, .dequantize,
            .symmetricQuantizationStatistics, .asymmetricQuantizationStatistics:
            return try inferWeights()
        case .imageToTensor, .tensorToImage, .createToken, .joinToken, .readHandle, .writeHandle, .loadState,
            .storeState, .copy, .copyWithConstraints, .copyDiscardingConstraints, .metalKernel:
            return try inferOther()
        default: return declaredTypes()
        }
    }
}

extension ValueType {
    /// Whether a value of type `other` may stand where this type is declared.
    package func accepts(_ other: ValueType) -> Bool {
        switch (self, other) {
        case (.tensor(let declared), .tensor(let given)), (.handle(let declared), .handle(let given)):
            declared.accepts(given) && (declared.encoding == .dense) == (given.encoding == .dense)
        default: self == other
        }
    }
}

extension Op {
    /// What is wrong with the op's attributes; nil where they fit its kind.
    package var attributeFailure: String? {
        switch (kind, attributes) {
        case (.constant, .constant), (.gelu, .approximation), (.gelu, .none), (.interpolate, .interpolation),
            (.interpolateCoordinates, .interpolation), (.pad, .padding), (.scan, .combiner),
            (.scatterAlongAxis, .scatter), (.invoke, .callee), (.metalKernel, .kernel), (.named, .name):
            nil
        case (.constant, _): "there are no elements"
        case (.gelu, _): "there is no approximation"
        case (.interpolate, _), (.interpolateCoordinates, _): "there is no interpolation mode"
        case (.pad, _): "there is no padding mode"
        case (.scan, _): "there is no combiner"
        case (.scatterAlongAxis, _): "there is no scatter mode"
        case (.invoke, _): "there is no callee"
        case (.metalKernel, _): "there is no kernel source"
        case (.named, _): "there is no name"
        default: nil
        }
    }
}
