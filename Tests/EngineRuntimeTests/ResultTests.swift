import EngineDelegation
import EngineGraph
import EngineRuntime
import EngineTestSupport
import Testing

/// Where results lie, and of what shape they are.
@Suite struct ResultTests {
    private let dynamic = TensorType.dynamic

    @Test func shapesFollowTheCall() throws {
        var builder = FunctionBuilder()
        let input = builder.input([dynamic, 2])
        let shape = builder.op(.getShape, input, shape: [2], type: .uint32)
        builder.output(builder.op(.relu, input), shape)
        let function = try executor(builder, planLimit: 2)
        for rows in [1, 3, 0, 5, 1] {
            let outputs = try function.run(try HostTensor([Float](repeating: -1, count: rows * 2), [rows, 2]))
            #expect(outputs[0].type.shape == [rows, 2] && outputs[0].floats.allSatisfy { $0 == 0 })
            #expect(outputs[1].integers() == [rows, 2])
        }
    }

    @Test func contentsDecideShapes() throws {
        var builder = FunctionBuilder()
        let (input, shape) = (builder.input([6]), builder.input([2], .int32))
        let result = builder.op(.reshape, builder.op(.relu, input), shape, shape: [dynamic, dynamic])
        builder.output(builder.op(.transpose, result, builder.integers([1, 0]), shape: [dynamic, dynamic]))
        let function = try executor(builder)
        let tensor = try HostTensor([Float(0), 1, 2, 3, 4, 5], [6])
        for (rows, columns) in [(2, 3), (3, 2), (1, 6), (2, 3)] {
            let output = try function.run(tensor, try HostTensor([Int32(rows), Int32(columns)], [2]))[0]
            #expect(output.type.shape == [columns, rows])
            #expect(output.floats == (0..<6).map { Float($0 % rows * columns + $0 / rows) })
        }
        #expect(throws: EngineError.self) { try function.run(tensor, try HostTensor([Int32(4), 4], [2])) }
    }

    @Test func positionsOfNonZeroElements() throws {
        var builder = FunctionBuilder()
        let input = builder.input([2, 3])
        let positions = builder.op(.nonZero, builder.op(.relu, input), shape: [dynamic, 2], type: .int32)
        let shape = builder.op(.getShape, positions, shape: [2], type: .uint32)
        builder.output(builder.op(.add, positions, positions), shape)
        let function = try executor(builder)
        let some = try function.run(try HostTensor([Float(0), 1, -1, 2, 0, 3], [2, 3]))
        #expect(some[0].integers() == [0, 2, 2, 0, 2, 4] && some[1].integers() == [3, 2])
        let none = try function.run(try HostTensor([Float](repeating: 0, count: 6), [2, 3]))
        #expect(none[0].type.shape == [0, 2] && none[1].integers() == [0, 2])
    }

    // MARK: Destinations

    private func sums() throws -> FunctionExecutor {
        var builder = FunctionBuilder()
        let input = builder.input([2])
        let sum = builder.op(.add, input, input)
        builder.output(sum, builder.op(.exp, builder.op(.sub, sum, sum)), sum)
        return try executor(builder)
    }

    @Test func destinationsAreWritten() throws {
        let function = try sums()
        let input = try HostTensor([Float(1), 2], [2])
        // Every choice of results to lend memory for; the first and the last are one value.
        for choice in 0..<8 {
            let destinations = try (0..<3).map { choice & (1 << $0) == 0 ? nil : try HostTensor([Float(0), 0], [2]) }
            let outputs = try function.run([input], destinations: destinations)
            #expect(outputs.map(\.floats) == [[2, 4], [1, 1], [2, 4]], "choice \(choice)")
            for (output, destination) in zip(outputs, destinations) {
                if let destination { #expect(output.pointer == destination.pointer) }
            }
            #expect(Set(outputs.map(\.pointer)).count == 3, "choice \(choice)")
        }
    }

    @Test func aDestinationOfAnotherTypeIsAnError() throws {
        let function = try sums()
        let input = try HostTensor([Float(1), 2], [2])
        for type in [TensorType([3], .float32), TensorType([1, 2], .float32), TensorType([2], .int32)] {
            let tensor = try HostTensor(allocating: type)
            #expect { try function.run([input], destinations: [nil, tensor, nil]) } throws: { "\($0)".contains("'r1'") }
        }
    }

    @Test func resultsThatAreNotComputed() throws {
        var builder = FunctionBuilder()
        let (input, state) = (builder.input([2]), builder.state([2]))
        let constant = builder.floats([5, 6], [2])
        let view = builder.op(.reshape, input, builder.integers([1, 2]), shape: [1, 2])
        let (value, token) = builder.read(state, after: builder.token())
        builder.output(input, constant, input, view, value, token)
        let function = try executor(builder)
        let (tensor, held) = (try HostTensor([Float(1), 2], [2]), try HostTensor([Float(3), 4], [2]))
        let destination = try HostTensor([Float(0), 0], [2])
        for destinations in [[], [nil, nil, destination], [destination, nil, nil, nil, nil]] {
            let outputs = try function.run([tensor, held], destinations: destinations)
            #expect(outputs.map(\.floats) == [[1, 2], [5, 6], [1, 2], [1, 2], [3, 4]])
            #expect(outputs[3].type.shape == [1, 2])
            // Nobody's memory but the caller's.
            #expect(Set(outputs.map(\.pointer) + [tensor.pointer, held.pointer]).count == 7)
        }
    }

    @Test func scalarsAndEmptyTensors() throws {
        var builder = FunctionBuilder()
        let (scalar, empty) = (builder.input([]), builder.input([0, 3]))
        let sum = builder.op(.reduceSum, empty, builder.integers([0]), shape: [1, 3])
        builder.output(builder.op(.add, scalar, scalar), builder.op(.relu, empty), sum)
        let product = builder.op(
            .broadcastingBatchMatmul, builder.op(.reshape, empty, builder.integers([3, 0]), shape: [3, 0]), empty,
            shape: [3, 3])
        builder.output(product)
        for fuses in [true, false] {
            let outputs = try executor(builder, fusesPatterns: fuses).run(
                try HostTensor([Float(4)], []), try HostTensor([Float](), [0, 3]))
            #expect(outputs.map(\.floats) == [[8], [], [0, 0, 0], [Float](repeating: 0, count: 9)])
            #expect(outputs[0].type.shape == [] && outputs[1].type.shape == [0, 3])
        }
    }

    @Test func noResultsAndNoArguments() throws {
        var builder = FunctionBuilder()
        #expect(try executor(builder).run().isEmpty)
        builder.output(builder.op(.exp, builder.floats([0], [1])))
        #expect(try executor(builder).run()[0].floats == [1])
    }

    // MARK: Errors

    @Test func argumentsThatDoNotFitAreErrors() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([dynamic, 2]), builder.input([dynamic]))
        builder.output(builder.op(.relu, a), builder.op(.relu, b))
        let function = try executor(builder)
        let (matrix, vector) = (try HostTensor([Float(1), 2], [1, 2]), try HostTensor([Float(1), 2], [2]))
        #expect(throws: Never.self) { try function.run(matrix, vector) }
        // As many extents in all, and of the same size, but not in the same places.
        #expect(throws: EngineError.self) { try function.run(vector, matrix) }
        #expect(throws: EngineError.self) { try function.run(matrix) }
        #expect(throws: EngineError.self) { try function.run(matrix, try HostTensor([Int32(1), 2], [2])) }
    }

    @Test func aFailedCallLeavesTheFunctionUsable() throws {
        var builder = FunctionBuilder()
        let (input, from) = (builder.input([4]), builder.input([1], .int32))
        let to = builder.op(.add, from, builder.integers([2]))
        builder.output(
            builder.op(
                .sliceUpdate, builder.op(.relu, input), from, to, builder.integers([1]), builder.floats([9, 9], [2])))
        let function = try executor(builder)
        let tensor = try HostTensor([Float(1), 2, 3, 4], [4])
        for _ in 0..<3 {
            #expect(throws: EngineError.self) { try function.run(tensor, try HostTensor([Int32(3)], [1])) }
            #expect(try function.run(tensor, try HostTensor([Int32(1)], [1]))[0].floats == [1, 9, 9, 4])
        }
    }

    @Test func whatNoMemoryHoldsIsAnError() throws {
        var builder = FunctionBuilder()
        let (input, shape) = (builder.input([1, 1]), builder.input([2], .int32))
        builder.output(builder.op(.broadcastTo, input, shape, shape: [dynamic, dynamic]))
        let function = try executor(builder)
        let tensor = try HostTensor([Float(1)], [1, 1])
        for size in [Int32.max, 1 << 24] {
            #expect(throws: EngineError.self) { try function.run(tensor, try HostTensor([size, size], [2])) }
        }
        #expect(try function.run(tensor, try HostTensor([Int32(2), 2], [2]))[0].floats == [1, 1, 1, 1])
    }
}
