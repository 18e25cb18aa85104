import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

@Suite struct ConstantFoldingTests {
    private let cpu = CPUDelegate()

    private func folded(_ builder: FunctionBuilder) throws -> CompiledGraph {
        var compiled = try Lowering.lower(builder.program(), function: "main", host: cpu)
        ConstantFolding.run(&compiled, host: cpu)
        return compiled
    }

    @Test func opsOnConstantsAreComputed() throws {
        var builder = FunctionBuilder()
        let sum = builder.op(.add, builder.floats([1, 2], [2]), builder.floats([10, 20], [2]))
        builder.output(builder.op(.mul, sum, sum))
        let compiled = try folded(builder)
        #expect(compiled.graph.body.ops.isEmpty)
        #expect(compiled.constants[compiled.graph.body.results[0]]?.floats == [121, 484])
    }

    @Test func whatARunDecidesStays() throws {
        var builder = FunctionBuilder()
        let input = builder.input([2])
        let state = builder.state([2])
        let (held, token) = builder.read(state, after: builder.token())
        let constant = builder.op(.relu, builder.floats([1, -2], [2]))
        builder.output(builder.op(.add, input, constant), builder.op(.add, held, constant), token)
        let compiled = try folded(builder)
        #expect(compiled.graph.body.ops.map(\.kind) == [.loadState, .add, .add])
        #expect(compiled.constants[compiled.graph.body.ops[1].operands[1]]?.floats == [1, 0])
    }

    @Test func shapesOfConstantsAreComputed() throws {
        var builder = FunctionBuilder()
        builder.output(builder.op(.getShape, builder.floats([0, 0, 0, 0, 0, 0], [2, 3]), shape: [2], type: .uint32))
        let compiled = try folded(builder)
        #expect(compiled.constants[compiled.graph.body.results[0]]?.integers() == [2, 3])
    }

    @Test func aSmallConstantDoesNotBecomeALargeOne() throws {
        var builder = FunctionBuilder()
        let shape = builder.integers([1024, 1024])
        builder.output(builder.op(.broadcastTo, builder.floats([1], [1, 1]), shape, shape: [1024, 1024]))
        #expect(try folded(builder).graph.body.ops.map(\.kind) == [.broadcastTo])
    }

    @Test func insideRegionsToo() throws {
        var builder = FunctionBuilder()
        let condition = builder.input([], .bool)
        let constant = builder.floats([3, -3], [2])
        let type = ValueType.tensor(TensorType([2], .float32))
        builder.output(
            builder.branch(condition, [type]) {
                [$0.op(.relu, constant)]
            } else: {
                [$0.op(.abs, constant)]
            }[0])
        let compiled = try folded(builder)
        let op = try #require(compiled.graph.body.ops.first)
        #expect(op.regions.allSatisfy { $0.ops.isEmpty })
        #expect(op.regions.map { compiled.constants[$0.results[0]]?.floats } == [[3, 0], [3, 3]])
    }

    /// A branch may never be taken: what is wrong in it is no reason to refuse the model.
    @Test func whatCannotBeComputedStays() throws {
        var builder = FunctionBuilder()
        let condition = builder.input([], .bool)
        let constant = builder.floats([1, 2, 3], [3])
        let shape = builder.integers([2, 2])
        let type = ValueType.tensor(TensorType([TensorType.dynamic, 2], .float32))
        builder.output(
            builder.branch(condition, [type]) {
                [$0.op(.reshape, constant, shape, shape: [-1, 2])]
            } else: {
                [$0.floats([1, 2], [1, 2])]
            }[0])
        let compiled = try folded(builder)
        #expect(compiled.graph.body.ops.first?.regions[0].ops.map(\.kind) == [.reshape])
    }

    @Test(arguments: [false, true]) func aTransposedWeightStaysForProducts(isReadElsewhere: Bool) throws {
        var builder = FunctionBuilder()
        let input = builder.input([1, 2])
        let order = builder.integers([1, 0])
        let weight = builder.op(.transpose, builder.floats([1, 2, 3, 4], [2, 2]), order)
        builder.output(builder.op(.broadcastingBatchMatmul, input, weight))
        if isReadElsewhere { builder.output(builder.op(.add, weight, weight)) }
        let kinds = try folded(builder).graph.body.ops.map(\.kind)
        #expect(kinds == (isReadElsewhere ? [.broadcastingBatchMatmul] : [.transpose, .broadcastingBatchMatmul]))
    }
}
