import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Foundation
import Testing

/// Networks that nobody would train: whatever patterns meet, and whatever else reads what is in the middle of them.
@Suite struct RandomNetworkTests {
    private static let count = ProcessInfo.processInfo.environment["ENGINE_FULL_TESTS"] == "1" ? 5000 : 300

    @Test func fusedIsAsUnfused() throws {
        let cpu = CPUDelegate()
        var counts: [OpKind: Int] = [:]
        for seed in 0..<Self.count {
            var network = RandomNetwork(seed: seed)
            let part = try network.part()
            var dice = Dice(seed + 1)
            let inputs = try part.inputs.map { try HostTensor(random: part[type: $0], &dice) }
            try expectSame(part, inputs, on: cpu, tolerance: 1e-3, "seed \(seed)")
            for op in Fusion.run(part, host: cpu).ops { counts[op.kind, default: 0] += 1 }
        }
        // What is compared is not all unfused.
        let kinds: [OpKind] = [.matmul, .layerNorm, .rmsNorm, .groupNorm, .attention, .rotary, .elementwise]
        for kind in kinds { #expect(counts[kind, default: 0] > Self.count / 20, "\(kind)") }
    }
}

/// A random network over values of [2, 4, 8].
private struct RandomNetwork {
    private var builder = FunctionBuilder()
    private var dice: Dice
    private var values: [Value] = []
    private var inputs: Set<Value> = []
    private static let shape = [2, 4, 8]

    init(seed: Int) {
        dice = Dice(seed)
        for _ in 0...dice.below(2) { values.append(builder.input(Self.shape)) }
        inputs = Set(values)
    }

    mutating func part() throws -> Subgraph {
        for _ in 0..<(3 + dice.below(12)) {
            var value = step(dice.pick(values), dice.pick(values))
            // Numbers must not grow without bound.
            if dice.below(3) == 0 { value = builder.op(.tanh, value) }
            values.append(value)
        }
        builder.output(builder.op(.tanh, values[values.count - 1]))
        for value in Set(values).subtracting(inputs).sorted(by: { $0.index < $1.index }) where dice.below(8) == 0 {
            builder.output(value)
        }
        return try builder.part()
    }

    private mutating func floats(_ shape: [Int]) -> Value { builder.floats(dice.floats(shape.reduce(1, *)), shape) }

    private mutating func step(_ x: Value, _ y: Value) -> Value {
        switch dice.below(16) {
        case 0: return builder.op(dice.pick([.add, .sub, .maximum]), x, y)
        case 1: return builder.op(.mul, builder.op(.tanh, x), builder.op(.sigmoid, y))
        case 2: return builder.op(dice.pick([.relu, .abs, .sigmoid, .silu, .gelu]), x)
        case 3:
            return builder.op(
                dice.pick([.broadcastingAdd, .broadcastingMul]), x, floats(dice.pick([[8], [4, 1], [1], []])))
        case 4, 5: return linear(x)
        case 6: return builder.op(.broadcastingAdd, y, linear(x))
        case 7: return norm(x)
        case 8: return norm(builder.op(.broadcastingAdd, x, y))
        case 9: return attention(x, y)
        case 10: return rotary(x)
        case 11: return reduction(x)
        case 12:
            let turned = builder.transposed(x, [0, 2, 1])
            return builder.reshaped(turned, Self.shape)
        case 13: return builder.op(.softmax, x, builder.integer(dice.below(3)))
        case 14: return dice.below(2) == 0 ? builder.writtenGelu(x) : builder.softplus(x)
        default: return channels(x)
        }
    }

    private mutating func linear(_ x: Value) -> Value {
        let weight =
            dice.below(2) == 0 ? floats([8, 8]) : builder.transposed(floats([8, 8]), [1, 0])
        var result = builder.op(.broadcastingBatchMatmul, x, weight, shape: Self.shape)
        result = builder.op(.broadcastingMul, result, builder.float(0.125))
        if dice.below(2) == 0 { result = builder.op(.broadcastingBatchMatmul, x, weight, shape: Self.shape) }
        if dice.below(4) > 0 { result = builder.op(.broadcastingAdd, result, floats([8])) }
        if dice.below(4) == 0 { values.append(result) }
        return dice.below(2) == 0 ? builder.op(dice.pick([.relu, .silu, .gelu]), result) : result
    }

    private mutating func norm(_ x: Value) -> Value {
        var result = builder.normalized(
            x, axisCount: 1, isRMS: dice.below(2) == 0, dice.pick(FunctionBuilder.Deviation.allCases))
        if dice.below(6) == 0 { values.append(result) }
        if dice.below(3) > 0 { result = builder.op(.broadcastingMul, result, floats(dice.pick([[8], [4, 1]]))) }
        if dice.below(2) == 0 { result = builder.op(.broadcastingAdd, result, floats([8])) }
        return result
    }

    /// A norm over groups of channels, or a residual behind a reshape.
    private mutating func channels(_ x: Value) -> Value {
        if dice.below(2) == 0 {
            return builder.groupNorm(x, groups: dice.pick([1, 2, 4]), gamma: floats([4, 1]), beta: floats([4, 1]))
        }
        let rows = builder.reshaped(x, [8, 8])
        let product = builder.op(.batchMatmul, rows, floats([8, 8]))
        return builder.op(.broadcastingAdd, builder.reshaped(product, Self.shape), floats([8]))
    }

    /// Two heads of four, or one of keys for both.
    private mutating func attention(_ x: Value, _ y: Value) -> Value {
        func heads(_ value: Value, _ builder: inout FunctionBuilder) -> Value {
            builder.transposed(builder.reshaped(value, [2, 4, 2, 4]), [0, 2, 1, 3])
        }
        let query = heads(x, &builder)
        var (key, value) = (heads(y, &builder), heads(linear(y), &builder))
        if dice.below(3) == 0 {
            let shape = [2, 1, 8, 4]
            (key, value) = (builder.reshaped(y, shape), builder.reshaped(x, shape))
            (key, value) = (builder.repeatedHeads(key, 2), builder.repeatedHeads(value, 2, by: .broadcastTo))
        }
        let keys = builder.shape(key)[2]
        let masking = dice.below(4)
        let column = floats([keys])
        let result = builder.attention(query, key, value) { builder, scores in
            switch masking {
            case 0: builder.op(.broadcastingAdd, scores, builder.maskOf(4, keys) { $1 <= $0 })
            case 1: builder.op(.broadcastingAdd, scores, column)
            default: scores
            }
        }
        if dice.below(6) == 0 { values.append(builder.reshaped(result, Self.shape)) }
        return builder.reshaped(builder.transposed(result, [0, 2, 1, 3]), Self.shape)
    }

    private mutating func rotary(_ x: Value) -> Value {
        dice.below(2) == 0
            ? builder.rotary(x, floats([4, 8]), floats([1, 8]))
            : builder.rotaryByHalves(x, floats([4, 4]), floats([4, 4]))
    }

    private mutating func reduction(_ x: Value) -> Value {
        let axis = dice.below(3)
        var shape = Self.shape
        shape[axis] = 1
        let reduced = builder.op(
            dice.pick([.reduceMean, .reduceMax, .reduceMin]), x, builder.integers([axis]), shape: shape)
        return builder.op(dice.pick([.broadcastingSub, .broadcastingMaximum]), x, reduced)
    }
}
