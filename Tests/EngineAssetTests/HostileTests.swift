import EngineAsset
import EngineGraph
import Testing

/// Programs that would exhaust the stack, the memory or the patience of a careless reader.
@Suite struct HostileTests {
    /// A function whose body holds `depth` regions, one within the other.
    private func nested(depth: Int, isIsolated: Bool) -> [UInt8] {
        var writer = ProgramWriter()
        let type = writer.tensor([2], 6)
        let yield = writer.op(.init("dataflow.yield_v1", operands: [0]))
        var region = writer.region(arguments: isIsolated ? [type] : [], values: isIsolated ? 1 : 0, [yield])
        for _ in 0..<depth {
            // Built by hand: regions of a hundred thousand levels would be copied as often.
            let op = writer.op(
                .init(
                    "some_v1", operands: [0], regions: isIsolated ? [region] : [region], isIsolated: isIsolated))
            region = writer.region(arguments: isIsolated ? [type] : [], values: isIsolated ? 1 : 0, [op, yield])
        }
        let op = writer.op(.init("some_v1", operands: [0], regions: [region], isIsolated: isIsolated))
        return writer.program([identity(&writer, [op])])
    }

    @Test(arguments: [true, false])
    func regionsMayBeNestedOnlySoDeep(_ isIsolated: Bool) throws {
        #expect(try read(nested(depth: 50, isIsolated: isIsolated)).graphs.count == 1)
        for depth in [70, 300] {
            let bytes = nested(depth: depth, isIsolated: isIsolated)
            let error = #expect(throws: EngineError.self) { try read(bytes) }
            #expect(error?.description.contains("nested deeper") == true)
        }
    }

    @Test func aHundredThousandLevelsDoNotOverflowTheStack() {
        var writer = ProgramWriter()
        let yield = writer.op(.init("dataflow.yield_v1", operands: [0]))
        let template = writer.op(.init("some_v1", operands: [0], regions: [[0]], isIsolated: false))
        // Everything of an op with a region but the region itself, which follows.
        let opening = ProgramWriter.varints([1, 0, 2 << 1]) + template.dropLast()
        let depth = 100_000
        let body =
            ProgramWriter.varints([1, 0]) + ProgramWriter.varint(1 << 1) + yield
        let inner =
            Array(repeatElement(opening, count: depth).joined()) + body
            + Array(
                repeatElement(yield, count: depth).joined())
        let op = template.dropLast() + inner
        let bytes = writer.program([identity(&writer, [Array(op)])])
        let error = #expect(throws: EngineError.self) { try read(bytes) }
        #expect(error?.description.contains("nested deeper") == true)
    }

    private func withComposite(_ make: (inout ProgramWriter) -> Int) throws(EngineError) -> Program {
        var writer = ProgramWriter()
        let value = make(&writer)
        let key = writer.attribute([9, writer.string("key"), 1, value])
        let dictionary = writer.attribute([45, 1, key])
        let part = writer.attribute([9, writer.string("op_attrs"), 1, dictionary])
        let composite = writer.attribute([9, writer.string("norm"), 1, part])
        let type = writer.tensor([2], 6)
        let output = writer.op(.init("dataflow.output_v1", operands: [0]))
        let function = writer.function(
            composite: composite, writer.region(arguments: [type], values: 1, [output]))
        return try read(writer.program([function]))
    }

    @Test func attributesBecomeText() throws {
        let program = try withComposite { writer in
            let list = writer.attribute([
                5, 4, writer.integer(-3), writer.integer(1, width: 1), writer.text("a \"b\""), 0,
            ])
            return list
        }
        let composite = try #require(program.graphs.first?.signature.composite)
        #expect(composite.name == "norm")
        #expect(composite.attributes == ["key": "[18446744073709551613,true,\"a \\\"b\\\"\",true]"])
    }

    @Test func attributesThatHoldThemselvesAreRefused() {
        #expect(throws: EngineError.self) {
            try withComposite { writer in
                let list = writer.attribute([5, 0])
                writer.setAttribute(list, [5, 1, list])
                return list
            }
        }
    }

    @Test func deepAttributesAreRefused() {
        let error = #expect(throws: EngineError.self) {
            try withComposite { writer in (0..<100_000).reduce(0) { inner, _ in writer.attribute([5, 1, inner]) } }
        }
        #expect(error?.description.contains("nested deeper") == true)
    }

    @Test(.timeLimit(.minutes(1))) func sharedAttributesDoNotExplode() {
        // Fifty levels that name the level below twice: 2⁵⁰ texts.
        #expect(throws: EngineError.self) {
            try withComposite { writer in (0..<50).reduce(0) { inner, _ in writer.attribute([5, 2, inner, inner]) } }
        }
    }

    @Test(.timeLimit(.minutes(1))) func sharedLocationsDoNotExplode() throws {
        var writer = ProgramWriter()
        let file = writer.attribute([30, writer.string("a.py"), 0, 0])
        let unknown = writer.attribute([31, file, 0, 0, 0, 0])
        let innermost = writer.attribute([40, unknown, 0, 0, 0])
        let location = (0..<60).reduce(innermost) { inner, _ in
            writer.attribute([40, unknown, 0, 2, inner, inner, 0])
        }
        var op = ProgramWriter.Op("primitive.exp_v1", results: [writer.tensor([2], 6)], operands: [0])
        op.location = location
        let bytes = writer.op(op)
        #expect(try read(writer.program([identity(&writer, [bytes], values: 2)])).graphs.count == 1)
    }

    @Test func typesThatAreTooLargeAreRefused() {
        let shapes: [[Int64]] = [
            [1 << 62, 4], [1 << 32, 1 << 32], [Int64.max], Array(repeating: 1 << 8, count: 9), [-2], [Int64.min + 1],
            Array(repeating: 1, count: 100),
        ]
        for shape in shapes {
            var writer = ProgramWriter()
            let type = writer.tensor(shape, 6)
            let output = writer.op(.init("dataflow.output_v1", operands: [0]))
            let function = writer.function(writer.region(arguments: [type], values: 1, [output]))
            #expect(throws: EngineError.self) { try read(writer.program([function])) }
        }
    }

    @Test func typesThatHoldThemselvesAreRefused() {
        for bytes: [UInt8] in [ProgramWriter.varints([31, 0]), ProgramWriter.varints([2, 0, 0])] {
            var writer = ProgramWriter()
            let type = writer.type(bytes)
            let output = writer.op(.init("dataflow.output_v1", operands: [0]))
            let function = writer.function(writer.region(arguments: [type], values: 1, [output]))
            #expect(throws: EngineError.self) { try read(writer.program([function])) }
        }
    }
}
