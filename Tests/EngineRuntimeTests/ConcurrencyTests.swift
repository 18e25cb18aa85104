import EngineDelegation
import EngineGraph
import EngineRuntime
import EngineTestSupport
import Testing

@Suite struct ConcurrencyTests {
    private static let dynamic = TensorType.dynamic

    /// Products, a branch, a loop and a shape that contents decide.
    private static func function() throws -> FunctionExecutor {
        var builder = FunctionBuilder()
        let (input, state) = (builder.input([dynamic, 4]), builder.state([4]))
        let weight = builder.floats((0..<16).map { Float($0 % 5) / 4 }, [4, 4])
        let hidden = builder.op(.relu, builder.op(.broadcastingBatchMatmul, input, weight))
        let sum = builder.op(.reduceSum, hidden, builder.integers([0, 1]), shape: [1, 1])
        let total = builder.op(.reshape, sum, builder.constant([], TensorType([0], .int32)), shape: [])
        let isLarge = builder.op(.greater, total, builder.float(40), type: .bool)
        let type = ValueType.tensor(TensorType([dynamic, 4], .float32))
        let scaled = builder.branch(isLarge, [type]) {
            [$0.op(.tanh, hidden)]
        } else: {
            [$0.op(.exp, hidden)]
        }[0]
        let one = builder.integer(1)
        let looped = builder.loop(
            [builder.integer(0), scaled], [countType, type], while: { $0.isLess($1[0], than: 3) },
            do: { builder, values in
                [
                    builder.op(.add, values[0], one),
                    builder.op(.softmax, builder.op(.add, values[1], hidden), builder.integer(-1)),
                ]
            })[1]
        let (held, token) = builder.read(state, after: builder.token())
        _ = builder.write(builder.op(.add, held, builder.floats([1, 1, 1, 1], [4])), to: state, after: token)
        builder.output(builder.op(.broadcastingAdd, looped, held))
        builder.output(builder.op(.nonZero, hidden, shape: [dynamic, 2], type: .int32))
        return try executor(builder, planLimit: 3)
    }

    private static func input(_ seed: Int) throws -> HostTensor {
        var dice = Dice(seed)
        let rows = 1 + seed % 5
        return try HostTensor(dice.floats(rows * 4), [rows, 4])
    }

    /// Many calls at once, of more shapes than plans are kept, each with a state of its own.
    @Test func callsAtOnceGiveWhatCallsInTurnGive() async throws {
        let function = try Self.function()
        let seeds = 0..<24
        let expected = try seeds.map { seed in
            try function.run(try Self.input(seed), try HostTensor([Float(0), 1, 2, 3], [4])).map(\.bytes)
        }
        // New: no plan is made yet.
        let fresh = try Self.function()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<12 {
                group.addTask {
                    let state = try HostTensor([Float(0), 1, 2, 3], [4])
                    var isEqual = true
                    for step in 0..<24 {
                        let seed = (task * 5 + step) % seeds.count
                        for (index, start) in [Float(0), 1, 2, 3].enumerated() {
                            state.pointer.storeBytes(of: start, toByteOffset: index * 4, as: Float.self)
                        }
                        let outputs = try fresh.run(try Self.input(seed), state)
                        isEqual = isEqual && outputs.map(\.bytes) == expected[seed] && state.floats == [1, 2, 3, 4]
                    }
                    return isEqual
                }
            }
            for try await isEqual in group { #expect(isEqual) }
        }
    }

    @Test func inputsMayBeShared() async throws {
        let function = try Self.function()
        let input = try Self.input(3)
        let results = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<16 {
                group.addTask { try function.run(input, try HostTensor([Float(0), 0, 0, 0], [4]))[0].bytes }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(results.count == 1)
    }
}
