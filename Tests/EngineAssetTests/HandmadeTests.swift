import EngineAsset
import EngineGraph
import Testing

/// Programs that no converter writes.
@Suite struct HandmadeTests {
    @Test func aMinimalProgramReads() throws {
        var writer = ProgramWriter()
        let program = try read(writer.program([identity(&writer)]))
        #expect(program.producer == "test")
        #expect(program.version == 20_260_101)
        let graph = try #require(program.graph(named: "main"))
        #expect(graph.types == [.tensor(TensorType([2], .float32))])
        #expect(graph.body.arguments == graph.body.results)
    }

    // MARK: Versions

    @Test func newerVersionsAreUnsupported() {
        func isUnsupported(_ change: (inout ProgramWriter) -> Void, version: Int64 = 1) -> Bool {
            var writer = ProgramWriter()
            change(&writer)
            do throws(EngineError) {
                _ = try read(writer.program([identity(&writer)], version: version))
                return false
            } catch .unsupportedVersion {
                return true
            } catch {
                return false
            }
        }
        #expect(!isUnsupported { _ in })
        #expect(isUnsupported { $0.bytecodeVersion = 7 })
        #expect(isUnsupported { $0.bytecodeVersion = 1000 })
        #expect(isUnsupported { $0.dialectVersion = 3 })
        #expect(!isUnsupported { $0.dialectVersion = 1 })
        #expect(!isUnsupported({ _ in }, version: 20_260_409))
        #expect(isUnsupported({ _ in }, version: 20_260_410))
        #expect(isUnsupported({ _ in }, version: 20_270_101))
    }

    @Test func anotherDialectIsRefused() {
        var writer = ProgramWriter()
        writer.dialectName = "other"
        #expect(throws: EngineError.self) { try read(writer.program([identity(&writer)])) }
    }

    @Test func anAssetMayLackAVersion() throws {
        var writer = ProgramWriter()
        #expect(try read(writer.program([identity(&writer)], version: nil)).version == nil)
    }

    // MARK: Ops

    private func body(_ writer: inout ProgramWriter, _ type: Int) -> [UInt8] {
        let yield = writer.op(.init("dataflow.yield_v1", operands: [0]))
        return writer.region(arguments: [type], values: 1, [yield])
    }

    private func onlyOp(
        _ name: String, properties: [UInt64]? = nil, isDecomposed: Bool
    ) throws(EngineError) -> EngineGraph.Op? {
        var writer = ProgramWriter()
        let type = writer.tensor([2], 6)
        let regions = isDecomposed ? [body(&writer, type)] : []
        let op = writer.op(.init(name, properties: properties, results: [type], operands: [0], regions: regions))
        return try read(writer.program([identity(&writer, [op], values: 2)])).graphs.first?.body.ops.first
    }

    @Test(arguments: ["tile_v1", "quantize_v1", "dequantize_v1", "relu_v2", "brand_new_v1", "future.op_v9"])
    func anUnknownOpKeepsItsNameAndItsBody(_ name: String) throws {
        let op = try #require(try onlyOp(name, properties: [0], isDecomposed: true))
        #expect(op.kind == .named)
        #expect(op.bodies.count == 1)
        guard case .name(let kept) = op.attributes else {
            Issue.record("the name is lost")
            return
        }
        #expect(kept == name)
    }

    @Test(arguments: [
        "primitive.get_shape_v1", "primitive.reshape_v1", "primitive.blockwise_shift_scale_v1",
        "primitive.brand_new_v1", "primitive.relu_v1", "primitive.engine.copy_v1", "udml.call_v1",
    ])
    func anUnknownPrimitiveKeepsItsName(_ name: String) throws {
        let op = try #require(try onlyOp(name, isDecomposed: false))
        #expect(op.kind == .named)
        #expect(op.bodies.isEmpty)
        guard case .name(let kept) = op.attributes else {
            Issue.record("the name is lost")
            return
        }
        #expect(kept == name)
    }

    @Test func constraintsAreCopies() throws {
        #expect(try onlyOp("ax.copy_with_constraints_v1", isDecomposed: false)?.kind == .copyWithConstraints)
        #expect(
            try onlyOp("ax.copy_discarding_constraints_v1", isDecomposed: false)?.kind == .copyDiscardingConstraints)
    }

    @Test func anOpWithoutTheBodyThatItsKindHasIsRefused() {
        #expect(throws: EngineError.self) { try onlyOp("relu_v1", isDecomposed: false) }
        #expect(throws: EngineError.self) { try onlyOp("primitive.exp_v1", isDecomposed: true) }
        #expect(throws: EngineError.self) { try onlyOp("primitive.exp_v1", properties: [0], isDecomposed: false) }
    }

    // MARK: Values and regions

    @Test func valuesOfSiblingRegionsShareNumbersAndCapture() throws {
        var writer = ProgramWriter()
        let type = writer.tensor([2], 6)
        let condition = writer.tensor([], 4)
        // Outer values: 0, 1 and, after the regions, 2. Each region's own value has the number 3.
        let double = writer.op(.init("primitive.add_v1", results: [type], operands: [0, 0]))
        let square = writer.op(.init("primitive.mul_v1", results: [type], operands: [0, 0]))
        let yield = writer.op(.init("dataflow.yield_v1", operands: [3]))
        let regions = [writer.region(values: 1, [double, yield]), writer.region(values: 1, [square, yield])]
        let branch = writer.op(
            .init("controlflow.if_v1", results: [type], operands: [1], regions: regions, isIsolated: false))
        let output = writer.op(.init("dataflow.output_v1", operands: [2]))
        let function = writer.function(
            writer.region(arguments: [type, condition], values: 3, [branch, output]))
        let graph = try #require(try read(writer.program([function])).graphs.first)

        let op = try #require(graph.body.ops.first)
        #expect(op.regions.count == 2)
        let inner = op.regions.flatMap { $0.ops.flatMap(\.results) }
        #expect(Set(inner + op.results + graph.body.arguments).count == 5)
        #expect(op.regions.map(\.results) == inner.map { [$0] })
        #expect(op.regions.allSatisfy { $0.ops[0].operands == [graph.body.arguments[0], graph.body.arguments[0]] })
        #expect(graph.body.results == op.results)
        #expect(graph.types.count == 5)
    }

    @Test(arguments: [1, 2, 17, 1 << 20, UInt64.max])
    func aValueUsedBeforeItIsDefinedIsRefused(_ number: UInt64) {
        var writer = ProgramWriter()
        let type = writer.tensor([2], 6)
        let op = writer.op(.init("primitive.exp_v1", results: [type], operands: [number]))
        #expect(throws: EngineError.self) { try read(writer.program([identity(&writer, [op], values: 2)])) }
    }

    @Test func aWrongNumberOfValuesIsRefused() {
        for values in [0, 2, 3] {
            var writer = ProgramWriter()
            #expect(throws: EngineError.self) { try read(writer.program([identity(&writer, values: values)])) }
        }
    }

    @Test func regionsEndWhereTheyMust() {
        var writer = ProgramWriter()
        let type = writer.tensor([2], 6)
        let yield = writer.op(.init("dataflow.yield_v1", operands: [0]))
        let output = writer.op(.init("dataflow.output_v1", operands: [0]))
        for ops in [[], [yield], [output, output], [output, yield]] {
            let function = writer.function(writer.region(arguments: [type], values: 1, ops))
            var copy = writer
            #expect(throws: EngineError.self) { try read(copy.program([function])) }
        }
    }

    @Test func masksThatNoConverterWritesAreRefused() {
        for mask: UInt8 in [1, 8, 0x20, 0x80] {
            var writer = ProgramWriter()
            var op = ProgramWriter.Op("dataflow.output_v1", operands: [0])
            op.extraMask = mask
            let type = writer.tensor([2], 6)
            let function = writer.function(writer.region(arguments: [type], values: 1, [writer.op(op)]))
            #expect(throws: EngineError.self) { try read(writer.program([function])) }
        }
    }

    @Test func twoFunctionsOfOneNameAreRefused() {
        var writer = ProgramWriter()
        let functions = [identity(&writer), identity(&writer)]
        #expect(throws: EngineError.self) { try read(writer.program(functions)) }
    }
}
