/// Checks one graph or isolated body.
struct GraphVerifier {
    let graph: Graph
    /// The function that errors name.
    let function: String
    let callees: [String: Graph]?
    let locationCount: Int?
    let depth: Int
    /// Whether this is a decomposition: the fallback for an op with a kernel of its own, whose types don't matter then.
    let isStructureOnly: Bool

    private enum State: UInt8 { case undefined, visible, gone }
    private var states: [State]
    /// The handle that each token orders accesses to; −1 for none.
    private var handles: [Int]

    init(
        graph: Graph, function: String, callees: [String: Graph]?, locationCount: Int?, depth: Int,
        isStructureOnly: Bool
    ) {
        self.graph = graph
        self.function = function
        self.callees = callees
        self.locationCount = locationCount
        self.depth = depth
        self.isStructureOnly = isStructureOnly
        states = Array(repeating: .undefined, count: graph.types.count)
        handles = Array(repeating: -1, count: graph.types.count)
    }

    mutating func verify() throws(EngineError) {
        for type in graph.types { try checkType(type) }
        try verify(graph.body, depth: depth)
    }

    func failure(_ op: String, _ reason: String) -> EngineError {
        .invalidGraph(function: function, op: op, reason: reason)
    }

    private func checkType(_ type: ValueType) throws(EngineError) {
        switch type {
        case .tensor(let tensor), .handle(let tensor):
            guard tensor.shape.allSatisfy({ $0 >= 0 || $0 == TensorType.dynamic }) else {
                throw failure("graph", "a value has the type \(type)")
            }
            guard isStructureOnly || tensor.rank <= TensorType.maximumRank else {
                throw failure(
                    "graph", "a value has rank \(tensor.rank), at most \(TensorType.maximumRank) is supported")
            }
        case .image(let image):
            guard image.width >= 0, image.height >= 0 else { throw failure("graph", "a value has the type \(type)") }
        case .token: break
        }
    }

    // MARK: Values

    private mutating func define(_ value: Value, _ op: String) throws(EngineError) {
        guard states.indices.contains(value.index) else {
            throw failure(op, "value \(value.index) is out of range: there are \(states.count)")
        }
        guard states[value.index] == .undefined else { throw failure(op, "value \(value.index) is defined twice") }
        states[value.index] = .visible
    }

    private func use(_ value: Value, _ op: String) throws(EngineError) {
        guard states.indices.contains(value.index) else {
            throw failure(op, "value \(value.index) is out of range: there are \(states.count)")
        }
        switch states[value.index] {
        case .visible: break
        case .undefined: throw failure(op, "value \(value.index) is used before it is defined")
        case .gone: throw failure(op, "value \(value.index) is used outside the region that defines it")
        }
    }

    func types(_ values: [Value]) -> [ValueType] { values.map { graph.types[$0.index] } }

    // MARK: Regions

    private mutating func verify(_ region: Region, depth: Int) throws(EngineError) {
        guard depth <= Verifier.maximumDepth else {
            throw failure("graph", "regions are nested more than \(Verifier.maximumDepth) deep")
        }
        for argument in region.arguments { try define(argument, "graph") }
        for op in region.ops {
            for operand in op.operands { try use(operand, op.kind.name) }
            try checkRow(op)
            // The regions come before the results: they can't see them.
            for inner in op.regions {
                try verify(inner, depth: depth + 1)
                leave(inner)
            }
            for result in op.results { try define(result, op.kind.name) }
            try checkTypes(op)
            try checkTokens(op)
            try checkRegions(op)
            try verifyBodies(op, depth: depth)
        }
        for result in region.results { try use(result, "graph") }
    }

    private mutating func leave(_ region: Region) {
        for argument in region.arguments { states[argument.index] = .gone }
        for op in region.ops {
            for result in op.results { states[result.index] = .gone }
        }
    }

    private func verifyBodies(_ op: Op, depth: Int) throws(EngineError) {
        let isDecomposition = op.kind.info.category.contains(.named) && op.kind != .named
        for body in op.bodies {
            guard depth < Verifier.maximumDepth else {
                throw failure(op.kind.name, "bodies are nested more than \(Verifier.maximumDepth) deep")
            }
            var inner = GraphVerifier(
                graph: body, function: function, callees: callees, locationCount: locationCount, depth: depth + 1,
                isStructureOnly: isStructureOnly || isDecomposition)
            try inner.verify()
            try checkBody(body, of: op)
        }
    }

    // MARK: Rows

    /// Checks an op against its row of the table.
    private func checkRow(_ op: Op) throws(EngineError) {
        let info = op.kind.info
        let name = op.kind.name
        guard info.acceptsOperandCount(op.operands.count) else {
            throw failure(name, "\(op.operands.count) operands, expected \(info.operandCountDescription)")
        }
        if let count = info.resultCount, op.results.count != count {
            throw failure(name, "\(op.results.count) results, expected \(count)")
        }
        guard info.regionCount.contains(op.regions.count) else {
            throw failure(name, "\(op.regions.count) regions, expected \(info.regionCount)")
        }
        guard info.bodyCount.contains(op.bodies.count) else {
            throw failure(name, "\(op.bodies.count) bodies, expected \(info.bodyCount)")
        }
        if let reason = op.attributeFailure { throw failure(name, reason) }
        for (index, operand) in op.operands.enumerated() {
            let type = graph.types[operand.index]
            guard let expected = info.operand(index), !expected.accepts(type) else { continue }
            if isStructureOnly, type.tensor != nil, expected.accepts != .handle, expected.accepts != .token { continue }
            throw failure(
                name, "operand \(index) '\(expected.name)' is \(type), expected \(expected.expectation)")
        }
        if let locationCount, op.location >= locationCount {
            throw failure(name, "location \(op.location) is out of range: there are \(locationCount)")
        }
    }

    // MARK: Types

    /// Checks the result types against the operands' where that takes no contents.
    private func checkTypes(_ op: Op) throws(EngineError) {
        let operands = types(op.operands)
        let declared = types(op.results)
        if declared.contains(where: \.isHandle), op.kind != .copyWithConstraints, op.kind != .copyDiscardingConstraints,
            !op.kind.info.category.contains(.controlFlow)
        {
            throw failure(op.kind.name, "a state is a result: only an argument can be one")
        }
        if isStructureOnly && op.kind != .constant { return }
        let isStatic = operands.allSatisfy {
            switch $0 {
            case .tensor(let type), .handle(let type): type.isStatic
            case .token, .image: true
            }
        }
        guard isStatic else { return try checkElements(op, operands, declared) }
        let query = ShapeQuery(
            op: op, operands: operands, declared: declared, integers: { _ in nil }, numbers: { _ in nil })
        do {
            _ = try inferTypes(query)
        } catch .invalidValue(let name, let reason) {
            throw failure(name, reason)
        }
    }

    /// The part of the check that holds for dynamic shapes: element types of elementwise ops.
    private func checkElements(
        _ op: Op, _ operands: [ValueType], _ declared: [ValueType]
    ) throws(EngineError) {
        let category = op.kind.info.category
        guard !category.isDisjoint(with: .elementwise), let first = operands.first?.tensor,
            let result = declared.first?.tensor
        else { return }
        if category.contains(.binary), let second = operands.last?.tensor {
            guard first.elementType == second.elementType else {
                throw failure(
                    op.kind.name,
                    "operands of element types \(first.elementType.dialectName) and \(second.elementType.dialectName)")
            }
            if category.contains(.broadcasting) {
                try checkRank(op, result, max(first.rank, second.rank))
            } else {
                guard ValueType.tensor(first).isCompatible(with: .tensor(second)) else {
                    throw failure(op.kind.name, "operands of types \(first) and \(second)")
                }
                try checkRank(op, result, first.rank)
            }
        } else {
            try checkRank(op, result, first.rank)
        }
        let expected: ElementType? =
            switch op.kind {
            case .cast: nil
            case .realPart, .imaginaryPart: first.elementType.complexPart
            case .createComplex: first.elementType.complexType
            default: category.contains(.predicate) ? .bool : first.elementType
            }
        if let expected, result.elementType != expected {
            throw failure(op.kind.name, "the result is declared as \(result), expected \(expected.dialectName)")
        }
    }

    private func checkRank(_ op: Op, _ result: TensorType, _ rank: Int) throws(EngineError) {
        guard result.rank == rank else {
            throw failure(op.kind.name, "the result is declared as \(result), expected rank \(rank)")
        }
    }

    /// Checks that the tokens which order accesses to a state come from accesses to the same state.
    private mutating func checkTokens(_ op: Op) throws(EngineError) {
        switch op.kind {
        case .readHandle, .writeHandle:
            guard let state = op.operands.first?.index, let token = op.operands.last?.index else { return }
            guard handles[token] == -1 || handles[token] == state else {
                throw failure(op.kind.name, "its token orders accesses to another state")
            }
            if let result = op.results.last { handles[result.index] = state }
        case .joinToken:
            var state = -1
            for operand in op.operands where handles[operand.index] != -1 {
                guard state == -1 || state == handles[operand.index] else {
                    throw failure(op.kind.name, "its tokens order accesses to different states")
                }
                state = handles[operand.index]
            }
            if let result = op.results.first { handles[result.index] = state }
        default: break
        }
    }
}
