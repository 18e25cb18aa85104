import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// Norms, attention, and elementwise chains.

extension OpCase {
    private static let types: [ElementType] = [.float32, .float16, .bfloat16]

    static let normCases: [OpCase] = types.flatMap { type in
        let rows: [([Int], Int)] =
            [([3, 8], 1)]
            + (type == .float32 ? [([5], 1), ([2, 3, 4], 2), ([4, 1025], 1), ([1, 1], 1), ([0, 4], 1)] : [])
        return [OpKind.layerNorm, .rmsNorm].flatMap { kind in
            rows.flatMap { shape, axisCount in
                [(false, false), (true, false), (true, true)].map { hasGamma, hasBeta in
                    let marks = (hasGamma ? ".gamma" : "") + (hasBeta ? ".beta" : "")
                    return OpCase(kind, type, "\(shape.extentsText).last\(axisCount)\(marks)", .transcendental) {
                        builder in
                        let x = Elements(shape, type, .small)
                        let tail = Array(shape.suffix(axisCount))
                        let gamma = Elements(tail, type, .positive, seed: 2)
                        let beta = Elements(tail, type, .small, seed: 3)
                        var attributes = NormAttributes(axisCount: axisCount, epsilon: 1e-3)
                        (attributes.hasGamma, attributes.hasBeta) = (hasGamma, hasBeta)
                        let operands =
                            [builder.input(x)] + (hasGamma ? [builder.constant(gamma)] : [])
                            + (hasBeta ? [builder.constant(beta)] : [])
                        builder.output(builder.op(kind, operands, shape, type, .norm(attributes)))
                        let size = tail.reduce(1, *)
                        let (factors, offsets) = (gamma.reals, beta.reals)
                        var values = x.reals
                        for start in stride(from: 0, to: values.count, by: max(size, 1)) {
                            let row = values[start..<(start + size)]
                            let mean = kind == .layerNorm ? row.reduce(0, +) / Double(size) : 0
                            let square = row.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(size)
                            for index in 0..<size {
                                var value = (values[start + index] - mean) / (square + 1e-3).squareRoot()
                                if hasGamma { value *= factors[index] }
                                if hasBeta { value += offsets[index] }
                                values[start + index] = value
                            }
                        }
                        return [Elements(shape, .float64, values)]
                    }
                }
            }
        }
    }

    // MARK: Attention

    private struct AttentionSizes {
        let batch: [Int]
        let queries: Int
        let keys: Int
        let width: Int
        let valueWidth: Int
        var mask: [Int]?
    }

    private static let attentionSizes = [
        AttentionSizes(batch: [2], queries: 3, keys: 5, width: 4, valueWidth: 4),
        AttentionSizes(batch: [1, 2], queries: 4, keys: 4, width: 8, valueWidth: 6, mask: [4, 4]),
        AttentionSizes(batch: [2, 2], queries: 1, keys: 65, width: 16, valueWidth: 16, mask: [2, 1, 1, 65]),
        AttentionSizes(batch: [], queries: 33, keys: 70, width: 32, valueWidth: 32),
    ]

    static let attentionCases: [OpCase] = types.flatMap { type in
        attentionSizes.flatMap { sizes in
            // As stored, and with heads behind positions.
            (sizes.batch.count == 2 ? [false, true] : [false]).map { attention(type, sizes, isPermuted: $0) }
        }
    }

    private static func attention(_ type: ElementType, _ sizes: AttentionSizes, isPermuted: Bool) -> OpCase {
        let (m, n, d, e) = (sizes.queries, sizes.keys, sizes.width, sizes.valueWidth)
        let mask = sizes.mask.map { ".mask.\($0.extentsText)" } ?? ""
        let variant = "\(sizes.batch.extentsText).\(m)x\(n)x\(d)x\(e)\(mask)" + (isPermuted ? ".permuted" : "")
        return OpCase(.attention, type, variant, .product) { builder in
            let query = Elements(sizes.batch + [m, d], type, .unit)
            let key = Elements(sizes.batch + [n, d], type, .unit, seed: 2)
            let value = Elements(sizes.batch + [n, e], type, .unit, seed: 3)
            var attributes = AttentionAttributes(scale: 0.5)
            var operands = [query, key, value].map { builder.input(isPermuted ? exchanged($0) : $0) }
            if isPermuted {
                let order = [0, 2, 1, 3]
                (attributes.queryPermutation, attributes.keyPermutation) = (order, order)
                (attributes.valuePermutation, attributes.resultPermutation) = (order, order)
            }
            var logits = product(
                query.reals, query.shape, flipped(key).reals, sizes.batch + [d, n]
            ).values.map { $0 * 0.5 }
            if let shape = sizes.mask {
                let added = Elements(shape, type, .values([0, -1, 0.5, 0, -2]))
                operands.append(builder.input(added))
                attributes.hasMask = true
                let whole = added.broadcast(to: sizes.batch + [m, n]).reals
                for index in logits.indices { logits[index] += whole[index] }
            }
            let scores = sizes.batch + [m, n]
            let answer = product(softmax(logits, scores, -1), scores, value.reals, value.shape)
            let result = Elements(answer.shape, .float64, answer.values)
            let stored = isPermuted ? exchanged(result) : result
            builder.output(builder.op(.attention, operands, stored.shape, type, .attention(attributes)))
            return [stored]
        }
    }

    /// Dimensions 1 and 2 of four exchanged.
    private static func exchanged(_ elements: Elements) -> Elements {
        let s = elements.shape
        let grid = Grid(s)
        return elements.moved(to: [s[0], s[2], s[1], s[3]]) { grid.flat([$0[0], $0[2], $0[1], $0[3]]) }
    }

    private static func flipped(_ elements: Elements) -> Elements {
        let grid = Grid(elements.shape)
        let rank = elements.shape.count
        var shape = elements.shape
        shape.swapAt(rank - 1, rank - 2)
        return elements.moved(to: shape) { index in
            var own = index
            own.swapAt(rank - 1, rank - 2)
            return grid.flat(own)
        }
    }

    // MARK: Chains

    static let chainCases: [OpCase] =
        ElementType.plainFloats.flatMap { type in
            [[3, 5], [2, 3, 4], [], [0, 3]].map { chain(type, $0) }
        } + [integerChain, mixedChain, chain(.float32, largeShape)]

    /// tanh((x + row) · 0.5) where x > row, else x.
    private static func chain(_ type: ElementType, _ shape: [Int]) -> OpCase {
        OpCase(.elementwise, type, shape.extentsText, .transcendental) { builder in
            let row = Elements(Array(shape.suffix(1)), type, .small, seed: 2)
            let (x, half) = (Elements(shape, type, .small), Elements([], type, [0.5]))
            let program = ElementwiseProgram(
                inputTypes: [type, type, type],
                instructions: [
                    .init(kind: .add, operands: [0, 1], resultType: type),
                    .init(kind: .mul, operands: [3, 2], resultType: type),
                    .init(kind: .tanh, operands: [4], resultType: type),
                    .init(kind: .greater, operands: [0, 1], resultType: .bool),
                    .init(kind: .where, operands: [6, 5, 0], resultType: type),
                ])
            let operands = [builder.input(x), builder.input(row), builder.constant(half)]
            builder.output(builder.op(.elementwise, operands, shape, type, .elementwise(program)))
            let pairs = zip(x.reals, row.broadcast(to: shape).reals)
            return [Elements(shape, .float64, pairs.map { $0 > $1 ? tanh(($0 + $1) * 0.5) : $0 })]
        }
    }

    private static let integerChain = OpCase(.elementwise, .int32, "4x3", .exact) { builder in
        let (x, y) = (Elements([4, 1], .int32, .codes), Elements([3], .int32, .codes, seed: 2))
        let program = ElementwiseProgram(
            inputTypes: [.int32, .int32],
            instructions: [
                .init(kind: .mul, operands: [0, 1], resultType: .int32),
                .init(kind: .bitwiseXor, operands: [2, 0], resultType: .int32),
                .init(kind: .maximum, operands: [3, 1], resultType: .int32),
            ])
        builder.output(
            builder.op(.elementwise, [builder.input(x), builder.input(y)], [4, 3], .int32, .elementwise(program)))
        let pairs = zip(x.broadcast(to: [4, 3]).integers, y.broadcast(to: [4, 3]).integers)
        return [
            Elements([4, 3], .int32, pairs.map { max(Int(Int32(truncatingIfNeeded: ($0 &* $1) ^ $0)), $1) })
        ]
    }

    /// Integers to floats and back: what is cut off is cut off.
    private static let mixedChain = OpCase(.elementwise, .float32, "casts", .exact) { builder in
        let (x, y) = (Elements([5], .int32, [7, -7, 3, 0, 9]), Elements([5], .float32, [2, 2, -2, 1, 4]))
        let program = ElementwiseProgram(
            inputTypes: [.int32, .float32],
            instructions: [
                .init(kind: .cast, operands: [0], resultType: .float32),
                .init(kind: .divide, operands: [2, 1], resultType: .float32),
                .init(kind: .cast, operands: [3], resultType: .int32),
            ])
        builder.output(
            builder.op(.elementwise, [builder.input(x), builder.input(y)], [5], .int32, .elementwise(program)))
        return [Elements([5], .int32, [3, -3, -1, 0, 2])]
    }
}
