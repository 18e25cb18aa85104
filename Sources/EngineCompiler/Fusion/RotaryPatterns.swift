import EngineDelegation
import EngineGraph

/// Rotary embedding: the two halves of the last dimension as the coordinates of points, each turned by its angle.
///
/// Two spellings: `x · cos + concat(−x₂, x₁) · sin`, and `concat(x₁ · cos − x₂ · sin, x₁ · sin + x₂ · cos)`.
enum RotaryPatterns {
    static let all = [
        FusionPattern(
            "rotary", "x · cos + concat(−x₂, x₁) · sin, and the same by halves",
            roots: [.broadcastingAdd, .add, .concat],
            fuse: fuse)
    ]

    /// Beyond what any model has, and within what kernels take.
    private static let rankLimit = 8
    private static let widthLimit = 1024

    @Sendable private static func fuse(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        let type = matcher.type(root.results[0])
        guard type.elementType.isKernelFloat, (1...rankLimit).contains(type.rank), let width = type.shape.last,
            (2...widthLimit).contains(width), width % 2 == 0,
            let found = root.kind == .concat ? halves(root, matcher) : whole(root, matcher),
            matcher.type(found.x) == type
        else { return nil }
        for table in [found.cos, found.sin] {
            let given = matcher.type(table)
            guard given.elementType == type.elementType, let last = given.shape.last,
                last == (root.kind == .concat ? width / 2 : width), given.rank <= type.rank,
                zip(given.shape.dropLast().reversed(), type.shape.dropLast().reversed()).allSatisfy({
                    $0 == 1 || $0 == $1
                })
            else { return nil }
        }
        return Rewrite(
            Op(
                .rotary, operands: [found.x, found.cos, found.sin], results: root.results, location: root.location))
    }

    private struct Parts {
        var x: Value
        var cos: Value
        var sin: Value
    }

    private static func whole(_ root: Op, _ matcher: PatternMatcher) -> Parts? {
        for (straight, turned) in matcher.pairs(root) {
            guard let first = matcher.owned(straight, .broadcastingMul, .mul),
                let second = matcher.owned(turned, .broadcastingMul, .mul)
            else { continue }
            for (swapped, sin) in matcher.pairs(second) {
                guard let concat = matcher.owned(swapped, .concat), concat.operands.count == 3,
                    isLast(concat, matcher), let upper = negated(concat.operands[1], matcher),
                    let x = half(upper, isUpper: true, matcher),
                    half(concat.operands[2], isUpper: false, matcher) == x
                else { continue }
                for (value, cos) in matcher.pairs(first) where value == x { return Parts(x: x, cos: cos, sin: sin) }
            }
        }
        return nil
    }

    private static func halves(_ root: Op, _ matcher: PatternMatcher) -> Parts? {
        guard root.operands.count == 3, isLast(root, matcher),
            let difference = matcher.owned(root.operands[1], .broadcastingSub, .sub),
            let sum = matcher.owned(root.operands[2], .broadcastingAdd, .add),
            let (lower, cos) = factor(difference.operands[0], isUpper: false, matcher),
            let (upper, sin) = factor(difference.operands[1], isUpper: true, matcher), lower == upper
        else { return nil }
        for (first, second) in matcher.pairs(sum) {
            if let low = factor(first, isUpper: false, matcher), let high = factor(second, isUpper: true, matcher),
                low == (lower, sin), high == (lower, cos)
            {
                return Parts(x: lower, cos: cos, sin: sin)
            }
        }
        return nil
    }

    /// The value that a half of is multiplied, and what by.
    private static func factor(
        _ value: Value, isUpper: Bool, _ matcher: PatternMatcher
    ) -> (Value, Value)? {
        guard let product = matcher.owned(value, .broadcastingMul, .mul) else { return nil }
        for (part, table) in matcher.pairs(product) {
            if let x = half(part, isUpper: isUpper, matcher) { return (x, table) }
        }
        return nil
    }

    private static func negated(_ value: Value, _ matcher: PatternMatcher) -> Value? {
        guard let product = matcher.owned(value, .broadcastingMul, .mul), let split = matcher.splitScalar(product),
            split.scalar == -1
        else { return nil }
        return split.value
    }

    /// Whether a concatenation is along the last dimension.
    private static func isLast(_ concat: Op, _ matcher: PatternMatcher) -> Bool {
        let rank = matcher.type(concat.results[0]).rank
        guard let axis = matcher.integers(concat.operands[0])?.first else { return false }
        return axis == rank - 1 || axis == -1
    }

    /// The value that `part` is the lower or the upper half of, along the last dimension.
    private static func half(_ part: Value, isUpper: Bool, _ matcher: PatternMatcher) -> Value? {
        let shape = matcher.type(part).shape
        if let split = matcher.op(part, .split), split.results.count == 2, split.results[isUpper ? 1 : 0] == part {
            let whole = matcher.type(split.operands[0]).shape
            return shape.dropLast() == whole.dropLast() && shape.last.map { 2 * $0 } == whole.last
                ? split.operands[0] : nil
        }
        guard let slice = matcher.op(part, .slice) else { return nil }
        let whole = matcher.type(slice.operands[0]).shape
        guard shape.dropLast() == whole.dropLast(), let width = whole.last, shape.last.map({ 2 * $0 }) == width,
            let starts = matcher.integers(slice.operands[1]), starts.count == whole.count,
            let steps = matcher.integers(slice.operands[3]), steps.last == 1
        else { return nil }
        // All of the other dimensions is taken, so only where the last one starts is left to see.
        let start = starts[starts.count - 1]
        return (start < 0 ? start + width : start) == (isUpper ? width / 2 : 0)
            && zip(starts, steps).dropLast().allSatisfy { $0.1 == 1 } ? slice.operands[0] : nil
    }
}
