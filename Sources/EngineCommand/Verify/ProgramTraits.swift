import EngineGraph

/// What the tolerances and the placement check want to know of a program.
struct ProgramTraits {
    /// A sum of more terms than this may take more of the tolerance.
    private static let longSum = 1024

    /// Matrix products, convolutions, long sums: their rounding errors add up.
    private(set) var accumulates = false
    private(set) var hasTranscendentals = false
    /// The ops that are no bookkeeping of the host, each kind once.
    private(set) var computingOps: Set<String> = []

    init(_ program: Program) {
        for graph in program.graphs { visit(graph.body, graph, isBody: false) }
    }

    /// How many times the usual tolerance an output may take on `unit`.
    func toleranceFactor(for type: ElementType, on unit: ComputeUnit) -> Double {
        if accumulates { return 4 }
        return unit == .gpu && hasTranscendentals && type == .float32 ? 4 : 1
    }

    private mutating func visit(_ region: Region, _ graph: Graph, isBody: Bool) {
        for op in region.ops {
            if Self.accumulating.contains(op.kind) || sumsManyTerms(op, graph) { accumulates = true }
            if Self.transcendental.contains(op.kind) { hasTranscendentals = true }
            if !isBody, !isBookkeeping(op, graph) { computingOps.insert(op.kind.rawValue) }
            for region in op.regions { visit(region, graph, isBody: isBody) }
            for body in op.bodies { visit(body.body, body, isBody: true) }
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

    /// Constants, views, integer shape arithmetic, control flow, tokens.
    private func isBookkeeping(_ op: Op, _ graph: Graph) -> Bool {
        if Self.bookkeeping.contains(op.kind) { return true }
        return op.results.allSatisfy { value in
            switch graph[type: value] {
            case .token: true
            case .tensor(let type): type.rank <= 1 && (type.elementType.isInteger || type.elementType == .bool)
            case .handle, .image: false
            }
        }
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
    private static let bookkeeping: Set<OpKind> = [
        .constant, .reshape, .expandDims, .shrinkDims, .getShape, .broadcastShapes, .if, .while, .invoke,
        .isolatedGroup, .createToken, .joinToken, .readHandle, .writeHandle, .copyWithConstraints,
        .copyDiscardingConstraints,
    ]
}
