import EngineDelegation
import EngineGraph

/// What keeps a query from seeing keys.
enum AttentionMask {
    /// A tensor added to the scores.
    case added(Value)
    /// A bool tensor that shows keys where it is true; with `hidesTrue`, hides them there.
    case hidden(Value, hidesTrue: Bool)
    /// Query `i` sees keys up to `i + offset`.
    case causal(offset: Int)
    /// A mask that hides nothing.
    case nothing

    /// The mask that masked scores were made with, and the scores.
    static func find(_ value: Value, _ matcher: PatternMatcher) -> (mask: AttentionMask, scores: Value)? {
        let type = matcher.type(value)
        if let sum = matcher.owned(value, .broadcastingAdd, .add) {
            // The mask is the operand that is no product.
            for (inner, other) in matcher.pairs(sum) where isScores(inner, matcher) {
                let mask = matcher.type(other)
                guard mask.elementType.isKernelFloat, mask.rank <= type.rank else { continue }
                let visible = matcher.constant(other).flatMap { Visibility($0, scores: type.shape) { $0 } }
                return (visible?.mask ?? .added(other), inner)
            }
            return nil
        }
        guard let choice = matcher.owned(value, .broadcastingWhere, .where), choice.operands.count == 3,
            matcher.type(choice.operands[0]).rank <= type.rank
        else { return nil }
        let condition = choice.operands[0]
        for hidesTrue in [true, false] {
            let (fill, inner) = (choice.operands[hidesTrue ? 1 : 2], choice.operands[hidesTrue ? 2 : 1])
            guard let low = matcher.scalar(fill), low <= -1e9, isScores(inner, matcher),
                matcher.type(inner).shape == type.shape
            else { continue }
            let visible = matcher.constant(condition).flatMap {
                Visibility($0, scores: type.shape) { hidesTrue ? !$0 : $0 }
            }
            if let visible { return (visible.mask ?? .hidden(condition, hidesTrue: hidesTrue), inner) }
            // A query that sees nothing attends to all alike unless the fill is infinite: only a run tells.
            return low == -.infinity ? (.hidden(condition, hidesTrue: hidesTrue), inner) : nil
        }
        return nil
    }

    private static func isScores(_ value: Value, _ matcher: PatternMatcher) -> Bool {
        let kinds: [OpKind] = [
            .broadcastingBatchMatmul, .batchMatmul, .broadcastingMul, .mul, .broadcastingDivide, .divide, .cast,
        ]
        guard let op = matcher.owned(value, kinds) else { return false }
        switch op.kind {
        case .broadcastingBatchMatmul, .batchMatmul: return true
        case .cast: return isScores(op.operands[0], matcher)
        default: return matcher.scalar(op.operands[1]) != nil || matcher.scalar(op.operands[0]) != nil
        }
    }
}

/// Which keys a constant mask shows each query: only masks under which every query sees a key.
private struct Visibility {
    /// The mask, where it is simpler than a tensor.
    private(set) var mask: AttentionMask?

    /// Nil where the mask is no plain one: it weighs keys, hides all from a query, or differs between heads.
    init?(_ tensor: HostTensor, scores: [Int], _ shows: (Bool) -> Bool) {
        let shape = tensor.type.shape
        guard shape.count >= 2, shape.dropLast(2).allSatisfy({ $0 == 1 }), scores.count >= 2,
            Array(shape.suffix(2)) == Array(scores.suffix(2)), shape.suffix(2).allSatisfy({ $0 > 0 })
        else { return nil }
        switch tensor.type.elementType {
        case .bool: scan(tensor, UInt8.self) { shows($0 != 0) }
        case .float32: scan(tensor, Float.self) { $0 == 0 ? true : $0 <= -9999 ? false : nil }
        case .float16: scan(tensor, Float16.self) { $0 == 0 ? true : $0 <= -9984 ? false : nil }
        default: return nil
        }
        if !isPlain { return nil }
    }

    private var isPlain = false

    private mutating func scan<T>(_ tensor: HostTensor, _: T.Type, _ isVisible: (T) -> Bool?) {
        let shape = tensor.type.shape
        let (rows, columns) = (shape[shape.count - 2], shape[shape.count - 1])
        let elements = UnsafeRawPointer(tensor.pointer)
        var offset: Int?
        var isCausal = true
        for row in 0..<rows {
            var count = 0
            var isPrefix = true
            for column in 0..<columns {
                let place = (row * columns + column) * MemoryLayout<T>.size
                guard let visible = isVisible(elements.loadUnaligned(fromByteOffset: place, as: T.self)) else { return }
                if visible {
                    if count != column { isPrefix = false }
                    count += 1
                }
            }
            if count == 0 { return }
            let first = offset ?? count - 1
            offset = first
            if !isPrefix || count != min(columns, row + first + 1) { isCausal = false }
        }
        isPlain = true
        guard isCausal, let offset else { return }
        mask = offset >= columns - 1 ? .nothing : .causal(offset: offset)
    }
}
