package import EngineDelegation
import EngineGraph

/// Random parts over `f32` values of 24 elements: elementwise ops, views, norms, slices, updates and states.
package struct RandomPart {
    package private(set) var part = Subgraph(name: "random")
    private var dice: Dice
    private var values: [Value] = []

    private static let shapes = [[24], [4, 6], [2, 12], [2, 3, 4], [6, 4]]
    /// What states hold, and what slices are cut from.
    private static let table = [4, 6]

    package init(seed: Int, withStates: Bool = true) throws {
        dice = Dice(seed)
        for _ in 0...dice.below(3) {
            let value = define(TensorType(dice.pick(Self.shapes), .float32))
            part.inputs.append(value)
            values.append(value)
        }
        let table = define(TensorType(Self.table, .float32))
        part.inputs.append(table)
        values.append(table)
        if withStates {
            for _ in 0..<dice.below(3) { part.states.append(define(TensorType(Self.table, .float32))) }
        }
        for _ in 0..<(4 + dice.below(16)) { try addOp() }
        let defined = part.ops.flatMap(\.results)
        for value in defined where dice.below(5) == 0 { part.outputs.append(value) }
        if part.outputs.isEmpty, let last = defined.last { part.outputs.append(last) }
    }

    /// Contents for the inputs and the states.
    package mutating func arguments() throws -> (inputs: [HostTensor], states: [HostTensor]) {
        (try part.inputs.map { try contents($0) }, try part.states.map { try contents($0) })
    }

    private mutating func contents(_ value: Value) throws -> HostTensor {
        try HostTensor(dice.floats(part[type: value].elementCount ?? 0), part[type: value].shape)
    }

    // MARK: Building

    private mutating func define(_ type: TensorType) -> Value {
        part.types.append(type)
        return Value(part.types.count - 1)
    }

    private mutating func emit(
        _ kind: OpKind, _ operands: [Value], _ shape: [Int], _ attributes: OpAttributes = .none
    ) -> Value {
        let result = define(TensorType(shape, .float32))
        part.ops.append(Op(kind, operands: operands, results: [result], attributes: attributes))
        if part[type: result].elementCount == 24 { values.append(result) }
        return result
    }

    private mutating func integers(_ values: [Int], scalar: Bool = false) throws -> Value {
        let tensor = try HostTensor(values.map(Int32.init), scalar ? [] : [values.count])
        let value = define(tensor.type)
        part.constants[value] = tensor
        return value
    }

    private mutating func pick() -> Value { dice.pick(values) }

    /// A value of this shape: one that is there, or a view of another.
    private mutating func pick(_ shape: [Int]) throws -> Value {
        let fitting = values.filter { part[type: $0].shape == shape }
        if !fitting.isEmpty, dice.below(4) > 0 { return dice.pick(fitting) }
        return emit(.reshape, [pick(), try integers(shape)], shape)
    }

    private mutating func addOp() throws {
        let value = pick()
        let shape = part[type: value].shape
        switch dice.below(part.states.isEmpty ? 11 : 15) {
        case 0: _ = emit(dice.pick([.relu, .abs, .sigmoid, .tanh]), [value], shape)
        case 1: _ = emit(dice.pick([.add, .sub, .mul, .maximum]), [value, try pick(shape)], shape)
        case 2:
            let scalar = define(TensorType([], .float32))
            part.constants[scalar] = try HostTensor([dice.float()], [])
            _ = emit(dice.pick([.broadcastingAdd, .broadcastingMul]), [value, scalar], shape)
        case 3: _ = emit(.softmax, [value, try integers([shape.count - 1], scalar: true)], shape)
        case 4:
            let target = dice.pick(Self.shapes)
            _ = emit(.reshape, [value, try integers(target)], target)
        case 5:
            let matrix = try pick(Self.table)
            _ = emit(.transpose, [matrix, try integers([1, 0])], [6, 4])
        case 6:
            let mean = emit(
                .reduceMean, [value, try integers([shape.count - 1])], Array(shape.dropLast()) + [1])
            _ = emit(.broadcastingSub, [value, mean], shape)
        case 7:
            // Gamma may be the input itself.
            let (input, gamma) = (try pick([24]), try pick([24]))
            var norm = NormAttributes(axisCount: 1, epsilon: 1e-3)
            norm.hasGamma = true
            _ = emit(.rmsNorm, [input, gamma], [24], .norm(norm))
        case 8: try update(try pick(Self.table))
        case 9:
            let source = try pick(Self.table)
            let axis = try integers([0], scalar: true)
            let halves = [define(TensorType([2, 6], .float32)), define(TensorType([2, 6], .float32))]
            part.ops.append(Op(.split, operands: [source, try integers([2, 2]), axis], results: halves))
            _ = emit(.concat, [axis, halves[1], halves[0]], Self.table)
        case 10: _ = emit(.copy, [value], shape)
        case 11, 12: _ = emit(.loadState, [dice.pick(part.states)], Self.table)
        case 13:
            // As a cache is written: read, update, write back; other things may happen before it is written.
            let state = dice.pick(part.states)
            try update(emit(.loadState, [state], Self.table))
            let updated = values[values.count - 1]
            for _ in 0..<dice.below(3) { try addOp() }
            part.ops.append(Op(.storeState, operands: [state, updated]))
        default:
            part.ops.append(Op(.storeState, operands: [dice.pick(part.states), try pick(Self.table)]))
        }
    }

    /// Replaces some rows of `target` by rows of another value, which may be `target` too.
    private mutating func update(_ target: Value) throws {
        if dice.below(3) == 0 {
            // All rows, in another order.
            let turn = 1 + dice.below(3)
            let indices = try HostTensor((0..<24).map { Int32(($0 / 6 + turn) % 4) }, Self.table)
            let rows = define(indices.type)
            part.constants[rows] = indices
            let source = dice.below(2) == 0 ? target : try pick(Self.table)
            _ = emit(
                .scatterAlongAxis, [target, rows, source, try integers([0], scalar: true)], Self.table,
                .scatter(.update))
            return
        }
        let (from, to) = (dice.below(3), dice.below(3))
        let (steps, source) = (try integers([1, 1]), try pick(Self.table))
        let rows = emit(
            .slice, [source, try integers([from, 0]), try integers([from + 2, 6]), steps], [2, 6])
        _ = emit(
            .sliceUpdate, [target, try integers([to, 0]), try integers([to + 2, 6]), steps, rows], Self.table)
    }
}
