import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// Batch norms that go into the weights before them.
@Suite struct WeightFoldingTests {
    private let cpu = CPUDelegate()
    private var dice = Dice(7)

    private func compiled(_ builder: FunctionBuilder, folds: Bool) throws -> CompiledGraph {
        try Compiler.lower(builder.program(), function: "main", host: cpu, fusesPatterns: folds)
    }

    private func part(_ compiled: CompiledGraph) -> Subgraph {
        Subgraph(
            name: "main", types: compiled.graph.types.map { $0.tensor ?? TensorType([], .bool) },
            ops: compiled.graph.body.ops, inputs: compiled.graph.body.arguments, outputs: compiled.graph.body.results,
            constants: compiled.constants)
    }

    /// The kinds of the folded ops, after comparing what they compute.
    private func folded(_ builder: FunctionBuilder) throws -> [OpKind] {
        var dice = Dice(3)
        let (plain, folded) = (part(try compiled(builder, folds: false)), part(try compiled(builder, folds: true)))
        let inputs = try plain.inputs.map { try HostTensor(random: plain[type: $0], &dice) }
        let expected = try NaiveExecutor.run(plain, inputs, on: cpu)
        let results = try NaiveExecutor.run(folded, inputs, on: cpu)
        for (result, reference) in zip(results, expected) {
            for (value, wanted) in zip(result.floats, reference.floats) {
                #expect(abs(value - wanted) <= 1e-3 * max(1, abs(wanted)))
            }
        }
        return folded.ops.map(\.kind)
    }

    private mutating func vector(_ builder: inout FunctionBuilder, _ shape: [Int], offset: Float = 0) -> Value {
        builder.floats(dice.floats(shape.reduce(1, *)).map { $0 + offset }, shape)
    }

    /// (x − mean) / σ · γ + β.
    private mutating func batchNorm(_ x: Value, _ builder: inout FunctionBuilder, _ shape: [Int]) -> Value {
        let centred = builder.op(.broadcastingSub, x, vector(&builder, shape))
        let scaled = builder.op(.broadcastingDivide, centred, vector(&builder, shape, offset: 3))
        let weighed = builder.op(.broadcastingMul, scaled, vector(&builder, shape))
        return builder.op(.broadcastingAdd, weighed, vector(&builder, shape))
    }

    private mutating func convolution(
        _ builder: inout FunctionBuilder, weight: Value? = nil, groups: Int = 1
    ) -> Value {
        let input = builder.input([2, 2, 4, 4])
        let weight = weight ?? vector(&builder, [4, 2 / groups, 3, 3])
        return builder.op(
            .conv2d, input, weight, builder.integers([1, 1]), builder.integers([1, 1]), builder.integer(groups),
            shape: [2, 4, 2, 2])
    }

    @Test(arguments: [1, 2]) mutating func aConvolutionTakesItIn(groups: Int) throws {
        var builder = FunctionBuilder()
        let biased = builder.op(
            .broadcastingAdd, convolution(&builder, groups: groups), vector(&builder, [1, 4, 1, 1]))
        builder.output(builder.op(.relu, batchNorm(biased, &builder, [4, 1, 1])))
        #expect(try folded(builder) == [.conv2d, .broadcastingAdd, .relu])
    }

    @Test mutating func aProductTakesItIn() throws {
        for isTransposed in [false, true] {
            var builder = FunctionBuilder()
            let stored = vector(&builder, isTransposed ? [5, 3] : [3, 5])
            let weight = isTransposed ? builder.transposed(stored, [1, 0]) : stored
            let product = builder.op(.broadcastingBatchMatmul, builder.input([2, 4, 3]), weight, shape: [2, 4, 5])
            builder.output(batchNorm(product, &builder, [5]))
            #expect(try folded(builder) == [.broadcastingBatchMatmul, .broadcastingAdd])
        }
    }

    @Test mutating func aFactorAloneNeedsNoShift() throws {
        var builder = FunctionBuilder()
        builder.output(builder.op(.broadcastingMul, builder.float(0.5), convolution(&builder), shape: [2, 4, 2, 2]))
        #expect(try folded(builder) == [.conv2d])
    }

    @Test mutating func aDifferenceTheOtherWayRound() throws {
        var builder = FunctionBuilder()
        let scaled = builder.op(.broadcastingMul, convolution(&builder), vector(&builder, [4, 1, 1]))
        builder.output(builder.op(.broadcastingSub, vector(&builder, [4, 1, 1]), scaled, shape: [2, 4, 2, 2]))
        #expect(try folded(builder) == [.conv2d, .broadcastingAdd])
    }

    @Test mutating func whatStays() throws {
        // A bias alone is an epilogue; a quotient is no scale; columns are no channels.
        var bias = FunctionBuilder()
        bias.output(bias.op(.broadcastingAdd, convolution(&bias), vector(&bias, [4, 1, 1])))
        #expect(try folded(bias) == [.conv2d, .broadcastingAdd])
        var quotient = FunctionBuilder()
        quotient.output(
            quotient.op(.broadcastingDivide, quotient.float(1), convolution(&quotient), shape: [2, 4, 2, 2]))
        #expect(try folded(quotient) == [.conv2d, .broadcastingDivide])
        var columns = FunctionBuilder()
        columns.output(columns.op(.broadcastingMul, convolution(&columns), vector(&columns, [2])))
        #expect(try folded(columns) == [.conv2d, .broadcastingMul])
        // Weights that a run brings; a result that something else reads.
        var brought = FunctionBuilder()
        let weight = brought.input([4, 2, 3, 3])
        brought.output(
            brought.op(.broadcastingMul, convolution(&brought, weight: weight), vector(&brought, [4, 1, 1])))
        #expect(try folded(brought) == [.conv2d, .broadcastingMul])
        var shared = FunctionBuilder()
        let result = convolution(&shared)
        shared.output(shared.op(.broadcastingMul, result, vector(&shared, [4, 1, 1])), result)
        #expect(try folded(shared) == [.conv2d, .broadcastingMul])
    }

    @Test mutating func reportsNameWhatWasFolded() throws {
        var builder = FunctionBuilder()
        builder.output(batchNorm(convolution(&builder), &builder, [4, 1, 1]))
        let origins = try compiled(builder, folds: true).graph.body.ops.flatMap(\.origins).map(\.kind)
        #expect(
            Set(origins)
                == [.conv2d, .broadcastingSub, .broadcastingDivide, .broadcastingMul, .broadcastingAdd])
    }
}
