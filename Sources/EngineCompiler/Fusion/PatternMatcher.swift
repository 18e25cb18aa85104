import EngineDelegation
import EngineGraph

/// Looks at a part from the end of a pattern backwards: who defines a value, and who else reads it.
struct PatternMatcher {
    let part: Subgraph
    /// The op that defines each value; nil for inputs and constants.
    private var definitions: [Int?]
    private var useCounts: [Int]

    init(_ part: Subgraph) {
        self.part = part
        definitions = part.types.map { _ in nil }
        useCounts = part.types.map { _ in 0 }
        for (index, op) in part.ops.enumerated() {
            for result in op.results { definitions[result.index] = index }
            for operand in op.operands { useCounts[operand.index] += 1 }
        }
        for output in part.outputs { useCounts[output.index] += 1 }
    }

    /// The op that defines `value`, if it is of one of these kinds.
    func op(_ value: Value, _ kinds: OpKind...) -> Op? {
        guard let index = definitions[value.index], kinds.contains(part.ops[index].kind) else { return nil }
        return part.ops[index]
    }

    /// The same, where `value` is read `uses` times in all: a pattern must not swallow what others read.
    func owned(_ value: Value, uses: Int = 1, _ kinds: OpKind...) -> Op? {
        guard useCounts[value.index] == uses, let index = definitions[value.index],
            kinds.contains(part.ops[index].kind)
        else { return nil }
        return part.ops[index]
    }

    /// The ops from `inputs` to `root`, in program order.
    func origins(of root: Op, from inputs: Set<Value>) -> [OpOrigin] {
        var found: [Int: OpOrigin] = [:]
        var pending = [root]
        while let op = pending.popLast() {
            for operand in op.operands where !inputs.contains(operand) {
                guard let index = definitions[operand.index], found[index] == nil else { continue }
                found[index] = OpOrigin(kind: part.ops[index].kind, location: part.ops[index].location)
                pending.append(part.ops[index])
            }
        }
        return found.sorted { $0.key < $1.key }.map(\.value) + root.origins
    }

    func type(_ value: Value) -> TensorType { part[type: value] }

    /// The value of a constant with one element.
    func scalar(_ value: Value) -> Double? {
        guard let tensor = part.constants[value], tensor.type.elementCount == 1 else { return nil }
        return tensor.numbers()?.first
    }

    /// The contents of a small integer constant.
    func integers(_ value: Value) -> [Int]? { part.constants[value]?.integers() }

    /// Where each dimension of a transpose's result comes from, counted from the first.
    func permutation(of transpose: Op) -> [Int]? {
        guard let given = integers(transpose.operands[1]) else { return nil }
        return try? ShapeMath(.transpose).permutation(given, rank: type(transpose.operands[0]).rank)
    }

    /// The operand of a commutative op that is a constant with one element, and the other one.
    func splitScalar(_ op: Op) -> (value: Value, scalar: Double)? {
        guard op.operands.count == 2 else { return nil }
        if let scalar = scalar(op.operands[1]) { return (op.operands[0], scalar) }
        if let scalar = scalar(op.operands[0]) { return (op.operands[1], scalar) }
        return nil
    }
}

/// A pattern of ops that one fused op stands for.
struct FusionPattern: Sendable {
    let name: String
    /// The kinds of the last op of the pattern.
    let roots: Set<OpKind>
    /// The op that computes the root's results; nil where the pattern is not there.
    let fuse: @Sendable (Op, PatternMatcher) -> Op?
}

extension OpKind {
    static let additions: Set<OpKind> = [.add, .broadcastingAdd]
    static let products: Set<OpKind> = [.mul, .broadcastingMul]
}
