import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// Norms of sums and over groups of channels, rotary embedding, attention with groups of heads and what hides keys.

extension OpCase {
    private static let types: [ElementType] = [.float32, .float16, .bfloat16]

    static let patternCases: [OpCase] = types.flatMap { type in
        let groups: [OpCase] = [([2, 6], 3), ([2, 6, 5], 2), ([1, 4, 3, 9], 4), ([3, 8, 2, 2, 3], 1)].flatMap {
            (shape: [Int], count: Int) in [false, true].map { groupNorm(type, shape, count, hasFactors: $0) }
        }
        let rotaries: [OpCase] = [
            rotary(type, [3, 8], [3, 8]), rotary(type, [2, 3, 5, 6], [5, 3]),
            rotary(type, [2, 3, 5, 32], [2, 1, 5, 32]),
        ]
        let attentions: [OpCase] = [
            attention(type, heads: 4, keyHeads: 2), attention(type, heads: 3, keyHeads: 1, causalOffset: 2),
            attention(type, heads: 2, keyHeads: 2, causalOffset: 0),
            attention(type, heads: 2, keyHeads: 2, hides: true),
            attention(type, heads: 6, keyHeads: 2, hides: false),
        ]
        return groups + rotaries + attentions + [OpKind.layerNorm, .rmsNorm].map { normOfSum($0, type) }
    }

    /// (x − mean) / √(mean square + 1e-3).
    private static func normalized(_ values: some Collection<Double>, hasMean: Bool = true) -> [Double] {
        let count = Double(values.count)
        let mean = hasMean ? values.reduce(0, +) / count : 0
        let square = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
        return values.map { ($0 - mean) / (square + 1e-3).squareRoot() }
    }

    private static func groupNorm(
        _ type: ElementType, _ shape: [Int], _ groups: Int, hasFactors: Bool
    ) -> OpCase {
        let variant = "\(shape.extentsText).groups\(groups)" + (hasFactors ? ".gamma.beta" : "")
        return OpCase(.groupNorm, type, variant, .transcendental) { builder in
            let x = Elements(shape, type, .small)
            let gamma = Elements([shape[1]], type, .positive, seed: 2)
            let beta = Elements([shape[1]], type, .small, seed: 3)
            var attributes = NormAttributes(axisCount: 0, epsilon: 1e-3)
            attributes.groups = groups
            (attributes.hasGamma, attributes.hasBeta) = (hasFactors, hasFactors)
            let operands =
                [builder.input(x)] + (hasFactors ? [builder.constant(gamma), builder.constant(beta)] : [])
            builder.output(builder.op(.groupNorm, operands, shape, type, .norm(attributes)))
            let length = shape.dropFirst(2).reduce(1, *)
            let size = shape[1] / groups * length
            let (numbers, factors, offsets) = (x.reals, gamma.reals, beta.reals)
            var values: [Double] = []
            for start in stride(from: 0, to: numbers.count, by: size) {
                values += normalized(numbers[start..<(start + size)])
            }
            if hasFactors {
                for index in values.indices {
                    let channel = index / length % shape[1]
                    values[index] = values[index] * factors[channel] + offsets[channel]
                }
            }
            return [Elements(shape, .float64, values)]
        }
    }

    private static func normOfSum(_ kind: OpKind, _ type: ElementType) -> OpCase {
        OpCase(kind, type, "3x8.last1.residual", .transcendental) { builder in
            let (x, residual) = (Elements([3, 8], type, .small), Elements([3, 8], type, .small, seed: 2))
            let gamma = Elements([8], type, .positive, seed: 3)
            var attributes = NormAttributes(axisCount: 1, epsilon: 1e-3)
            (attributes.hasGamma, attributes.hasResidual) = (true, true)
            let operands = [builder.input(x), builder.constant(gamma), builder.input(residual)]
            builder.output(builder.op(kind, operands, [3, 8], type, .norm(attributes)))
            let (sums, factors) = (zip(x.reals, residual.reals).map { $0 + $1 }, gamma.reals)
            let values = (0..<3).flatMap { row in
                zip(normalized(sums[(row * 8)..<(row * 8 + 8)], hasMean: kind == .layerNorm), factors).map { $0 * $1 }
            }
            return [Elements([3, 8], .float64, values)]
        }
    }

    private static func rotary(_ type: ElementType, _ shape: [Int], _ table: [Int]) -> OpCase {
        OpCase(.rotary, type, "\(shape.extentsText).table.\(table.extentsText)", .arithmetic) { builder in
            let (x, cos) = (Elements(shape, type, .unit), Elements(table, type, .unit, seed: 2))
            let sin = Elements(table, type, .unit, seed: 3)
            let operands = [builder.input(x), builder.input(cos), builder.input(sin)]
            builder.output(builder.op(.rotary, operands, shape, type))
            let width = shape[shape.count - 1]
            // A table of halves serves both.
            let tableWidth = table[table.count - 1]
            let whole = Array(shape.dropLast()) + [tableWidth]
            let (cosines, sines) = (cos.broadcast(to: whole).reals, sin.broadcast(to: whole).reals)
            let numbers = x.reals
            let values = numbers.indices.map { index in
                let (row, column) = (index / width, index % width)
                let place = row * tableWidth + column % tableWidth
                let isLow = column < width / 2
                let other = numbers[row * width + (column + width / 2) % width]
                return numbers[index] * cosines[place] + (isLow ? -other : other) * sines[place]
            }
            return [Elements(shape, .float64, values)]
        }
    }

    private static func attention(
        _ type: ElementType, heads: Int, keyHeads: Int, causalOffset: Int? = nil, hides: Bool? = nil
    ) -> OpCase {
        let (rows, keys, width) = (4, 7, 8)
        let hidden = hides.map { $0 ? ".hides" : ".shows" } ?? causalOffset.map { ".causal\($0)" } ?? ""
        return OpCase(.attention, type, "heads\(heads)of\(keyHeads)\(hidden)", .product) { builder in
            let query = Elements([1, heads, rows, width], type, .unit)
            let key = Elements([1, keyHeads, keys, width], type, .unit, seed: 2)
            let value = Elements([1, keyHeads, keys, width], type, .unit, seed: 3)
            let mask = Elements([rows, keys], .bool, .values([1, 0, 0, 1, 0]))
            var attributes = AttentionAttributes(scale: 0.5)
            attributes.causalOffset = causalOffset
            attributes.hasMask = hides != nil
            attributes.hidesTrue = hides ?? false
            let operands = [query, key, value].map { builder.input($0) } + (hides != nil ? [builder.input(mask)] : [])
            builder.output(builder.op(.attention, operands, query.shape, type, .attention(attributes)))
            let (q, k, v, flags) = (query.reals, key.reals, value.reals, mask.reals)
            var values: [Double] = []
            for head in 0..<heads {
                let first = head / (heads / keyHeads) * keys * width
                for row in 0..<rows {
                    let weights = (0..<keys).map { column -> Double in
                        if let causalOffset, column > row + causalOffset { return 0 }
                        if let hides, (flags[row * keys + column] != 0) == hides { return 0 }
                        let sum = (0..<width).reduce(0) {
                            $0 + q[(head * rows + row) * width + $1] * k[first + column * width + $1]
                        }
                        return exp(0.5 * sum)
                    }
                    let total = weights.reduce(0, +)
                    for place in 0..<width {
                        values.append(
                            (0..<keys).reduce(0) { $0 + weights[$1] / total * v[first + $1 * width + place] })
                    }
                }
            }
            return [Elements(query.shape, .float64, values)]
        }
    }
}
