import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// A fused part computes what its ops compute one by one.
@Suite struct FusionEqualityTests {
    private let cpu = CPUDelegate()

    /// Runs `part` op by op, and fused and planned.
    private func compare(
        _ part: Subgraph, _ inputs: [HostTensor], states: [HostTensor] = [], _ label: String
    ) throws {
        let fused = Fusion.run(part, host: cpu)
        let (own, others) = (try states.map { try $0.copied() }, try states.map { try $0.copied() })
        let expected = try NaiveExecutor.run(part, inputs, states: own, on: cpu)
        let outputs = try part.outputs.map { try HostTensor(allocating: part[type: $0]) }
        try cpu.load(fused).run(
            ExecutionArguments(
                inputs: inputs.map { UnsafeRawPointer($0.pointer) }, states: others.map(\.pointer),
                outputs: outputs.map(\.pointer)))
        for (result, reference) in zip(outputs + others, expected + own) {
            #expect(isClose(result.floats, reference.floats), "\(label): \(fused.ops.map(\.kind.rawValue))")
        }
    }

    private func isClose(_ values: [Float], _ expected: [Float]) -> Bool {
        values.count == expected.count
            && zip(values, expected).allSatisfy {
                $0 == $1 || ($0.isNaN && $1.isNaN) || abs($0 - $1) <= 2e-4 * max(1, abs($1))
            }
    }

    @Test func randomElementwiseGraphs() throws {
        for seed in 1000..<1300 {
            var random = try RandomPart(seed: seed)
            let (inputs, states) = try random.arguments()
            try compare(random.part, inputs, states: states, "seed \(seed)")
        }
    }

    /// Products with whatever may stand around them.
    @Test func randomProducts() throws {
        var counts: [OpKind: Int] = [:]
        for seed in 0..<200 {
            var dice = Dice(seed)
            var builder = FunctionBuilder()
            let part = try products(&builder, &dice)
            let inputs = try part.inputs.map {
                try HostTensor(dice.floats(part[type: $0].elementCount ?? 0), part[type: $0].shape)
            }
            try compare(part, inputs, "seed \(seed)")
            for op in Fusion.run(part, host: cpu).ops { counts[op.kind, default: 0] += 1 }
        }
        // What is compared is not all unfused.
        for kind in [OpKind.matmul, .layerNorm, .rmsNorm, .elementwise] {
            #expect(counts[kind, default: 0] > 20, "\(kind)")
        }
    }

    private func products(_ builder: inout FunctionBuilder, _ dice: inout Dice) throws -> Subgraph {
        let size = 4
        var values = [builder.input([size, size]), builder.input([size, size])]
        for _ in 0..<(3 + dice.below(10)) {
            let (x, y) = (dice.pick(values), dice.pick(values))
            let result: Value
            switch dice.below(9) {
            case 0: result = builder.op(.transpose, x, builder.integers([1, 0]))
            case 1, 2: result = builder.op(dice.pick([.batchMatmul, .broadcastingBatchMatmul]), x, y)
            case 3:
                let shape = dice.pick([[size], [1, size], [size, 1], [1], []])
                let bias = builder.floats(dice.floats(shape.reduce(1, *)), shape)
                result = builder.op(.broadcastingAdd, x, bias)
            case 4: result = builder.op(dice.pick([.add, .sub]), x, y)
            case 5: result = builder.op(dice.pick([.relu, .sigmoid, .tanh, .silu]), x)
            case 6:
                result = builder.op(
                    dice.pick([.broadcastingMaximum, .broadcastingMinimum]), x, builder.float(dice.float()))
            case 7: result = builder.op(.softmax, x, builder.integer(dice.below(2)))
            default: result = norm(of: x, &builder, &dice)
            }
            values.append(result)
            // Values must not grow without bound through products.
            if dice.below(3) == 0 { values.append(builder.op(.tanh, result)) }
        }
        builder.output(builder.op(.tanh, values[values.count - 1]))
        builder.output(builder.op(.tanh, values[values.count - 2]))
        return try builder.part()
    }

    private func norm(of input: Value, _ builder: inout FunctionBuilder, _ dice: inout Dice) -> Value {
        let axes = builder.integers([1])
        var centred = input
        if dice.below(2) == 0 {
            centred = builder.op(.broadcastingSub, input, builder.op(.reduceMean, input, axes, shape: [4, 1]))
        }
        let variance = builder.op(.reduceMean, builder.op(.mul, centred, centred), axes, shape: [4, 1])
        let factor = builder.op(.rsqrt, builder.op(.broadcastingAdd, variance, builder.float(0.25)))
        var result = builder.op(.broadcastingMul, centred, factor)
        if dice.below(2) == 0 { result = builder.op(.broadcastingMul, result, builder.floats(dice.floats(4), [4])) }
        if dice.below(2) == 0 { result = builder.op(.broadcastingAdd, result, builder.floats(dice.floats(4), [1, 4])) }
        return result
    }

    /// Attention in its spellings, where the CPU has a kernel for it.
    @Test(.enabled(if: CPUDelegate.shared.hasKernel(for: .attention))) func attention() throws {
        for (index, maskShape) in [nil, [4, 5], [2, 1, 4, 5], [2, 3, 4, 5]].enumerated() {
            for storesHeads in [false, true] {
                var dice = Dice(index)
                var builder = FunctionBuilder()
                let heads = builder.integers([0, 2, 1, 3])
                func operand(_ length: Int, _ builder: inout FunctionBuilder) -> Value {
                    guard storesHeads else { return builder.input([2, 3, length, 8]) }
                    return builder.op(.transpose, builder.input([2, length, 3, 8]), heads, shape: [2, 3, length, 8])
                }
                let (query, key, value) = (operand(4, &builder), operand(5, &builder), operand(5, &builder))
                let turned = builder.op(.transpose, key, builder.integers([0, 1, 3, 2]), shape: [2, 3, 8, 5])
                var scores = builder.op(.broadcastingBatchMatmul, query, turned, shape: [2, 3, 4, 5])
                scores = builder.op(.broadcastingMul, scores, builder.float(0.35))
                if let maskShape { scores = builder.op(.broadcastingAdd, scores, builder.input(maskShape)) }
                let weights = builder.op(.softmax, scores, builder.integer(-1))
                let result = builder.op(.broadcastingBatchMatmul, weights, value, shape: [2, 3, 4, 8])
                builder.output(storesHeads ? builder.op(.transpose, result, heads, shape: [2, 4, 3, 8]) : result)
                let part = try builder.part()
                let inputs = try part.inputs.map {
                    try HostTensor(dice.floats(part[type: $0].elementCount ?? 0), part[type: $0].shape)
                }
                #expect(Fusion.run(part, host: cpu).ops.map(\.kind) == [.attention])
                try compare(part, inputs, "mask \(maskShape ?? []), stored heads: \(storesHeads)")
            }
        }
    }

    /// Half precision: a chain keeps its values in single precision, one by one they round.
    @Test func halvesAreWithinTheirRounding() throws {
        var builder = FunctionBuilder()
        let input = builder.input([64])
        let half = builder.op(.cast, input, type: .float16)
        let sum = builder.op(.add, builder.op(.sigmoid, half), builder.op(.tanh, half))
        builder.output(builder.op(.cast, builder.op(.mul, sum, half), type: .float32))
        let part = try builder.part()
        var dice = Dice(3)
        let inputs = [try HostTensor(dice.floats(64), [64])]
        let fused = Fusion.run(part, host: cpu)
        #expect(fused.ops.count < part.ops.count)
        let expected = try NaiveExecutor.run(part, inputs, on: cpu)[0].floats
        let result = try NaiveExecutor.run(fused, inputs, on: cpu)[0].floats
        for (value, reference) in zip(result, expected) {
            #expect(abs(value - reference) <= 8e-3 * max(1, abs(reference)))
        }
    }

    @Test func integersWrapAlike() throws {
        for type in [ElementType.int8, .uint8, .int16, .int32, .int64, .uint32] {
            var builder = FunctionBuilder()
            let (a, b) = (builder.input([16], type), builder.input([16], type))
            let product = builder.op(.mul, builder.op(.add, a, b), builder.op(.sub, a, b))
            builder.output(builder.op(.maximum, builder.op(.add, product, product), a))
            let part = try builder.part()
            var dice = Dice(5)
            let inputs = try part.inputs.map { input in
                let tensor = try HostTensor(allocating: part[type: input])
                for offset in 0..<tensor.byteCount {
                    tensor.pointer.storeBytes(of: UInt8(dice.below(256)), toByteOffset: offset, as: UInt8.self)
                }
                return tensor
            }
            let expected = try NaiveExecutor.run(part, inputs, on: cpu)
            let fused = Fusion.run(part, host: cpu)
            #expect(fused.ops.map(\.kind) == [.elementwise])
            #expect(try NaiveExecutor.run(fused, inputs, on: cpu).map(\.bytes) == expected.map(\.bytes), "\(type)")
        }
    }
}
