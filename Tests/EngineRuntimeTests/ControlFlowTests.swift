import EngineDelegation
import EngineGraph
import EngineRuntime
import EngineTestSupport
import Testing

@Suite struct ControlFlowTests {
    @Test func aBranchReadsWhatStandsOutside() throws {
        var builder = FunctionBuilder()
        let (condition, input) = (builder.input([], .bool), builder.input([2]))
        let captured = builder.op(.relu, input)
        let constant = builder.floats([5, 6], [2])
        let result = builder.branch(condition, [floatType]) {
            [$0.op(.add, captured, constant)]
        } else: { _ in
            // As they are: a value from outside, an argument and a constant are results of branches below.
            [captured]
        }[0]
        builder.output(builder.op(.add, result, captured), result)
        let function = try executor(builder)
        let tensor = try HostTensor([Float(1), -1], [2])
        #expect(try function.run(try HostTensor(true), tensor).map(\.floats) == [[7, 6], [6, 6]])
        #expect(try function.run(try HostTensor(false), tensor).map(\.floats) == [[2, 0], [1, 0]])
    }

    @Test(arguments: [true, false]) func branchesMayGiveArgumentsAndConstants(condition: Bool) throws {
        var builder = FunctionBuilder()
        let (flag, input) = (builder.input([], .bool), builder.input([2]))
        let constant = builder.floats([5, 6], [2])
        let result = builder.branch(flag, [floatType]) { _ in
            [input]
        } else: { _ in
            [constant]
        }[0]
        builder.output(result)
        let tensor = try HostTensor([Float(1), -1], [2])
        let output = try executor(builder).run(try HostTensor(condition), tensor)[0]
        #expect(output.floats == (condition ? [1, -1] : [5, 6]))
        // The result is the caller's own: writing to it changes neither the input nor the constant.
        #expect(output.pointer != tensor.pointer)
        output.pointer.storeBytes(of: 99, as: Float.self)
        let again = try executor(builder).run(try HostTensor(condition), tensor)[0]
        #expect(again.floats == (condition ? [1, -1] : [5, 6]))
    }

    @Test func branchesMayDifferInShape() throws {
        var builder = FunctionBuilder()
        let (flag, input) = (builder.input([], .bool), builder.input([2]))
        let type = ValueType.tensor(TensorType([TensorType.dynamic], .float32))
        let dimension = builder.integer(0)
        let result = builder.branch(flag, [type]) {
            [$0.op(.concat, [dimension, input, input], TensorType([4], .float32))]
        } else: { _ in
            [input]
        }[0]
        builder.output(builder.op(.relu, result))
        let function = try executor(builder)
        let tensor = try HostTensor([Float(1), -1], [2])
        for _ in 0..<2 {
            #expect(try function.run(try HostTensor(true), tensor)[0].floats == [1, 0, 1, 0])
            #expect(try function.run(try HostTensor(false), tensor)[0].floats == [1, 0])
        }
    }

    /// Fibonacci: carried values change places, so each iteration's results are the next one's arguments.
    @Test func carriedValuesChangePlaces() throws {
        var builder = FunctionBuilder()
        let limit = builder.input([], .int32)
        let one = builder.integer(1)
        let results = builder.loop(
            [builder.integer(0), builder.integer(0), one], [countType, countType, countType],
            while: { builder, values in builder.op(.greater, limit, values[0], type: .bool) },
            do: { builder, values in
                [builder.op(.add, values[0], one), values[2], builder.op(.add, values[1], values[2])]
            })
        builder.output(results[1], results[2])
        let function = try executor(builder)
        for (count, expected) in [(0, [0, 1]), (1, [1, 1]), (10, [55, 89]), (20, [6765, 10946])] {
            let outputs = try function.run(try HostTensor([Int32(count)], []))
            #expect(outputs.map { $0.integers() } == expected.map { [$0] })
        }
    }

    /// A loop in a loop with a branch inside, which reads values of all levels.
    @Test func nestedLoopsAndBranches() throws {
        var builder = FunctionBuilder()
        let (rows, columns) = (builder.input([], .int32), builder.input([], .int32))
        let (zero, one) = (builder.integer(0), builder.integer(1))
        let outer = builder.loop(
            [zero, zero], [countType, countType],
            while: { builder, values in builder.op(.greater, rows, values[0], type: .bool) },
            do: { builder, values in
                let row = values[0]
                let inner = builder.loop(
                    [zero, values[1]], [countType, countType],
                    while: { builder, values in builder.op(.greater, columns, values[0], type: .bool) },
                    do: { builder, values in
                        let isBelow = builder.op(.greater, row, values[0], type: .bool)
                        let term = builder.branch(isBelow, [countType]) {
                            [$0.op(.mul, row, values[0])]
                        } else: { _ in
                            [one]
                        }[0]
                        return [builder.op(.add, values[0], one), builder.op(.add, values[1], term)]
                    })
                return [builder.op(.add, row, one), inner[1]]
            })
        builder.output(outer[1])
        var expected = 0
        for row in 0..<5 { for column in 0..<4 { expected += row > column ? row * column : 1 } }
        let function = try executor(builder)
        for _ in 0..<2 {
            let outputs = try function.run(try HostTensor([Int32(5)], []), try HostTensor([Int32(4)], []))
            #expect(outputs[0].integers() == [expected])
        }
    }

    /// The carried tensor grows: every iteration has a shape of its own, more of them than plans are kept.
    @Test func aLoopMayGrowItsValue() throws {
        var builder = FunctionBuilder()
        let input = builder.input([1])
        let type = ValueType.tensor(TensorType([TensorType.dynamic], .float32))
        let (zero, one) = (builder.integer(0), builder.integer(1))
        let results = builder.loop(
            [zero, input], [countType, type],
            while: { builder, values in builder.isLess(values[0], than: 20) },
            do: { builder, values in
                let next = builder.op(
                    .concat, [zero, values[1], input], TensorType([TensorType.dynamic], .float32))
                return [builder.op(.add, values[0], one), next]
            })
        builder.output(results[1])
        let outputs = try executor(builder).run(try HostTensor([Float(7)], [1]))
        #expect(outputs[0].floats == [Float](repeating: 7, count: 21))
    }

    @Test func anEndlessLoopEndsWithItsTask() async throws {
        var builder = FunctionBuilder()
        let flag = builder.input([], .bool)
        builder.output(builder.loop([flag], [boolType], while: { $1[0] }, do: { $1 })[0])
        let function = try executor(builder)
        let task = Task.detached { try function.run(try HostTensor(true)) }
        try await Task.sleep(for: .milliseconds(20))
        task.cancel()
        await #expect(throws: EngineError.cancelled) { _ = try await task.value }
        #expect(try function.run(try HostTensor(false))[0].integers() == [0])
    }

    /// Calls and branches as deep as lowering allows, on the small stack of a task.
    @Test func deepNestingRuns() async throws {
        let depth = 60
        var functions: [Graph] = []
        for level in 0..<depth {
            var builder = FunctionBuilder(level == depth - 1 ? "main" : "f\(level)")
            let (flag, input) = (builder.input([], .bool), builder.input([2]))
            builder.output(
                builder.branch(flag, [floatType]) { builder in
                    guard level > 0 else { return [builder.op(.add, input, input)] }
                    return [builder.call("f\(level - 1)", [flag, builder.op(.relu, input)], [floatType])[0]]
                } else: { _ in
                    [input]
                }[0])
            functions.append(builder.function)
        }
        let program = Program(graphs: functions)
        let result = try await Task.detached {
            try compiled(program).run(try HostTensor(true), try HostTensor([Float(3), -1], [2]))[0].floats
        }.value
        #expect(result == [6, 0])
    }

    @Test func whatFailsInABranchFailsTheCall() throws {
        var builder = FunctionBuilder()
        let (flag, input) = (builder.input([], .bool), builder.input([3]))
        let shape = builder.integers([2, 2])
        let type = ValueType.tensor(TensorType([TensorType.dynamic, 2], .float32))
        builder.output(
            builder.branch(flag, [type]) {
                [$0.op(.reshape, input, shape, shape: [-1, 2])]
            } else: {
                [$0.floats([1, 2], [1, 2])]
            }[0])
        let function = try executor(builder)
        let tensor = try HostTensor([Float(1), 2, 3], [3])
        #expect(throws: EngineError.self) { try function.run(try HostTensor(true), tensor) }
        #expect(try function.run(try HostTensor(false), tensor)[0].floats == [1, 2])
    }
}
