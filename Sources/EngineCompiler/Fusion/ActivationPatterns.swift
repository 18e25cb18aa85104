import EngineDelegation
import EngineGraph

/// Activations that a converter wrote out, as the one op that a product or a convolution can take in.
enum ActivationPatterns {
    static let all = [
        FusionPattern("silu", "x · sigmoid(x)", roots: OpKind.products, fuse: sigmoid),
        FusionPattern("gelu", "x · (1 + erf(x / √2)) / 2, x · sigmoid(1.702 · x)", roots: OpKind.products, fuse: gelu),
    ]

    /// `x · sigmoid(x)` and `x · sigmoid(1.702 · x)`.
    private static func gate(_ root: Op, _ matcher: PatternMatcher) -> (value: Value, factor: Double)? {
        for (value, other) in matcher.pairs(root) where matcher.type(value) == matcher.type(root.results[0]) {
            guard let sigmoid = matcher.owned(other, .sigmoid) else { continue }
            if sigmoid.operands[0] == value { return (value, 1) }
            if let scaled = matcher.owned(sigmoid.operands[0], .broadcastingMul, .mul),
                let split = matcher.splitScalar(scaled), split.value == value
            {
                return (value, split.scalar)
            }
        }
        return nil
    }

    @Sendable private static func sigmoid(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard let gate = gate(root, matcher), gate.factor == 1 else { return nil }
        return Rewrite(Op(.silu, operands: [gate.value], results: root.results, location: root.location))
    }

    @Sendable private static func gelu(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        let type = matcher.type(root.results[0])
        guard type.elementType.isKernelFloat else { return nil }
        if let gate = gate(root, matcher), isNear(gate.factor, 1.702) {
            return make(gate.value, .sigmoid, root)
        }
        // The half may be taken of x, of the other factor, or of both together.
        let (product, isHalved) = half(root, matcher)
        for (first, second) in matcher.pairs(product) {
            let (value, isValueHalved) = halfOperand(first, matcher)
            guard isHalved != isValueHalved, matcher.type(value) == type,
                let sum = matcher.owned(second, .broadcastingAdd, .add), let (inner, one) = matcher.splitScalar(sum),
                one == 1, let erf = matcher.owned(inner, .erf), isScaled(erf.operands[0], of: value, matcher)
            else { continue }
            return make(value, .none, root)
        }
        return nil
    }

    private static func make(_ value: Value, _ approximation: GeluApproximation, _ root: Op) -> Rewrite {
        Rewrite(
            Op(
                .gelu, operands: [value], results: root.results, attributes: .approximation(approximation),
                location: root.location))
    }

    /// What `root` is half of, and whether it is.
    private static func half(_ root: Op, _ matcher: PatternMatcher) -> (Op, Bool) {
        guard let split = matcher.splitScalar(root), split.scalar == 0.5,
            let product = matcher.owned(split.value, .broadcastingMul, .mul)
        else { return (root, false) }
        return (product, true)
    }

    private static func halfOperand(_ value: Value, _ matcher: PatternMatcher) -> (Value, Bool) {
        guard let scaled = matcher.owned(value, .broadcastingMul, .mul), let split = matcher.splitScalar(scaled),
            split.scalar == 0.5
        else { return (value, false) }
        return (split.value, true)
    }

    /// Whether `scaled` is `value / √2`.
    private static func isScaled(_ scaled: Value, of value: Value, _ matcher: PatternMatcher) -> Bool {
        if let divide = matcher.owned(scaled, .broadcastingDivide, .divide), divide.operands[0] == value,
            let divisor = matcher.scalar(divide.operands[1])
        {
            return isNear(divisor, 2.0.squareRoot())
        }
        guard let scale = matcher.owned(scaled, .broadcastingMul, .mul), let split = matcher.splitScalar(scale) else {
            return false
        }
        return split.value == value && isNear(split.scalar, 0.5.squareRoot())
    }

    private static func isNear(_ value: Double, _ expected: Double) -> Bool {
        abs(value - expected) <= 1e-3 * expected
    }
}
