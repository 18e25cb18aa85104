import EngineDelegation
import EngineGraph

/// Attention as the converters spell it: `softmax(scale · q · kᵀ [+ mask]) · v`, the scale before or after the product,
/// transposes of the operands folded into how they are read.
enum AttentionPatterns {
    static let all = [
        FusionPattern(
            name: "attention", roots: [.transpose, .broadcastingBatchMatmul, .batchMatmul], fuse: fuse)
    ]

    @Sendable private static func fuse(_ root: Op, _ matcher: PatternMatcher) -> Op? {
        // A transpose of the result is part of the pattern: heads go back beside their rows.
        if root.kind == .transpose {
            guard let product = matcher.owned(root.operands[0], .broadcastingBatchMatmul, .batchMatmul),
                let permutation = matcher.permutation(of: root)
            else { return nil }
            return attention(product, resultPermutation: permutation, root, matcher)
        }
        return attention(root, resultPermutation: [], root, matcher)
    }

    private static func attention(
        _ product: Op, resultPermutation: [Int], _ root: Op, _ matcher: PatternMatcher
    ) -> Op? {
        guard let softmax = matcher.owned(product.operands[0], .softmax) else { return nil }
        let scores = matcher.type(softmax.operands[0])
        guard scores.rank >= 3, [.float32, .float16, .bfloat16].contains(scores.elementType),
            let axis = matcher.integers(softmax.operands[1])?.first, axis == scores.rank - 1 || axis == -1
        else { return nil }
        var scale = 1.0
        var mask: Value?
        var value = softmax.operands[0]
        if let sum = matcher.owned(value, .broadcastingAdd, .add) {
            // The mask is the operand that is no product.
            for (inner, other) in [(0, 1), (1, 0)] where isScores(sum.operands[inner], matcher) {
                mask = sum.operands[other]
                value = sum.operands[inner]
                break
            }
            if mask == nil { return nil }
        }
        if let scaled = matcher.owned(value, .broadcastingMul, .mul), let split = matcher.splitScalar(scaled) {
            scale *= split.scalar
            value = split.value
        } else if let scaled = matcher.owned(value, .broadcastingDivide, .divide),
            let divisor = matcher.scalar(scaled.operands[1]), divisor != 0
        {
            scale /= divisor
            value = scaled.operands[0]
        }
        guard let first = matcher.owned(value, .broadcastingBatchMatmul, .batchMatmul),
            matcher.type(first.results[0]).shape == scores.shape
        else { return nil }
        var query = first.operands[0]
        var key = first.operands[1]
        for isKey in [false, true] {
            // The converter scales query and key by the root of the scale each.
            let operand = isKey ? key : query
            if let scaled = matcher.owned(operand, .broadcastingMul, .mul), let split = matcher.splitScalar(scaled),
                matcher.type(split.value).shape == matcher.type(operand).shape
            {
                scale *= split.scalar
                if isKey { key = split.value } else { query = split.value }
            }
        }
        return make(
            query: query, key: key, value: product.operands[1], mask: mask, scale: scale, scores: scores,
            resultPermutation: resultPermutation, root, matcher)
    }

    private static func isScores(_ value: Value, _ matcher: PatternMatcher) -> Bool {
        guard
            let op = matcher.owned(
                value, .broadcastingBatchMatmul, .batchMatmul, .broadcastingMul, .mul, .broadcastingDivide, .divide)
        else { return false }
        if op.kind == .broadcastingBatchMatmul || op.kind == .batchMatmul { return true }
        return matcher.scalar(op.operands[1]) != nil || matcher.scalar(op.operands[0]) != nil
    }

    private static func make(
        query: Value, key: Value, value: Value, mask: Value?, scale: Double, scores: TensorType,
        resultPermutation: [Int], _ root: Op, _ matcher: PatternMatcher
    ) -> Op? {
        let rank = scores.rank
        var attributes = AttentionAttributes(scale: scale)
        let (queryStored, queryPermutation) = stored(query, matcher)
        var (keyStored, keyPermutation) = stored(key, matcher)
        let (valueStored, valuePermutation) = stored(value, matcher)
        // The product's right operand is kᵀ: swap the last two dimensions back.
        let keyRank = matcher.type(key).rank
        guard keyRank >= 2 else { return nil }
        if keyPermutation.isEmpty { keyPermutation = Array(0..<keyRank) }
        keyPermutation.swapAt(keyRank - 1, keyRank - 2)
        if keyPermutation == Array(0..<keyRank) { keyPermutation = [] }
        // Four dimensions at most reach the kernel: batch, heads, rows, columns.
        guard rank <= 4 else { return nil }
        for (operand, type) in [(query, scores), (value, scores)] {
            guard matcher.type(operand).elementType == type.elementType else { return nil }
        }
        if let mask {
            let type = matcher.type(mask)
            guard type.elementType == scores.elementType, type.rank <= rank else { return nil }
            attributes.hasMask = true
        }
        attributes.queryPermutation = queryPermutation
        attributes.keyPermutation = keyPermutation
        attributes.valuePermutation = valuePermutation
        attributes.resultPermutation = resultPermutation
        return Op(
            .attention, operands: [queryStored, keyStored, valueStored] + (mask.map { [$0] } ?? []),
            results: root.results, attributes: .attention(attributes), location: root.location)
    }

    /// The value behind transposes, and how it is permuted.
    private static func stored(_ value: Value, _ matcher: PatternMatcher) -> (Value, [Int]) {
        var (value, permutation) = (value, [Int]())
        while let transpose = matcher.op(value, .transpose), let inner = matcher.permutation(of: transpose) {
            value = transpose.operands[0]
            permutation = permutation.isEmpty ? inner : permutation.map { inner[$0] }
        }
        return (value, permutation)
    }
}
