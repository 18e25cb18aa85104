import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// Norms and attention: the spelling that is recognized, and what looks like it.
@Suite struct PatternTests {
    private func fused(_ builder: FunctionBuilder) throws -> [Op] {
        // Chains of elementwise ops would hide what is left.
        let part = Fusion.run(try builder.part(), host: ClaimingHost(kinds: [.layerNorm, .rmsNorm, .attention]))
        return part.ops
    }

    private func norm(_ op: Op?) -> NormAttributes? {
        if case .norm(let attributes)? = op?.attributes { attributes } else { nil }
    }

    private func attention(_ op: Op?) -> AttentionAttributes? {
        if case .attention(let attributes)? = op?.attributes { attributes } else { nil }
    }

    // MARK: Norms

    private struct Norm {
        var shape = [2, 3, 4]
        var axes = [2]
        var hasMean = true
        var gamma: [Int]? = [4]
        var beta: [Int]? = [4]
        /// What else is an output.
        var extra: String?
    }

    private func spell(_ norm: Norm) throws -> [Op] {
        var builder = FunctionBuilder()
        let input = builder.input(norm.shape)
        let axes = builder.integers(norm.axes)
        var reduced = norm.shape
        for axis in norm.axes { reduced[axis < 0 ? axis + reduced.count : axis] = 1 }
        var centred = input
        if norm.hasMean {
            let mean = builder.op(.reduceMean, input, axes, shape: reduced)
            centred = builder.op(.broadcastingSub, input, mean)
            if norm.extra == "mean" { builder.output(mean) }
            if norm.extra == "centred" { builder.output(centred) }
        }
        let variance = builder.op(.reduceMean, builder.op(.mul, centred, centred), axes, shape: reduced)
        if norm.extra == "variance" { builder.output(variance) }
        let factor = builder.op(.rsqrt, builder.op(.broadcastingAdd, variance, builder.float(0.5)))
        var result = builder.op(.broadcastingMul, centred, factor)
        if let gamma = norm.gamma { result = builder.op(.broadcastingMul, result, builder.input(gamma)) }
        if let beta = norm.beta {
            result = builder.op(.broadcastingAdd, builder.input(beta), result, shape: norm.shape)
        }
        builder.output(result)
        return try fused(builder)
    }

    @Test func aLayerNormIsOneOp() throws {
        let ops = try spell(Norm())
        #expect(ops.map(\.kind) == [.layerNorm])
        let attributes = try #require(norm(ops.first))
        #expect(attributes.axisCount == 1 && attributes.epsilon == 0.5 && attributes.hasGamma && attributes.hasBeta)
        #expect(ops[0].operands.count == 3)
    }

    @Test func overSeveralTrailingDimensions() throws {
        let ops = try spell(Norm(axes: [-1, 1], gamma: [3, 4], beta: nil))
        #expect(ops.map(\.kind) == [.layerNorm])
        #expect(norm(ops.first)?.axisCount == 2 && norm(ops.first)?.hasBeta == false)
    }

    @Test func withoutFactors() throws {
        #expect(try spell(Norm(gamma: nil, beta: nil)).map(\.kind) == [.layerNorm])
        let ops = try spell(Norm(gamma: nil))
        #expect(ops.map(\.kind) == [.layerNorm])
        #expect(norm(ops.first)?.hasBeta == true && norm(ops.first)?.hasGamma == false)
    }

    @Test func aRootMeanSquareNormIsOneOp() throws {
        let ops = try spell(Norm(hasMean: false, beta: nil))
        #expect(ops.map(\.kind) == [.rmsNorm])
        #expect(norm(ops.first)?.hasGamma == true)
    }

    @Test func aMiddleDimensionIsNoNorm() throws {
        #expect(try spell(Norm(axes: [1], gamma: nil, beta: nil)).allSatisfy { norm($0) == nil })
    }

    @Test func whatOthersReadStays() throws {
        // The variance is an output: the whole is spelled out. The others are kept beside the norm.
        #expect(try spell(Norm(extra: "variance")).allSatisfy { norm($0) == nil })
        for extra in ["mean", "centred"] {
            let ops = try spell(Norm(extra: extra))
            #expect(ops.map(\.kind) == [.reduceMean, .broadcastingSub, .rmsNorm], "\(extra)")
            // Normalized is the centred value, which has no mean to take off.
            #expect(ops.last?.operands.first == ops[1].results[0])
        }
    }

    @Test func aFactorOverOtherDimensionsStaysOutside() throws {
        let ops = try spell(Norm(gamma: [3, 1], beta: nil))
        #expect(ops.map(\.kind) == [.layerNorm, .broadcastingMul])
        #expect(norm(ops.first)?.hasGamma == false)
        #expect(try spell(Norm(beta: [2, 3, 4])).map(\.kind) == [.layerNorm, .broadcastingAdd])
    }

    // MARK: Attention

    private struct Attention {
        var batch = [2, 3]
        var mask: [Int]?
        var scale: String? = "mul"
        var axis = -1
        var hasStoredHeads = false
        var extra: String?
        var queryScale: [Int]?
    }

    private func spell(_ attention: Attention) throws -> (ops: [Op], inputs: [Value]) {
        var builder = FunctionBuilder()
        let batch = attention.batch
        let (rows, columns, width) = (4, 5, 6)
        let rank = batch.count + 2
        let swap = builder.integers(Array(0..<(rank - 2)) + [rank - 1, rank - 2])
        let heads = builder.integers([0, 2, 1, 3])
        func operand(_ length: Int, _ builder: inout FunctionBuilder) -> (Value, Value) {
            guard attention.hasStoredHeads else {
                let value = builder.input(batch + [length, width])
                return (value, value)
            }
            let stored = builder.input([batch[0], length, batch[1], width])
            return (stored, builder.op(.transpose, stored, heads, shape: batch + [length, width]))
        }
        let (storedQuery, queryValue) = operand(rows, &builder)
        let (storedKey, key) = operand(columns, &builder)
        let (storedValue, value) = operand(columns, &builder)
        var query = queryValue
        if let shape = attention.queryScale {
            let count = shape.reduce(1, *)
            query = builder.op(.broadcastingMul, query, builder.floats([Float](repeating: 0.5, count: count), shape))
        }
        let turned = builder.op(.transpose, key, swap, shape: batch + [width, columns])
        var scores = builder.op(.broadcastingBatchMatmul, query, turned, shape: batch + [rows, columns])
        if attention.extra == "scores" { builder.output(scores) }
        switch attention.scale {
        case "mul": scores = builder.op(.broadcastingMul, scores, builder.float(0.25))
        case "divide": scores = builder.op(.broadcastingDivide, scores, builder.float(4))
        case "vector": scores = builder.op(.broadcastingMul, scores, builder.floats([1, 2, 3, 4, 5], [5]))
        default: break
        }
        if let mask = attention.mask { scores = builder.op(.broadcastingAdd, scores, builder.input(mask)) }
        let weights = builder.op(.softmax, scores, builder.integer(attention.axis))
        if attention.extra == "weights" { builder.output(weights) }
        let result = builder.op(.broadcastingBatchMatmul, weights, value, shape: batch + [rows, width])
        if attention.hasStoredHeads {
            builder.output(builder.op(.transpose, result, heads, shape: [batch[0], rows, batch[1], width]))
        } else {
            builder.output(result)
        }
        return (try fused(builder), [storedQuery, storedKey, storedValue])
    }

    @Test func attentionIsOneOp() throws {
        let (ops, inputs) = try spell(Attention())
        #expect(ops.map(\.kind) == [.attention])
        let attributes = try #require(attention(ops.first))
        #expect(attributes.scale == 0.25 && !attributes.hasMask)
        #expect(ops[0].operands == inputs)
        #expect(attributes.queryPermutation.isEmpty && attributes.keyPermutation.isEmpty)
        #expect(attributes.valuePermutation.isEmpty && attributes.resultPermutation.isEmpty)
    }

    @Test func otherSpellingsOfTheScale() throws {
        #expect(attention(try spell(Attention(scale: "divide")).ops.first)?.scale == 0.25)
        #expect(attention(try spell(Attention(scale: nil)).ops.first)?.scale == 1)
        #expect(attention(try spell(Attention(queryScale: [])).ops.first)?.scale == 0.125)
    }

    @Test func aMaskIsTakenIn() throws {
        for mask in [[4, 5], [2, 1, 4, 5], [5]] {
            let (ops, _) = try spell(Attention(mask: mask))
            #expect(ops.map(\.kind) == [.attention], "\(mask)")
            #expect(attention(ops.first)?.hasMask == true && ops.first?.operands.count == 4)
        }
    }

    @Test func headsAreReadAsTheyAreStored() throws {
        let (ops, inputs) = try spell(Attention(hasStoredHeads: true))
        #expect(ops.map(\.kind) == [.attention])
        let attributes = try #require(attention(ops.first))
        #expect(ops[0].operands == inputs)
        #expect(attributes.queryPermutation == [0, 2, 1, 3] && attributes.valuePermutation == [0, 2, 1, 3])
        // Two transposes of the key stand in a row: for the heads, and for the product.
        #expect(attributes.keyPermutation == [0, 2, 1, 3])
        #expect(attributes.resultPermutation == [0, 2, 1, 3])
    }

    @Test func whatIsReadElsewhereIsNotSwallowed() throws {
        for extra in ["scores", "weights"] {
            let (ops, _) = try spell(Attention(extra: extra))
            #expect(ops.allSatisfy { $0.kind != .attention }, "\(extra)")
            #expect(ops.filter { $0.kind == .softmax }.count == 1)
        }
    }

    @Test func whatOnlyLooksLikeAttention() throws {
        // Softmax over rows; a scale per column; two dimensions; more than the kernel takes.
        for other in [
            Attention(axis: 2), Attention(scale: "vector"), Attention(batch: []), Attention(batch: [2, 2, 2]),
        ] {
            #expect(try spell(other).ops.allSatisfy { $0.kind != .attention }, "\(other)")
        }
    }
}
