import EngineGraph

/// What the tolerances want to know of a program.
struct ProgramTraits {
    /// A sum of more terms than this may take more of the tolerance.
    private static let longSum = 1024

    /// Matrix products, convolutions, long sums: their rounding errors add up.
    private(set) var accumulates = false
    private(set) var hasTranscendentals = false

    init(_ program: Program) {
        for graph in program.graphs { visit(graph.body, graph) }
    }

    /// How many times the usual tolerance an output may take on `unit`.
    func toleranceFactor(for type: ElementType, on unit: ComputeUnit) -> Double {
        if accumulates { return 4 }
        return unit == .gpu && hasTranscendentals && type == .float32 ? 4 : 1
    }

    private mutating func visit(_ region: Region, _ graph: Graph) {
        for op in region.ops {
            if Self.accumulating.contains(op.kind) || sumsManyTerms(op, graph) { accumulates = true }
            if Self.transcendental.contains(op.kind) { hasTranscendentals = true }
            for region in op.regions { visit(region, graph) }
            for body in op.bodies { visit(body.body, body) }
        }
    }

    private func sumsManyTerms(_ op: Op, _ graph: Graph) -> Bool {
        guard Self.summing.contains(op.kind), let operand = op.operands.first, let result = op.results.first,
            let input = graph[type: operand].tensor, let output = graph[type: result].tensor
        else { return false }
        // Where the shape stays, each result may sum as many terms as a whole dimension has.
        if input.shape == output.shape { return (input.shape.max() ?? 0) > Self.longSum }
        guard let inputCount = input.elementCount, let outputCount = output.elementCount else { return false }
        return inputCount / max(outputCount, 1) > Self.longSum
    }

    private static let accumulating: Set<OpKind> = [
        .batchMatmul, .broadcastingBatchMatmul, .conv2d, .conv3d, .convTranspose2d, .convTranspose3d,
    ]
    private static let summing: Set<OpKind> = [
        .reduce, .reduceSum, .reduceMean, .softmax, .scan, .sumPool2d, .sumPool3d,
    ]
    private static let transcendental: Set<OpKind> = [
        .acos, .acosh, .asin, .asinh, .atan, .atanh, .cos, .cosh, .erf, .exp, .gelu, .log, .pow, .broadcastingPow,
        .sigmoid, .silu, .sin, .sinh, .softmax, .tan, .tanh,
    ]
}
