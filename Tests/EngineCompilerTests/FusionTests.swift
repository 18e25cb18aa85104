import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// Products, convolutions and elementwise chains: what is taken in, and what must not be.
@Suite struct FusionTests {
    private func fused(_ builder: FunctionBuilder) throws -> [Op] {
        Fusion.run(try builder.part(), host: ClaimingHost()).ops
    }

    private func matmul(_ op: Op?) -> MatmulAttributes {
        guard case .matmul(let attributes)? = op?.attributes else {
            Issue.record("\(String(describing: op?.kind)) is no product")
            return MatmulAttributes()
        }
        return attributes
    }

    private func convolution(_ op: Op?) -> ConvolutionAttributes {
        guard case .convolution(let attributes)? = op?.attributes else {
            Issue.record("\(String(describing: op?.kind)) is no convolution")
            return ConvolutionAttributes()
        }
        return attributes
    }

    // MARK: Products

    @Test func aLinearLayerIsOneOp() throws {
        var builder = FunctionBuilder()
        let input = builder.input([3, 4])
        let weight = builder.op(
            .transpose, builder.floats([Float](repeating: 1, count: 8), [2, 4]), builder.integers([1, 0]),
            shape: [4, 2])
        let product = builder.op(.broadcastingBatchMatmul, input, weight, shape: [3, 2])
        let biased = builder.op(.broadcastingAdd, builder.floats([1, 2], [2]), product, shape: [3, 2])
        let active = builder.op(.gelu, biased, attributes: .approximation(.tanh))
        builder.output(active)
        let ops = try fused(builder)
        #expect(ops.map(\.kind) == [.matmul])
        let attributes = matmul(ops.first)
        #expect(attributes.transposesY && !attributes.transposesX && attributes.hasBias && !attributes.hasResidual)
        #expect(attributes.activation == .gelu(.tanh))
        #expect(ops[0].operands.count == 3 && ops[0].results == [active])
    }

    @Test func aResidualIsTakenIn() throws {
        var builder = FunctionBuilder()
        let (a, b, residual) = (builder.input([2, 2]), builder.input([2, 2]), builder.input([2, 2]))
        let product = builder.op(.batchMatmul, a, b)
        let biased = builder.op(.broadcastingAdd, product, builder.floats([1, 2], [2]))
        builder.output(builder.op(.relu, builder.op(.add, residual, biased)))
        let ops = try fused(builder)
        #expect(ops.map(\.kind) == [.matmul])
        let attributes = matmul(ops.first)
        #expect(attributes.hasBias && attributes.hasResidual && attributes.activation == .relu)
        #expect(ops[0].operands.last == residual)
    }

    @Test(arguments: [false, true]) func aProductReadElsewhereStays(asOutput: Bool) throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([2, 2]), builder.input([2, 2]))
        let product = builder.op(.batchMatmul, a, b)
        let biased = builder.op(.broadcastingAdd, product, builder.floats([1, 2], [2]))
        builder.output(biased)
        builder.output(
            asOutput
                ? product : builder.op(.exp, builder.op(.reduceSum, product, builder.integers([0]), shape: [1, 2])))
        let ops = try fused(builder)
        #expect(ops.first?.kind == .matmul && ops.first?.results == [product])
        #expect(matmul(ops.first).hasBias == false)
        #expect(ops.contains { $0.results == [biased] && $0.kind == .broadcastingAdd })
    }

    @Test func aTransposeReadElsewhereStays() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([2, 3]), builder.input([2, 3]))
        let turned = builder.op(.transpose, a, builder.integers([1, 0]), shape: [3, 2])
        builder.output(builder.op(.batchMatmul, turned, b, shape: [3, 3]), turned)
        let ops = try fused(builder)
        #expect(ops.map(\.kind) == [.transpose, .matmul])
        #expect(matmul(ops.last).transposesX && ops[1].operands[0] == a)
    }

    @Test func onlyTheLastTwoDimensionsMaySwap() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([2, 3, 4]), builder.input([3, 4, 5]))
        let turned = builder.op(.transpose, a, builder.integers([1, 0, 2]), shape: [3, 2, 4])
        builder.output(builder.op(.batchMatmul, turned, b, shape: [3, 2, 5]))
        let ops = try fused(builder)
        #expect(ops.map(\.kind) == [.transpose, .matmul])
        #expect(!matmul(ops.last).transposesX)
    }

    @Test func whatIsNoBiasIsNotTakenForOne() throws {
        // A column, a vector per batch, a sum of more dimensions than the product.
        for (shape, result) in [([2, 1], [2, 2]), ([3, 2, 2], [3, 2, 2])] {
            var builder = FunctionBuilder()
            let (a, b, other) = (builder.input([2, 2]), builder.input([2, 2]), builder.input(shape))
            builder.output(builder.op(.broadcastingAdd, builder.op(.batchMatmul, a, b), other, shape: result))
            #expect(try fused(builder).map(\.kind) == [.matmul, .broadcastingAdd], "\(shape)")
        }
    }

    @Test func oneActivationAndOrderMatter() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([2, 2]), builder.input([2, 2]))
        let active = builder.op(.relu, builder.op(.batchMatmul, a, b))
        // After an activation, neither a bias nor another activation.
        let late = builder.op(.broadcastingAdd, active, builder.floats([1, 2], [2]))
        builder.output(builder.op(.tanh, late))
        let ops = try fused(builder)
        #expect(ops.map(\.kind) == [.matmul, .elementwise])
        #expect(matmul(ops.first).activation == .relu && !matmul(ops.first).hasBias)
    }

    @Test func boundsBecomeAClamp() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([2, 2]), builder.input([2, 2]))
        let low = builder.op(.broadcastingMaximum, builder.op(.batchMatmul, a, b), builder.float(-1))
        builder.output(builder.op(.broadcastingMinimum, low, builder.float(4)))
        #expect(matmul(try fused(builder).first).activation == .clamp(low: -1, high: 4))

        // The other way round is something else where low > high.
        var reversed = FunctionBuilder()
        let (c, d) = (reversed.input([2, 2]), reversed.input([2, 2]))
        let high = reversed.op(.broadcastingMinimum, reversed.op(.batchMatmul, c, d), reversed.float(4))
        reversed.output(reversed.op(.broadcastingMaximum, high, reversed.float(-1)))
        #expect(try fused(reversed).count == 2)
    }

    @Test func integerProductsStay() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([2, 2], .int32), builder.input([2, 2], .int32))
        builder.output(builder.op(.batchMatmul, a, b))
        #expect(try fused(builder).map(\.kind) == [.batchMatmul])
    }

    @Test func nothingIsFusedWithoutItsKernel() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([2, 2]), builder.input([2, 2]))
        builder.output(builder.op(.relu, builder.op(.batchMatmul, a, b)))
        let ops = Fusion.run(try builder.part(), host: ClaimingHost(kinds: [])).ops
        #expect(ops.map(\.kind) == [.batchMatmul, .relu])
    }

    // MARK: Convolutions

    /// A convolution of a padded input, with a bias and an activation.
    private func convolution(
        padding: [Int], fill: Float = 0, isReadElsewhere: Bool = false
    ) throws -> [Op] {
        var builder = FunctionBuilder()
        let input = builder.input([1, 1, 4, 4])
        let size = (4 + padding[4] + padding[5], 4 + padding[6] + padding[7])
        let padded = builder.op(
            .pad, input, builder.integers(padding), builder.float(fill),
            shape: [1 + padding[0] + padding[1], 1, size.0, size.1], attributes: .padding(.constant))
        let weight = builder.floats([Float](repeating: 1, count: 18), [2, 1, 3, 3])
        let result = builder.op(
            .conv2d, padded, weight, builder.integers([1, 1]), builder.integers([1, 1]), builder.integer(1),
            shape: [1 + padding[0] + padding[1], 2, size.0 - 2, size.1 - 2])
        let biased = builder.op(.broadcastingAdd, result, builder.floats([1, 2], [2, 1, 1]))
        builder.output(builder.op(.relu, biased))
        if isReadElsewhere { builder.output(padded) }
        return try fused(builder)
    }

    @Test func zeroPaddingIsTakenIn() throws {
        let ops = try convolution(padding: [0, 0, 0, 0, 1, 0, 2, 1])
        #expect(ops.map(\.kind) == [.convolution])
        let attributes = convolution(ops.first)
        #expect(attributes.padding == [1, 0, 2, 1] && attributes.hasBias && attributes.activation == .relu)
    }

    @Test func otherPaddingStays() throws {
        for ops in [
            try convolution(padding: [0, 0, 0, 0, 1, 1, 1, 1], fill: 1),
            try convolution(padding: [1, 0, 0, 0, 1, 1, 1, 1]),
            try convolution(padding: [0, 0, 0, 0, 1, 1, 1, 1], isReadElsewhere: true),
        ] {
            #expect(ops.map(\.kind) == [.pad, .convolution])
            #expect(convolution(ops.last).padding == [0, 0, 0, 0])
        }
    }

    @Test func aVectorOverColumnsIsNoBiasOfAConvolution() throws {
        var builder = FunctionBuilder()
        let (input, weight) = (builder.input([1, 1, 4, 4]), builder.input([2, 1, 3, 3]))
        let result = builder.op(
            .conv2d, input, weight, builder.integers([1, 1]), builder.integers([1, 1]), builder.integer(1),
            shape: [1, 2, 2, 2])
        builder.output(builder.op(.broadcastingAdd, result, builder.floats([1, 2], [2])))
        #expect(try fused(builder).map(\.kind) == [.convolution, .broadcastingAdd])
    }

    // MARK: Elementwise chains

    private func program(_ op: Op?) -> ElementwiseProgram? {
        if case .elementwise(let program)? = op?.attributes { program } else { nil }
    }

    @Test func aChainIsOneProgram() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([2, 3]), builder.input([3]))
        let sum = builder.op(.broadcastingAdd, a, b)
        let product = builder.op(.mul, builder.op(.exp, sum), a)
        builder.output(builder.op(.cast, product, type: .float16))
        let ops = try fused(builder)
        #expect(ops.map(\.kind) == [.elementwise])
        let program = try #require(self.program(ops.first))
        #expect(program.instructions.map(\.kind) == [.broadcastingAdd, .exp, .mul, .cast])
        #expect(Set(ops[0].operands) == [a, b] && ops[0].operands.count == 2)
        #expect(program.instructions.last?.resultType == .float16)
    }

    @Test func aValueReadTwiceIsNotSwallowed() throws {
        var builder = FunctionBuilder()
        let input = builder.input([4])
        let shared = builder.op(.exp, input)
        builder.output(builder.op(.relu, shared), builder.op(.abs, shared))
        #expect(try fused(builder).map(\.kind) == [.exp, .relu, .abs])
        // Twice by one op is one reader.
        var squares = FunctionBuilder()
        let value = squares.op(.exp, squares.input([4]))
        squares.output(squares.op(.mul, value, value))
        let ops = try fused(squares)
        #expect(ops.map(\.kind) == [.elementwise])
        #expect(program(ops.first)?.instructions.map(\.operands) == [[0], [1, 1]])
    }

    @Test func anOutputIsNotSwallowed() throws {
        var builder = FunctionBuilder()
        let first = builder.op(.exp, builder.input([4]))
        builder.output(builder.op(.relu, first), first)
        #expect(try fused(builder).map(\.kind) == [.exp, .relu])
    }

    /// Computing it for every row would be more work.
    @Test func whatIsBroadcastIsNotSwallowed() throws {
        var builder = FunctionBuilder()
        let (row, matrix) = (builder.op(.exp, builder.input([1, 4])), builder.input([3, 4]))
        builder.output(builder.op(.broadcastingAdd, matrix, row))
        #expect(try fused(builder).map(\.kind) == [.exp, .broadcastingAdd])
    }

    @Test func programsStayWithinTheMachine() throws {
        var builder = FunctionBuilder()
        var value = builder.input([4])
        for _ in 0..<40 { value = builder.op(.add, value, builder.input([4])) }
        for _ in 0..<60 { value = builder.op(.abs, value) }
        builder.output(value)
        let programs = try fused(builder).compactMap { program($0) }
        #expect(programs.allSatisfy { $0.inputTypes.count <= 16 && $0.instructions.count <= 48 })
        #expect(programs.reduce(0) { $0 + $1.instructions.count } == 100)
    }

    @Test func complexAndPackedTypesStay() throws {
        var builder = FunctionBuilder()
        let input = builder.input([4], .complexFloat32)
        builder.output(builder.op(.exp, builder.op(.exp, input)))
        #expect(try fused(builder).map(\.kind) == [.exp, .exp])
    }
}
