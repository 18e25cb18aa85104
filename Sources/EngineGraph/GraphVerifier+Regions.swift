// What regions, bodies and callees must look like for the op that holds them.

extension GraphVerifier {
    /// Checks the regions of `if` and `while`, and the callee of `invoke`.
    func checkRegions(_ op: Op) throws(EngineError) {
        switch op.kind {
        case .if: try checkIf(op)
        case .while: try checkWhile(op)
        case .invoke: try checkInvoke(op)
        default: break
        }
    }

    private func checkIf(_ op: Op) throws(EngineError) {
        if op.regions.count < 2, !op.results.isEmpty {
            throw failure("if", "it has results and no second region")
        }
        for region in op.regions {
            guard region.arguments.isEmpty else { throw failure("if", "a region has arguments") }
            try match(types(region.results), types(op.results), "if", "a region yields", "the results are")
        }
    }

    private func checkWhile(_ op: Op) throws(EngineError) {
        guard op.regions.count == 2 else { throw failure("while", "\(op.regions.count) regions, expected 2") }
        let (before, after) = (op.regions[0], op.regions[1])
        guard let condition = before.results.first, graph[type: condition] == .tensor(TensorType([], .bool)) else {
            throw failure("while", "the first region doesn't end with a condition of type tensor<i1>")
        }
        let passed = types(Array(before.results.dropFirst()))
        let carried = types(before.arguments)
        try match(types(op.operands), carried, "while", "it starts with", "the first region takes")
        try match(passed, types(after.arguments), "while", "the first region passes", "the second takes")
        try match(types(after.results), carried, "while", "the second region yields", "the first takes")
        try match(passed, types(op.results), "while", "the first region passes", "the results are")
    }

    private func checkInvoke(_ op: Op) throws(EngineError) {
        guard let callees, case .callee(let name) = op.attributes else { return }
        guard let callee = callees[name] else { throw failure("invoke", "there is no graph '\(name)'") }
        // The callee is verified on its own: here its values may still be out of range.
        let (arguments, results) = (known(callee.body.arguments, callee), known(callee.body.results, callee))
        guard let arguments, let results else { throw failure("invoke", "the graph '\(name)' is damaged") }
        try match(types(op.operands), arguments, "invoke", "it passes", "'\(name)' takes")
        try match(results, types(op.results), "invoke", "'\(name)' returns", "the results are")
    }

    private func known(_ values: [Value], _ graph: Graph) -> [ValueType]? {
        guard values.allSatisfy({ graph.types.indices.contains($0.index) }) else { return nil }
        return values.map { graph.types[$0.index] }
    }

    /// Checks an isolated body, itself verified, against the op that holds it.
    func checkBody(_ body: Graph, of op: Op) throws(EngineError) {
        let name = op.kind.name
        let arguments = body.body.arguments.map { body[type: $0] }
        let results = body.body.results.map { body[type: $0] }
        switch op.kind {
        case .reduce, .scatterND, .reduceIndex:
            // A reduction's accumulator has the initial value's type, which may be wider than the elements'.
            let accumulator = op.kind == .scatterND ? 0 : 2
            guard op.operands.count > accumulator, let first = graph[type: op.operands[accumulator]].tensor,
                let second = graph[type: op.operands[0]].tensor
            else { return }
            let state = ValueType.tensor(TensorType([], first.elementType))
            let element = ValueType.tensor(TensorType([], second.elementType))
            let expected = op.kind == .reduceIndex ? .tensor(TensorType([], .bool)) : state
            try match(arguments, [state, element], name, "the body takes", "the op gives")
            try match(results, [expected], name, "the body yields", "the op takes")
        case _ where isStructureOnly || (op.kind.info.category.contains(.named) && op.kind != .named):
            // A decomposition's types may differ from the op's own: a scalar's is stored with a vector of one.
            guard arguments.count == op.operands.count, results.count == op.results.count else {
                throw failure(
                    name,
                    "the body takes \(arguments.count) and yields \(results.count) values, the op \(op.operands.count) and \(op.results.count)"
                )
            }
        default:
            try match(types(op.operands), arguments, name, "the operands are", "the body takes")
            try match(results, types(op.results), name, "the body yields", "the results are")
        }
    }

    private func match(
        _ given: [ValueType], _ expected: [ValueType], _ op: String, _ giver: String, _ taker: String
    ) throws(EngineError) {
        let agree =
            given.count == expected.count && zip(given, expected).allSatisfy { $0.isCompatible(with: $1) }
        guard agree else {
            throw failure(op, "\(giver) \(Self.text(given)), \(taker) \(Self.text(expected))")
        }
    }

    private static func text(_ types: [ValueType]) -> String {
        // A damaged asset can declare thousands.
        let shown = types.prefix(8).map(\.description) + (types.count > 8 ? ["… \(types.count) in all"] : [])
        return "(" + shown.joined(separator: ", ") + ")"
    }
}
