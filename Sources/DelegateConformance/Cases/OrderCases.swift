import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension OpCase {
    static let orderCases: [OpCase] = sortCases + nanSort + scanCases + softmaxCases

    private static let sortCases: [OpCase] = ElementType.plainReals.flatMap { type in
        let rows: [([Int], Int)] =
            [([3, 5], 1), ([4, 3], 0)] + (type == .float32 ? [([1], 0), ([70_001], 0), ([2, 7, 3], -2)] : [])
        return rows.flatMap { source, axis in
            [OpKind.sort, .argsort].flatMap { kind in
                [false, true].map { isDescending in
                    let variant = "\(source.extentsText).\(axis)" + (isDescending ? ".descending" : "")
                    return OpCase(kind, type, variant, .exact) { builder in
                        let x = Elements(source, type, .small)
                        let operands = [
                            builder.input(x), builder.scalar(axis), builder.scalar(isDescending ? 1 : 0, .bool),
                            builder.scalar(1, .bool),
                        ]
                        builder.output(builder.op(kind, operands, source, kind == .sort ? type : .int32))
                        return [sorted(x, axis, isDescending, indices: kind == .argsort)]
                    }
                }
            }
        }
    }

    /// Equal elements keep their order, also descending.
    private static func sorted(_ x: Elements, _ axis: Int, _ isDescending: Bool, indices: Bool) -> Elements {
        let values = x.reals
        var answer = indices ? Elements(x.shape, .int32, [Int](repeating: 0, count: x.count)) : x
        for group in reducedGroups(x.shape, [axis]).groups {
            let order = group.indices.sorted {
                let (a, b) = (values[group[$0]], values[group[$1]])
                return a == b ? $0 < $1 : isDescending ? a > b : a < b
            }
            for (place, source) in order.enumerated() {
                answer.bits[group[place]] = indices ? UInt64(source) : x.bits[group[source]]
            }
        }
        return answer
    }

    private static let nanSort: [OpCase] = [ElementType.float32, .float16].map { type in
        OpCase(.sort, type, "infinities", .exact) { builder in
            let x = Elements([6], type, [.infinity, 1, -.infinity, 0, -1, 2])
            let operands = [
                builder.input(x), builder.scalar(0), builder.scalar(0, .bool), builder.scalar(1, .bool),
            ]
            builder.output(builder.op(.sort, operands, [6], type))
            return [sorted(x, 0, false, indices: false)]
        }
    }

    private static let scanCases: [OpCase] = ElementType.plainReals.flatMap { type in
        let combiners: [(ScanCombiner, @Sendable (Double, Double) -> Double)] = [
            (.sum, { $0 + $1 }), (.product, { $0 * $1 }), (.minimum, { min($0, $1) }), (.maximum, { max($0, $1) }),
        ]
        let rows: [([Int], Int)] =
            [([3, 5], 1), ([4, 3], 0)]
            + (type == .float32 ? [([7], 0), ([2, 3, 4], -2), ([2, 1030], 1), ([0, 3], 1)] : [])
        return combiners.flatMap { combiner, combine in
            rows.flatMap { source, axis in
                [false, true].map { isReverse in
                    let variant = "\(combiner).\(source.extentsText).\(axis)" + (isReverse ? ".reverse" : "")
                    return OpCase(.scan, type, variant) { builder in
                        let isProduct = combiner == .product
                        let x = Elements(source, type, isProduct ? .values([1, 2, 1, 1, 3, 1, 1, 0.5]) : .small)
                        // Products of a thousand numbers stay finite where most are one.
                        let input =
                            isProduct && source.reduce(1, *) > 100 ? Elements(source, type, .values([1])) : x
                        let operands = [
                            builder.input(input), builder.scalar(axis), builder.scalar(isReverse ? 1 : 0, .bool),
                        ]
                        builder.output(builder.op(.scan, operands, source, type, .combiner(combiner)))
                        return [scanned(input, axis, isReverse, combine)]
                    }
                }
            }
        }
    }

    private static func scanned(
        _ x: Elements, _ axis: Int, _ isReverse: Bool, _ combine: (Double, Double) -> Double
    ) -> Elements {
        var values = x.reals
        for group in reducedGroups(x.shape, [axis]).groups {
            let order = isReverse ? group.reversed() : group
            for (previous, next) in zip(order, order.dropFirst()) {
                values[next] = combine(values[previous], values[next])
            }
        }
        return Elements(x.shape, x.type.elementType.isFloat ? .float64 : x.type.elementType, values)
    }

    private static let softmaxCases: [OpCase] = ElementType.plainFloats.flatMap { type in
        let rows: [([Int], Int, Fill)] =
            [([3, 5], 1, .small), ([4, 3], 0, .small)]
            + (type == .float32
                ? [
                    ([7], 0, .small), ([1], 0, .small), ([2, 3, 65], -1, .small), ([3, 2049], 1, .small),
                    ([2, 5, 3], 1, .small), ([0, 4], 1, .small), ([2, 3], 1, .values([1000, 1001, 1002])),
                    ([2, 3], 1, .values([-.infinity, 0, 1])), ([1, 4], 1, .values([1, .nan, 2])),
                ] : [])
        return rows.enumerated().map { number, row in
            let (source, axis, fill) = row
            return OpCase(.softmax, type, "\(source.extentsText).\(axis).\(number)", .transcendental) { builder in
                let x = Elements(source, type, fill)
                builder.output(builder.op(.softmax, [builder.input(x), builder.scalar(axis)], source, type))
                return [Elements(source, .float64, softmax(x.reals, source, axis))]
            }
        }
    }
}

func softmax(_ values: [Double], _ shape: [Int], _ axis: Int) -> [Double] {
    var values = values
    for group in reducedGroups(shape, [axis]).groups {
        let largest = group.map { values[$0] }.max() ?? 0
        for place in group { values[place] = exp(values[place] - largest) }
        let sum = group.reduce(0) { $0 + values[$1] }
        for place in group { values[place] /= sum }
    }
    return values
}
