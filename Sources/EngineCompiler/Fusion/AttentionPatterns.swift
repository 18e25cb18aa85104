import EngineDelegation
import EngineGraph

/// Attention as the converters spell it: `softmax(scale · q · kᵀ [+ mask]) · v`, the scale before or after the product,
/// transposes of the operands folded into how they are read, keys and values repeated for groups of heads read once.
enum AttentionPatterns {
    static let all = [
        FusionPattern(
            "attention", "softmax(scale · q · kᵀ + mask) · v, causal and with groups of heads",
            roots: [.broadcastingBatchMatmul, .batchMatmul], fuse: attention),
        FusionPattern(
            "attention_transpose", "attention's heads beside their rows again", roots: [.transpose], fuse: transposed),
    ]

    private static let products: [OpKind] = [.broadcastingBatchMatmul, .batchMatmul]

    /// What is found on the way from the second product back to the first.
    private struct Parts {
        var query: Value
        var key: Value
        var value: Value
        var mask: AttentionMask?
        var scale = 1.0
        /// The type of the scores.
        var scores: TensorType
    }

    @Sendable private static func attention(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard let softmax = matcher.owned(uncast(root.operands[0], matcher), .softmax) else { return nil }
        let scores = matcher.type(softmax.operands[0])
        guard (3...4).contains(scores.rank), scores.elementType.isKernelFloat,
            let axis = matcher.integers(softmax.operands[1])?.first, axis == scores.rank - 1 || axis == -1
        else { return nil }
        var parts = Parts(
            query: softmax.operands[0], key: softmax.operands[0], value: root.operands[1], scores: scores)
        var value = uncast(softmax.operands[0], matcher)
        if let masked = AttentionMask.find(value, matcher) {
            parts.mask = masked.mask
            value = uncast(masked.scores, matcher)
        }
        if let scaled = matcher.owned(value, .broadcastingMul, .mul), let split = matcher.splitScalar(scaled) {
            parts.scale *= split.scalar
            value = split.value
        } else if let scaled = matcher.owned(value, .broadcastingDivide, .divide),
            let divisor = matcher.scalar(scaled.operands[1]), divisor != 0
        {
            parts.scale /= divisor
            value = scaled.operands[0]
        }
        guard let first = matcher.owned(uncast(value, matcher), products),
            matcher.type(first.results[0]).shape == scores.shape
        else { return nil }
        (parts.query, parts.key) = (first.operands[0], first.operands[1])
        for path in [\Parts.query, \Parts.key] {
            // The converter scales query and key by the root of the scale each.
            if let scaled = matcher.owned(parts[keyPath: path], .broadcastingMul, .mul),
                let split = matcher.splitScalar(scaled),
                matcher.type(split.value) == matcher.type(parts[keyPath: path])
            {
                parts.scale *= split.scalar
                parts[keyPath: path] = split.value
            }
        }
        return make(parts, root, matcher).map { Rewrite($0) }
    }

    /// What is cast to another float type and read only for it: scores are in single precision in any case.
    private static func uncast(_ value: Value, _ matcher: PatternMatcher) -> Value {
        guard let cast = matcher.owned(value, .cast), matcher.type(value).elementType.isKernelFloat,
            matcher.type(cast.operands[0]).elementType.isKernelFloat
        else { return value }
        return cast.operands[0]
    }

    private static func make(_ parts: Parts, _ root: Op, _ matcher: PatternMatcher) -> Op? {
        let type = matcher.type(root.results[0]).elementType
        guard [parts.query, parts.key, parts.value].allSatisfy({ matcher.type($0).elementType == type }),
            type.isKernelFloat, matcher.type(root.results[0]).rank == parts.scores.rank
        else { return nil }
        let query = StoredOperand(parts.query, matcher)
        var key = StoredOperand(parts.key, matcher)
        var value = StoredOperand(parts.value, matcher)
        // The product's right operand is kᵀ: swap the last two dimensions back.
        let rank = matcher.type(parts.key).rank
        guard rank >= 2 else { return nil }
        key.permutation.swapAt(rank - 1, rank - 2)
        let isGrouped = key.skipRepeats(matcher, heads: 1) && value.skipRepeats(matcher, heads: 1)
        if isGrouped, key.repeats != value.repeats { return nil }
        if !isGrouped {
            key.undoRepeats()
            value.undoRepeats()
        }
        var attributes = AttentionAttributes(scale: parts.scale)
        var op = Op(
            .attention, operands: [query.value, key.value, value.value], results: root.results,
            location: root.location)
        op.pattern = "attention"
        if isGrouped { op.pattern! += "+groups" }
        switch parts.mask {
        case nil, .nothing: break
        case .causal(let offset):
            attributes.causalOffset = offset
            op.pattern! += "+causal"
        case .added(let mask):
            attributes.hasMask = true
            op.operands.append(mask)
            op.pattern! += "+mask"
        case .hidden(let mask, let hidesTrue):
            attributes.hasMask = true
            attributes.hidesTrue = hidesTrue
            op.operands.append(mask)
            op.pattern! += "+mask"
        }
        attributes.queryPermutation = query.attribute
        attributes.keyPermutation = key.attribute
        attributes.valuePermutation = value.attribute
        op.attributes = .attention(attributes)
        return op
    }

    @Sendable private static func transposed(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard let attention = matcher.owned(root.operands[0], .attention),
            case .attention(var attributes) = attention.attributes, attributes.resultPermutation.isEmpty,
            let permutation = matcher.permutation(of: root)
        else { return nil }
        attributes.resultPermutation = permutation
        var joined = attention.taking(root)
        joined.attributes = .attention(attributes)
        return Rewrite(joined)
    }
}

/// An operand behind its transposes, and behind the repetition of its heads.
private struct StoredOperand {
    private(set) var value: Value
    var permutation: [Int]
    /// How many neighbouring heads share one that is stored.
    private(set) var repeats = 1
    private var unrepeated: (value: Value, permutation: [Int])?

    init(_ value: Value, _ matcher: PatternMatcher) {
        self.value = value
        permutation = Array(0..<matcher.type(value).rank)
        skipTransposes(matcher)
    }

    /// The permutation as an op's attributes give it.
    var attribute: [Int] { permutation == Array(permutation.indices) ? [] : permutation }

    private mutating func skipTransposes(_ matcher: PatternMatcher) {
        while let transpose = matcher.op(value, .transpose), let inner = matcher.permutation(of: transpose) {
            value = transpose.operands[0]
            permutation = permutation.map { inner[$0] }
        }
    }

    /// Reads the heads that [batch, heads, 1, …] → [batch, heads, n, …] → [batch, heads · n, …] repeats; false where
    /// that is not how the operand was made. `heads` is the dimension that counts them.
    mutating func skipRepeats(_ matcher: PatternMatcher, heads: Int) -> Bool {
        let kinds: [OpKind] = [.tile, .broadcastInDims, .broadcastTo]
        guard permutation.count == 4, permutation[heads] == heads,
            let outer = matcher.op(value, .reshape), let wide = matcher.definition(outer.operands[0]),
            kinds.contains(wide.kind), let inner = matcher.op(wide.operands[0], .reshape, .expandDims)
        else { return false }
        let stored = matcher.type(inner.operands[0]).shape
        let repeated = matcher.type(outer.operands[0]).shape
        let type = matcher.type(value).shape
        guard stored.count == 4, repeated.count == 5, repeated[2] > 0,
            matcher.type(wide.operands[0]).shape == [stored[0], stored[1], 1, stored[2], stored[3]],
            repeated == [stored[0], stored[1], repeated[2], stored[2], stored[3]],
            type == [stored[0], stored[1] * repeated[2], stored[2], stored[3]]
        else { return false }
        unrepeated = (value, permutation)
        repeats = repeated[2]
        value = inner.operands[0]
        skipTransposes(matcher)
        return true
    }

    mutating func undoRepeats() {
        if let unrepeated { (value, permutation) = unrepeated }
        repeats = 1
    }
}
