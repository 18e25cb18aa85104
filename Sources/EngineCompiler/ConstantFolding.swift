package import EngineDelegation
package import EngineGraph

/// Computes once what no run changes: ops whose operands are all constant.
package enum ConstantFolding {
    /// A folded result may take this much, or twice what it was made from, whichever is more: folding must not turn a
    /// small program into a large one.
    private static let byteLimit = 1 << 20

    /// What all folded results together may take beyond what the constants take, unpacked weights not counted.
    private static let totalByteLimit = 256 << 20

    package static func run(_ compiled: inout CompiledGraph, host: any HostEvaluator) {
        let weights = productOperands(compiled.graph.body.ops)
        var budget = compiled.constants.values.reduce(totalByteLimit) { $0 + $1.byteCount }
        compiled.graph.body.ops = folded(compiled.graph.body.ops, &compiled, weights, &budget, host: host)
    }

    /// The values that only products read. A product reads a transposed weight as it is stored: transposing it here
    /// would cost a copy of it.
    private static func productOperands(_ ops: [Op]) -> Set<Value> {
        var products: Set<Value> = []
        var others: Set<Value> = []
        func visit(_ ops: [Op]) {
            for op in ops {
                switch op.kind {
                case .batchMatmul, .broadcastingBatchMatmul: products.formUnion(op.operands)
                default: others.formUnion(op.operands)
                }
                for region in op.regions {
                    visit(region.ops)
                    others.formUnion(region.results)
                }
            }
        }
        visit(ops)
        return products.subtracting(others)
    }

    private static func folded(
        _ ops: [Op], _ compiled: inout CompiledGraph, _ weights: Set<Value>, _ budget: inout Int,
        host: any HostEvaluator
    ) -> [Op] {
        var kept: [Op] = []
        kept.reserveCapacity(ops.count)
        for var op in ops {
            for index in op.regions.indices {
                op.regions[index].ops = folded(op.regions[index].ops, &compiled, weights, &budget, host: host)
            }
            guard !isTransposedWeight(op, compiled, weights),
                let results = results(of: op, compiled, &budget, host: host)
            else {
                kept.append(op)
                continue
            }
            for (value, tensor) in zip(op.results, results) {
                compiled.constants[value] = tensor
                compiled.graph[type: value] = .tensor(tensor.type)
            }
        }
        return kept
    }

    private static func isTransposedWeight(_ op: Op, _ compiled: CompiledGraph, _ weights: Set<Value>) -> Bool {
        guard op.kind == .transpose, weights.contains(op.results[0]),
            let permutation = compiled.constants[op.operands[1]]?.integers(), permutation.count >= 2
        else { return false }
        let rank = permutation.count
        return permutation == Array(0..<(rank - 2)) + [rank - 1, rank - 2]
    }

    /// The results of `op`, where they are constant and worth keeping.
    private static func results(
        of op: Op, _ compiled: CompiledGraph, _ budget: inout Int, host: any HostEvaluator
    ) -> [HostTensor]? {
        guard op.regions.isEmpty, !op.operands.isEmpty, !op.results.isEmpty, op.kind != .loadState else { return nil }
        var operands: [HostTensor] = []
        for operand in op.operands {
            guard let tensor = compiled.constants[operand] else { return nil }
            operands.append(tensor)
        }
        let query = ShapeQuery(
            op: op, operands: operands.map { .tensor($0.type) },
            declared: op.results.map { compiled.graph[type: $0] },
            integers: { operands[$0].integers() }, numbers: { operands[$0].numbers() })
        // What fails here fails in the run, if the run gets there: a branch may not.
        guard case .types(let types)? = try? inferTypes(query) else { return nil }
        var results: [TensorType] = []
        var byteCount = 0
        for type in types {
            guard case .tensor(let tensor) = type, let size = tensor.byteCount, size <= Int.max - byteCount else {
                return nil
            }
            results.append(tensor)
            byteCount += size
        }
        let sourceByteCount = operands.reduce(0) { $0 + $1.byteCount }
        if !op.kind.decompresses {
            guard byteCount <= max(byteLimit, 2 * sourceByteCount), byteCount <= budget else { return nil }
        }
        if op.kind == .getShape { return HostTensor(integers: operands[0].type.shape, type: results[0]).map { [$0] } }
        guard let folded = try? host.evaluate(op, operands: operands, results: results) else { return nil }
        if !op.kind.decompresses { budget -= byteCount }
        return folded
    }
}

extension OpKind {
    /// Ops that unpack compressed weights.
    package var decompresses: Bool {
        switch self {
        case .blockwiseShiftScale, .lutToDense, .lutToSparseWithBitmask, .buildSparseWithBitmask,
            .sparseWithBitmaskToDense, .sparseWithBitmaskBlockwiseShiftScale, .dequantize:
            true
        default: false
        }
    }
}
