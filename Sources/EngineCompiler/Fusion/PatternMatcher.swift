import EngineDelegation
import EngineGraph

/// A part under change: who defines a value, and how often it is read.
struct PatternMatcher {
    private var part: Subgraph
    /// The op in each slot: the part's, or what has taken its place; nil where it is gone.
    private var ops: [Op?]
    /// The slot of the op that defines each value; nil for inputs and constants.
    private var definitions: [Int?]
    /// How often each value is read, as an output too.
    private var useCounts: [Int]

    init(_ part: Subgraph) {
        self.part = part
        ops = part.ops
        definitions = part.types.map { _ in nil }
        useCounts = part.types.map { _ in 0 }
        for (index, op) in part.ops.enumerated() {
            for result in op.results { definitions[result.index] = index }
            for operand in op.operands { useCounts[operand.index] += 1 }
        }
        for output in part.outputs { useCounts[output.index] += 1 }
    }

    // MARK: - Looking

    var slots: Range<Int> { ops.indices }

    subscript(slot: Int) -> Op? { ops[slot] }

    func type(_ value: Value) -> TensorType { part[type: value] }

    /// Where the op that defines `value` stands; nil for inputs and constants.
    func slot(of value: Value) -> Int? { definitions[value.index] }

    /// The op that defines `value`.
    func definition(_ value: Value) -> Op? { definitions[value.index].flatMap { ops[$0] } }

    /// How often `value` is read; an output is read once more.
    func useCount(_ value: Value) -> Int { useCounts[value.index] }

    /// The op that defines `value`, if it is of one of these kinds.
    func op(_ value: Value, _ kinds: OpKind...) -> Op? {
        guard let op = definition(value), kinds.contains(op.kind) else { return nil }
        return op
    }

    /// The same, where `value` is read `uses` times in all: a pattern must not swallow what others read.
    func owned(_ value: Value, uses: Int = 1, _ kinds: OpKind...) -> Op? {
        owned(value, uses: uses, kinds)
    }

    func owned(_ value: Value, uses: Int = 1, _ kinds: [OpKind]) -> Op? {
        guard useCounts[value.index] == uses, let op = definition(value), kinds.contains(op.kind) else { return nil }
        return op
    }

    /// The ops from `inputs` to `root`, in program order.
    func origins(of root: Op, from inputs: Set<Value>) -> [OpOrigin] {
        var found: [Int: [OpOrigin]] = [:]
        var pending = [root]
        while let op = pending.popLast() {
            for operand in op.operands where !inputs.contains(operand) {
                guard let slot = definitions[operand.index], found[slot] == nil, let inner = ops[slot] else { continue }
                found[slot] = inner.origins
                pending.append(inner)
            }
        }
        return found.sorted { $0.key < $1.key }.flatMap(\.value) + root.origins
    }

    /// The contents of a constant.
    func constant(_ value: Value) -> HostTensor? { part.constants[value] }

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

    /// Each operand of an op of two with the other one.
    func pairs(_ op: Op) -> [(Value, Value)] {
        op.operands.count == 2 ? [(op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])] : []
    }

    // MARK: - Changing

    mutating func apply(_ rewrite: Rewrite, at slot: Int) {
        var placed = [(slot: slot, op: rewrite.root)]
        if let earlier = rewrite.earlier { placed.insert(earlier, at: 0) }
        var replaced = placed.compactMap { ops[$0.slot] }
        for (_, op) in placed { for operand in op.operands { useCounts[operand.index] += 1 } }
        for (_, op) in placed {
            // What another op defined until now goes with it.
            for result in op.results {
                guard let before = definitions[result.index], !placed.contains(where: { $0.slot == before }) else {
                    continue
                }
                replaced += ops[before].map { [$0] } ?? []
                ops[before] = nil
            }
        }
        for op in replaced { for result in op.results { definitions[result.index] = nil } }
        for (slot, op) in placed {
            ops[slot] = op
            for result in op.results { definitions[result.index] = slot }
        }
        for op in replaced { for operand in op.operands { release(operand) } }
    }

    /// One reader less: what nobody reads goes, and what it reads is released in turn.
    private mutating func release(_ value: Value) {
        var pending = [value]
        while let value = pending.popLast() {
            useCounts[value.index] -= 1
            guard useCounts[value.index] == 0, let slot = definitions[value.index], let op = ops[slot], !op.hasEffect,
                op.results.allSatisfy({ useCounts[$0.index] == 0 })
            else { continue }
            ops[slot] = nil
            for result in op.results { definitions[result.index] = nil }
            pending += op.operands
        }
    }

    /// The part as it stands, without what nobody reads.
    func finished() -> Subgraph {
        var part = part
        part.ops = ops.compactMap { $0 }
        part.constants = part.constants.filter { useCounts[$0.key.index] > 0 }
        return part
    }
}

extension OpKind {
    static let additions: Set<OpKind> = [.add, .broadcastingAdd]
    static let products: Set<OpKind> = [.mul, .broadcastingMul]
}

extension ElementType {
    /// The types that the float kernels compute in.
    var isKernelFloat: Bool { self == .float32 || self == .float16 || self == .bfloat16 }
}

extension Op {
    /// This op in another's place, and with its name, if one is given, behind its own.
    func taking(_ op: Op, as name: String? = nil) -> Op {
        var joined = self
        joined.results = op.results
        joined.location = op.location
        if let name { joined.pattern = (pattern ?? kind.rawValue) + "+" + name }
        return joined
    }
}
