import EngineDelegation
import EngineGraph

/// Norms as the converter spells them: `c = x − mean(x); c / √(mean(c²) + ε)`, without the mean for RMS, and what stands
/// around them: casts, factors, reshapes into groups. Each pattern takes one step further in.
enum NormPatterns {
    static let all = [
        FusionPattern(
            "layer_norm", "(x − mean) / √(variance + ε) over trailing dimensions; without the mean: rms_norm",
            roots: [.mul, .broadcastingMul, .divide, .broadcastingDivide], fuse: core),
        FusionPattern(
            "norm_cast", "a norm in single precision of 16-bit numbers, cast back", roots: [.cast], fuse: cast),
        FusionPattern(
            "norm_scale", "a norm · gamma, over what is normalized or per channel", roots: OpKind.products, fuse: scale),
        FusionPattern(
            "norm_shift", "a norm + beta, over what is normalized or per channel", roots: OpKind.additions, fuse: shift),
    ]

    static let residual = FusionPattern(
        "norm_residual", "a norm of x + residual", roots: [.layerNorm, .rmsNorm], fuse: addResidual)

    // MARK: - The norm itself

    @Sendable private static func core(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        let type = matcher.type(root.results[0])
        guard type.elementType.isKernelFloat, root.operands.count == 2 else { return nil }
        let isQuotient = root.kind == .divide || root.kind == .broadcastingDivide
        for (centred, factor) in isQuotient ? [(root.operands[0], root.operands[1])] : matcher.pairs(root) {
            guard matcher.type(centred) == type,
                let shifted = deviation(factor, isQuotient: isQuotient, matcher),
                let sum = matcher.owned(shifted, .broadcastingAdd, .add),
                let (variance, epsilon) = matcher.splitScalar(sum),
                let mean = matcher.owned(variance, .reduceMean), let square = squared(mean.operands[0], matcher),
                square.value == centred, let axisCount = trailingAxes(mean, matcher)
            else { continue }
            if let difference = matcher.owned(centred, uses: 1 + square.uses, .broadcastingSub, .sub),
                let centre = matcher.owned(difference.operands[1], .reduceMean),
                centre.operands[0] == difference.operands[0], trailingAxes(centre, matcher) == axisCount,
                matcher.type(difference.operands[0]) == type
            {
                return make(.layerNorm, difference.operands[0], axisCount, epsilon, root)
            }
            return make(.rmsNorm, centred, axisCount, epsilon, root)
        }
        return nil
    }

    private static func make(
        _ kind: OpKind, _ input: Value, _ axisCount: Int, _ epsilon: Double, _ root: Op
    ) -> Rewrite {
        var op = Op(
            kind, operands: [input], results: root.results,
            attributes: .norm(NormAttributes(axisCount: axisCount, epsilon: epsilon)), location: root.location)
        op.pattern = kind == .rmsNorm ? "rms_norm" : "layer_norm"
        return Rewrite(op)
    }

    /// The `v` of a factor `1 / √v`, or of a divisor `√v`.
    private static func deviation(_ factor: Value, isQuotient: Bool, _ matcher: PatternMatcher) -> Value? {
        if let root = matcher.owned(factor, isQuotient ? .sqrt : .rsqrt) { return root.operands[0] }
        guard let power = matcher.owned(factor, .broadcastingPow, .pow),
            matcher.scalar(power.operands[1]) == (isQuotient ? 0.5 : -0.5)
        else { return nil }
        return power.operands[0]
    }

    /// What is squared, and how often squaring reads it.
    private static func squared(_ value: Value, _ matcher: PatternMatcher) -> (value: Value, uses: Int)? {
        if let product = matcher.owned(value, .broadcastingMul, .mul), product.operands[0] == product.operands[1] {
            return (product.operands[0], 2)
        }
        guard let power = matcher.owned(value, .broadcastingPow, .pow), matcher.scalar(power.operands[1]) == 2 else {
            return nil
        }
        return (power.operands[0], 1)
    }

    /// How many trailing dimensions a reduction is over; nil where it is over others.
    private static func trailingAxes(_ reduction: Op, _ matcher: PatternMatcher) -> Int? {
        let rank = matcher.type(reduction.operands[0]).rank
        guard let axes = matcher.integers(reduction.operands[1]), !axes.isEmpty else { return nil }
        let sorted = axes.map { $0 < 0 ? $0 + rank : $0 }.sorted()
        return sorted == Array((rank - sorted.count)..<rank) ? sorted.count : nil
    }

    // MARK: - Around it

    private static func found(_ value: Value, _ matcher: PatternMatcher) -> (op: Op, attributes: NormAttributes)? {
        guard let op = matcher.owned(value, .layerNorm, .rmsNorm, .groupNorm),
            case .norm(let attributes) = op.attributes
        else { return nil }
        return (op, attributes)
    }

    /// 16-bit numbers are normalized in single precision: the kernel widens and narrows by itself.
    @Sendable private static func cast(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard let (norm, _) = found(root.operands[0], matcher), let widening = matcher.op(norm.operands[0], .cast),
            matcher.type(norm.operands[0]).elementType == .float32
        else { return nil }
        let narrow = matcher.type(widening.operands[0])
        guard narrow.elementType == .float16 || narrow.elementType == .bfloat16,
            matcher.type(root.results[0]) == narrow
        else { return nil }
        var joined = norm.taking(root)
        joined.operands[0] = widening.operands[0]
        return Rewrite(joined)
    }

    @Sendable private static func scale(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        for (value, gamma) in matcher.pairs(root) {
            guard let (norm, attributes) = grouped(value, for: gamma, root, matcher), !attributes.hasGamma,
                !attributes.hasBeta
            else { continue }
            var joined = norm.taking(root)
            var changed = attributes
            changed.hasGamma = true
            joined.operands.append(gamma)
            joined.attributes = .norm(changed)
            return Rewrite(joined)
        }
        return nil
    }

    @Sendable private static func shift(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        for (value, beta) in matcher.pairs(root) {
            guard let (norm, attributes) = grouped(value, for: beta, root, matcher), !attributes.hasBeta else {
                continue
            }
            var joined = norm.taking(root)
            var changed = attributes
            changed.hasBeta = true
            joined.operands.append(beta)
            joined.attributes = .norm(changed)
            return Rewrite(joined)
        }
        return nil
    }

    /// The norm that `value` is, as one that can take in `vector`: over trailing dimensions, or over groups of channels
    /// where `vector` holds one number a channel.
    private static func grouped(
        _ value: Value, for vector: Value, _ root: Op, _ matcher: PatternMatcher
    ) -> (op: Op, attributes: NormAttributes)? {
        let type = matcher.type(root.results[0])
        let shape = matcher.type(vector).shape
        guard matcher.type(value) == type, matcher.type(vector).elementType == type.elementType,
            shape.count <= type.rank
        else { return nil }
        let aligned = Array(repeating: 1, count: type.rank - shape.count) + shape
        if let (norm, attributes) = found(value, matcher), attributes.groups == 0 {
            let leading = type.rank - attributes.axisCount
            if aligned[..<leading].allSatisfy({ $0 == 1 }), aligned[leading...].elementsEqual(type.shape[leading...]) {
                return (norm, attributes)
            }
        }
        guard type.rank >= 2, aligned.indices.allSatisfy({ aligned[$0] == ($0 == 1 ? type.shape[1] : 1) }) else {
            return nil
        }
        if let (norm, attributes) = found(value, matcher) {
            if attributes.groups > 0 { return (norm, attributes) }
            // Each channel by itself.
            guard norm.kind == .layerNorm, !attributes.hasGamma, !attributes.hasBeta,
                attributes.axisCount == type.rank - 2
            else { return nil }
            return regrouped(norm, attributes, groups: type.shape[1], name: "instance_norm")
        }
        // Groups of channels, as a reshape makes them and another one takes them apart; 16-bit numbers are cast between.
        let narrowing = matcher.owned(value, .cast)
        guard let outer = matcher.owned(narrowing?.operands[0] ?? value, .reshape),
            let (norm, attributes) = found(outer.operands[0], matcher), norm.kind == .layerNorm,
            attributes.groups == 0, !attributes.hasGamma, !attributes.hasBeta
        else { return nil }
        let groups = matcher.type(norm.operands[0]).shape
        var source = norm.operands[0]
        if narrowing != nil {
            guard let widening = matcher.op(source, .cast) else { return nil }
            source = widening.operands[0]
        }
        guard let inner = matcher.op(source, .reshape), matcher.type(inner.operands[0]) == type,
            groups.count == attributes.axisCount + 2, groups[0] == type.shape[0], groups[1] > 0,
            type.shape[1] % groups[1] == 0
        else { return nil }
        var grouped = regrouped(norm, attributes, groups: groups[1], name: "group_norm")
        grouped.op.operands[0] = inner.operands[0]
        return grouped
    }

    private static func regrouped(
        _ norm: Op, _ attributes: NormAttributes, groups: Int, name: String
    ) -> (op: Op, attributes: NormAttributes) {
        var (op, changed) = (norm, attributes)
        op.kind = .groupNorm
        op.pattern = name
        changed.groups = groups
        changed.axisCount = 0
        return (op, changed)
    }

    /// What no product could take in: the sum is added up where it is normalized.
    @Sendable private static func addResidual(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard case .norm(var attributes) = root.attributes, !attributes.hasResidual,
            let sum = matcher.owned(root.operands[0], .broadcastingAdd, .add)
        else { return nil }
        let type = matcher.type(root.operands[0])
        guard sum.operands.allSatisfy({ matcher.type($0) == type }), matcher.type(root.results[0]) == type else {
            return nil
        }
        attributes.hasResidual = true
        var joined = root.taking(root, as: "residual")
        joined.operands[0] = sum.operands[0]
        joined.operands.append(sum.operands[1])
        joined.attributes = .norm(attributes)
        return Rewrite(joined)
    }
}
