import CPUDelegate
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// Pools and interpolation as ops of a graph.
@Suite struct WindowOpTests {
    /// Runs a part of one op, whose operands are constants or inputs.
    private func run(
        _ kind: OpKind, constants: [Int: HostTensor], inputs: [Int: HostTensor], result: TensorType,
        _ attributes: OpAttributes = .none
    ) throws -> HostTensor {
        var part = Subgraph(name: "part")
        var operands: [Value] = []
        var arguments: [UnsafeRawPointer] = []
        func value(_ type: TensorType) -> Value {
            part.types.append(type)
            return Value(part.types.count - 1)
        }
        for index in 0..<(constants.count + inputs.count) {
            if let constant = constants[index] {
                operands.append(value(constant.type))
                part.constants[operands[index]] = constant
            } else if let input = inputs[index] {
                operands.append(value(input.type))
                part.inputs.append(operands[index])
                arguments.append(UnsafeRawPointer(input.pointer))
            }
        }
        part.outputs = [value(result)]
        part.ops = [Op(kind, operands: operands, results: part.outputs, attributes: attributes)]
        let output = try HostTensor(allocating: result)
        try CPUDelegate().load(part).run(
            ExecutionArguments(inputs: arguments, states: [], outputs: [output.pointer]))
        return output
    }

    private func vector(_ values: [Int32]) throws -> HostTensor { try HostTensor(values, [values.count]) }

    @Test func scalesOfARun() throws {
        let input = try HostTensor([0, 2, 4] as [Float], [3])
        let (scale, offset) = (try HostTensor([2] as [Float], [1]), try HostTensor([0] as [Float], [1]))
        let type = TensorType([6], .float32)
        let want: [Float] = [0, 0.5, 1.5, 2.5, 3.5, 4]
        let shape = [1: try vector([6])]
        let known = try run(
            .interpolate, constants: shape.merging([2: scale, 3: offset]) { $1 }, inputs: [0: input], result: type,
            .interpolation(.linear))
        #expect(known.floats == want)
        let late = try run(
            .interpolate, constants: shape, inputs: [0: input, 2: scale, 3: offset], result: type,
            .interpolation(.linear))
        #expect(late.floats == want)
        for bad in [Float(0), .nan, .infinity] {
            let scale = try HostTensor([bad], [1])
            #expect(throws: EngineError.self) {
                try run(
                    .interpolate, constants: shape, inputs: [0: input, 2: scale, 3: offset], result: type,
                    .interpolation(.linear))
            }
        }
    }

    @Test func integersAreMixed() throws {
        let result = try run(
            .interpolateCoordinates, constants: [:],
            inputs: [0: try vector([0, 5, -3, 100]), 1: try HostTensor([0.5, 1.75, 2.5, 7] as [Float], [4, 1])],
            result: TensorType([4], .int32), .interpolation(.linear))
        #expect(result.bytes == (try vector([2, -1, 48, 100])).bytes)
    }

    @Test func nothingIsBetweenTrueAndFalse() throws {
        let input = try HostTensor(allocating: TensorType([2], .bool))
        input.pointer.storeBytes(of: 0x0100, as: UInt16.self)
        let points = try HostTensor([0.75, -1] as [Float], [2, 1])
        let type = TensorType([2], .bool)
        #expect(throws: EngineError.self) {
            try run(
                .interpolateCoordinates, constants: [:], inputs: [0: input, 1: points], result: type,
                .interpolation(.linear))
        }
        let nearest = try run(
            .interpolateCoordinates, constants: [:], inputs: [0: input, 1: points], result: type,
            .interpolation(.nearest))
        #expect(nearest.bytes == [1, 0])
    }

    private func windows(_ values: [Int32]...) throws -> [Int: HostTensor] {
        Dictionary(uniqueKeysWithValues: try values.enumerated().map { ($0 + 1, try vector($1)) })
    }

    @Test func poolsOfBoolsAndComplexNumbers() throws {
        let bools = try HostTensor(allocating: TensorType([1, 1, 2, 4], .bool))
        for (index, value) in [0, 0, 0, 1, 0, 0, 0, 0].enumerated() {
            bools.pointer.storeBytes(of: UInt8(value), toByteOffset: index, as: UInt8.self)
        }
        var constants = try windows([2, 2], [2, 2], [1, 1])
        let sums = constants
        constants[4] = try HostTensor(false)
        let type = TensorType([1, 1, 1, 2], .bool)
        let any = try run(.maxPool2d, constants: constants, inputs: [0: bools], result: type)
        #expect(any.bytes == [0, 1])
        #expect(throws: EngineError.self) {
            try run(.sumPool2d, constants: sums, inputs: [0: bools], result: type)
        }
        let complex = try HostTensor(allocating: TensorType([1, 1, 2, 4], .complexFloat32))
        for index in 0..<16 { complex.pointer.storeBytes(of: Float(index), toByteOffset: index * 4, as: Float.self) }
        let added = try run(
            .sumPool2d, constants: sums, inputs: [0: complex], result: TensorType([1, 1, 1, 2], .complexFloat32))
        let parts = (0..<4).map { added.pointer.load(fromByteOffset: $0 * 4, as: Float.self) }
        #expect(parts == [20, 24, 36, 40])
    }

    @Test func theLastWindowReachesPastTheInput() throws {
        let input = try HostTensor((0..<25).map { Float($0) }, [1, 1, 5, 5])
        var constants = try windows([2, 2], [2, 2], [1, 1])
        constants[4] = try HostTensor(true)
        let result = try run(
            .maxPool2d, constants: constants, inputs: [0: input], result: TensorType([1, 1, 3, 3], .float32))
        #expect(result.floats == [6, 8, 9, 16, 18, 19, 21, 23, 24])
        #expect(throws: EngineError.self) {
            try run(.maxPool2d, constants: constants, inputs: [0: input], result: TensorType([1, 1, 2, 2], .float32))
        }
    }
}
