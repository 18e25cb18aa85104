import EngineAsset
import EngineGraph
import Testing

/// The sizes and the places of constants.
@Suite struct ConstantTests {
    /// What reading a function with the one constant `attribute` of `type` ends in.
    private func constant(_ writer: ProgramWriter, _ attribute: Int, type: Int) throws(EngineError) -> Constant? {
        var writer = writer
        let op = writer.op(.init("primitive.constant_v1", properties: [UInt64(attribute)], results: [type]))
        let output = writer.op(.init("dataflow.output_v1", operands: [0]))
        let function = writer.function(writer.region(values: 1, [op, output]))
        let program = try read(writer.program([function]))
        guard case .constant(let constant)? = program.graphs.first?.body.ops.first?.attributes else { return nil }
        return constant
    }

    @Test func constantsHaveTheBytesOfTheirTypes() throws {
        var writer = ProgramWriter()
        let floats = writer.tensor([3], 6)
        let nibbles = writer.tensor([5], 21)
        let bits = writer.tensor([9], 29)
        let truths = writer.tensor([3], 4)
        let empty = writer.tensor([0, 3], 6)
        let dynamic = writer.tensor([Int64.min], 6)
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0) } }
        let good: [(type: Int, bytes: [UInt8], isSplat: Bool, count: Int)] = [
            (floats, bytes(12), false, 12), (floats, bytes(4), true, 4), (nibbles, bytes(3), false, 3),
            (nibbles, bytes(1), true, 1), (nibbles, bytes(5), false, 3), (bits, bytes(2), false, 2),
            (truths, bytes(3), false, 3), (truths, bytes(3), true, 1), (truths, bytes(1), true, 1),
            (empty, [], false, 0), (empty, [], true, 0), (empty, bytes(4), true, 4),
        ]
        for (type, bytes, isSplat, count) in good {
            var copy = writer
            let attribute = copy.dense(bytes, isSplat: isSplat)
            let constant = try #require(try constant(copy, attribute, type: type))
            #expect(constant.byteCount == count)
            #expect(constant.isSplat == isSplat)
            let found = Array(UnsafeRawBufferPointer(start: constant.pointer, count: constant.byteCount))
            #expect(found == Array(bytes.prefix(count)))
        }
        let bad: [(type: Int, bytes: [UInt8], isSplat: Bool)] = [
            (floats, bytes(11), false), (floats, bytes(13), false), (floats, bytes(12), true), (floats, [], false),
            (nibbles, bytes(2), false), (nibbles, bytes(4), false), (bits, bytes(1), false), (empty, bytes(4), false),
            (dynamic, bytes(4), true), (truths, bytes(2), true),
        ]
        for (type, bytes, isSplat) in bad {
            var copy = writer
            let attribute = copy.dense(bytes, isSplat: isSplat)
            #expect(throws: EngineError.self) { try constant(copy, attribute, type: type) }
        }
    }

    @Test(arguments: [1, 2, 16, 64, 4096]) func resourcesMayLieAnywhere(_ alignment: Int) throws {
        var writer = ProgramWriter()
        let type = writer.tensor([3], 6)
        _ = writer.resource(byteCount: 7, alignment: 1)
        let attribute = writer.resource(byteCount: 12, alignment: alignment)
        let constant = try #require(try constant(writer, attribute, type: type))
        #expect(constant.byteCount == 12)
        #expect(Array(UnsafeRawBufferPointer(start: constant.pointer, count: 12)) == Array(repeating: 0, count: 12))
    }

    @Test func oneAttributeIsOneConstant() throws {
        var writer = ProgramWriter()
        let signed = writer.tensor([2], 18)
        let unsigned = writer.tensor([2], 24)
        let attribute = UInt64(writer.dense([0, 0, 0, 0, 1, 0, 0, 0]))
        let ops = [signed, unsigned, signed].map { type in
            writer.op(.init("primitive.constant_v1", properties: [attribute], results: [type]))
        }
        let program = try read(writer.program([identity(&writer, ops, values: 4)]))
        let constants = program.graphs[0].body.ops.compactMap { op -> Constant? in
            if case .constant(let constant) = op.attributes { constant } else { nil }
        }
        #expect(constants.count == 3)
        #expect(Set(constants.map(ObjectIdentifier.init)).count == 1)
    }
}
