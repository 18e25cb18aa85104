import EngineDelegation
import EngineGraph

/// Layer normalization as the converter spells it:
/// `c = x − mean(x); c · rsqrt(mean(c · c) + ε) [· gamma] [+ beta]`, and the same without a mean (RMS).
enum NormPatterns {
    static let all = [
        FusionPattern(name: "layer_norm", roots: [.broadcastingAdd, .add, .broadcastingMul, .mul], fuse: fuse)
    ]

    @Sendable private static func fuse(_ root: Op, _ matcher: PatternMatcher) -> Op? {
        var beta: Value?
        var scaled = root
        if OpKind.additions.contains(root.kind) {
            guard let (inner, vector) = affine(root, .broadcastingMul, .mul, matcher) else { return nil }
            beta = vector
            scaled = inner
        }
        if let fused = normalized(scaled, gamma: nil, beta: beta, root, matcher) { return fused }
        guard let (inner, gamma) = affine(scaled, .broadcastingMul, .mul, matcher) else { return nil }
        return normalized(inner, gamma: gamma, beta: beta, root, matcher)
    }

    /// An op on a product that is read only here, and another value.
    private static func affine(
        _ op: Op, _ first: OpKind, _ second: OpKind, _ matcher: PatternMatcher
    ) -> (product: Op, other: Value)? {
        for (inner, other) in [(0, 1), (1, 0)] where op.operands.count == 2 {
            if let product = matcher.owned(op.operands[inner], first, second) { return (product, op.operands[other]) }
        }
        return nil
    }

    /// `centred · rsqrt(mean(centred²) + ε)`.
    private static func normalized(
        _ product: Op, gamma: Value?, beta: Value?, _ root: Op, _ matcher: PatternMatcher
    ) -> Op? {
        guard OpKind.products.contains(product.kind), product.operands.count == 2 else { return nil }
        for (centredIndex, factorIndex) in [(0, 1), (1, 0)] {
            let centred = product.operands[centredIndex]
            guard let rsqrt = matcher.owned(product.operands[factorIndex], .rsqrt),
                let shifted = matcher.owned(rsqrt.operands[0], .broadcastingAdd, .add),
                let (variance, epsilon) = matcher.splitScalar(shifted),
                let mean = matcher.owned(variance, .reduceMean),
                let square = matcher.owned(mean.operands[0], .broadcastingMul, .mul),
                square.operands == [centred, centred],
                let axisCount = trailingAxes(mean, matcher)
            else { continue }
            if let difference = matcher.owned(centred, uses: 3, .broadcastingSub, .sub),
                let centre = matcher.owned(difference.operands[1], .reduceMean),
                centre.operands[0] == difference.operands[0], trailingAxes(centre, matcher) == axisCount
            {
                return make(
                    .layerNorm, difference.operands[0], axisCount, epsilon, gamma: gamma, beta: beta, root, matcher)
            }
            return make(.rmsNorm, centred, axisCount, epsilon, gamma: gamma, beta: beta, root, matcher)
        }
        return nil
    }

    /// How many trailing dimensions a reduction is over; nil where it is over others.
    private static func trailingAxes(_ reduction: Op, _ matcher: PatternMatcher) -> Int? {
        let rank = matcher.type(reduction.operands[0]).rank
        guard let axes = matcher.integers(reduction.operands[1]), !axes.isEmpty else { return nil }
        let sorted = axes.map { $0 < 0 ? $0 + rank : $0 }.sorted()
        return sorted == Array((rank - sorted.count)..<rank) ? sorted.count : nil
    }

    private static func make(
        _ kind: OpKind, _ input: Value, _ axisCount: Int, _ epsilon: Double, gamma: Value?, beta: Value?, _ root: Op,
        _ matcher: PatternMatcher
    ) -> Op? {
        let type = matcher.type(input)
        guard matcher.type(root.results[0]) == type, [.float32, .float16, .bfloat16].contains(type.elementType) else {
            return nil
        }
        let trailing = Array(type.shape.suffix(axisCount))
        var attributes = NormAttributes(axisCount: axisCount, epsilon: epsilon)
        var operands = [input]
        for vector in [gamma, beta].compactMap({ $0 }) {
            // A factor over the normalized dimensions and no others, after leading ones of one.
            let shape = Array(matcher.type(vector).shape.drop { $0 == 1 })
            guard shape == Array(trailing.drop { $0 == 1 }), matcher.type(vector).elementType == type.elementType else {
                return nil
            }
            operands.append(vector)
        }
        attributes.hasGamma = gamma != nil
        attributes.hasBeta = beta != nil
        return Op(
            kind, operands: operands, results: root.results, attributes: .norm(attributes), location: root.location)
    }
}
