import EngineDelegation
import EngineGraph
import EngineRuntime
import EngineTestSupport
import Testing

@Suite struct StateTests {
    /// Adds the input to the state and gives what the state was.
    private func accumulator() throws -> FunctionExecutor {
        var builder = FunctionBuilder()
        let state = builder.state([2])
        let input = builder.input([2])
        let (old, token) = builder.read(state, after: builder.token())
        let done = builder.write(builder.op(.add, old, input), to: state, after: token)
        builder.output(old, done)
        return try executor(builder)
    }

    @Test func statesLastOverCalls() throws {
        let function = try accumulator()
        let state = try HostTensor([Float(1), 2], [2])
        let input = try HostTensor([Float(10), 20], [2])
        var results: [[Float]] = []
        for _ in 0..<3 { results.append(try function.run(state, input)[0].floats) }
        #expect(results == [[1, 2], [11, 22], [21, 42]])
        #expect(state.floats == [31, 62])
    }

    @Test func oldResultsDoNotFollowTheState() throws {
        let function = try accumulator()
        let state = try HostTensor([Float(1), 2], [2])
        let input = try HostTensor([Float(1), 1], [2])
        let first = try function.run(state, input)[0]
        _ = try function.run(state, input)
        #expect(first.floats == [1, 2])
    }

    @Test func aCacheGrowsInPlace() throws {
        var builder = FunctionBuilder()
        let state = builder.state([4, 2])
        let (row, from, to) = (builder.input([1, 2]), builder.input([2], .int32), builder.input([2], .int32))
        let (old, token) = builder.read(state, after: builder.token())
        let updated = builder.op(.sliceUpdate, old, from, to, builder.integers([1, 1]), row)
        _ = builder.write(updated, to: state, after: token)
        builder.output(builder.op(.reduceSum, updated, builder.integers([0]), shape: [1, 2]))
        let function = try executor(builder)
        let cache = try HostTensor([Float](repeating: 0, count: 8), [4, 2])
        for step in 0..<4 {
            let sum = try function.run(
                cache, try HostTensor([Float(step), 1], [1, 2]), try HostTensor([Int32(step), 0], [2]),
                try HostTensor([Int32(step + 1), 2], [2]))
            #expect(sum[0].floats == [Float(step * (step + 1) / 2), Float(step + 1)])
        }
        #expect(cache.floats == [0, 1, 1, 1, 2, 1, 3, 1])
        // Beyond the cache's end: an error, and the cache as it was.
        #expect(throws: EngineError.self) {
            try function.run(
                cache, try HostTensor([Float(9), 9], [1, 2]), try HostTensor([Int32(7), 0], [2]),
                try HostTensor([Int32(8), 2], [2]))
        }
        #expect(cache.floats == [0, 1, 1, 1, 2, 1, 3, 1])
    }

    /// Old and new value of one state, read after the store; then in the other order of stores.
    @Test func readsKeepTheirMoment() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.state([2]), builder.state([2]))
        let (x, first) = builder.read(a, after: builder.token())
        let (y, second) = builder.read(b, after: builder.token())
        let stored = builder.write(y, to: a, after: first)
        _ = builder.write(x, to: b, after: second)
        let (new, _) = builder.read(a, after: stored)
        builder.output(builder.op(.sub, new, x))
        let function = try executor(builder)
        let (left, right) = (try HostTensor([Float(1), 2], [2]), try HostTensor([Float(10), 30], [2]))
        #expect(try function.run(left, right)[0].floats == [9, 28])
        #expect(left.floats == [10, 30] && right.floats == [1, 2])
        #expect(try function.run(left, right)[0].floats == [-9, -28])
        #expect(left.floats == [1, 2] && right.floats == [10, 30])
    }

    @Test func branchesStoreStates() throws {
        var builder = FunctionBuilder()
        let condition = builder.input([], .bool)
        let state = builder.state([2])
        let token = builder.token()
        let (before, next) = builder.read(state, after: token)
        let after = builder.branch(condition, [.token]) { builder in
            let (value, inner) = builder.read(state, after: next)
            return [builder.write(builder.op(.add, value, before), to: state, after: inner)]
        } else: { _ in
            [next]
        }[0]
        builder.output(builder.op(.sub, builder.read(state, after: after).value, before))
        let function = try executor(builder)
        let tensor = try HostTensor([Float(1), 2], [2])
        #expect(try function.run(try HostTensor(false), tensor)[0].floats == [0, 0])
        #expect(try function.run(try HostTensor(true), tensor)[0].floats == [1, 2])
        #expect(tensor.floats == [2, 4])
    }

    /// A loop that doubles a state and counts, with a value captured from outside, and the state as a carried value.
    @Test func loopsStoreStates() throws {
        var builder = FunctionBuilder()
        let limit = builder.input([], .int32)
        let state = builder.state([2])
        let one = builder.integer(1)
        let handle = ValueType.handle(TensorType([2], .float32))
        let results = builder.loop(
            [builder.integer(0), state], [countType, handle],
            while: { builder, values in builder.op(.greater, limit, values[0], type: .bool) },
            do: { builder, values in
                let (value, token) = builder.read(values[1], after: builder.token())
                _ = builder.write(builder.op(.add, value, value), to: values[1], after: token)
                return [builder.op(.add, values[0], one), values[1]]
            })
        builder.output(results[0])
        builder.output(builder.read(results[1], after: builder.token()).value)
        let function = try executor(builder)
        let tensor = try HostTensor([Float(1), 3], [2])
        let outputs = try function.run(try HostTensor([Int32(5)], []), tensor)
        #expect(outputs[0].integers() == [5] && outputs[1].floats == [32, 96])
        #expect(tensor.floats == [32, 96])
    }
}
