import EngineGraph

/// A reduction along axes: of numbers, and of wrapped integers.
private struct Reduction {
    let kind: OpKind
    let types: [ElementType]
    var fill = Fill.small
    var precision = Precision.arithmetic
    let apply: @Sendable ([Double]) -> Double
}

private let reductions: [Reduction] = [
    Reduction(kind: .reduceSum, types: ElementType.plainReals) { $0.reduce(0, +) },
    Reduction(kind: .reduceMean, types: ElementType.plainFloats) { $0.reduce(0, +) / Double($0.count) },
    Reduction(kind: .reduceProduct, types: ElementType.plainReals, fill: .values([1, 2, 1, 1, 3, 1, 1])) {
        $0.reduce(1, *)
    },
    Reduction(kind: .reduceMax, types: ElementType.plainReals + [.bool], precision: .exact) { values in
        values.contains { $0.isNaN } ? .nan : values.max() ?? -.infinity
    },
    Reduction(kind: .reduceMin, types: ElementType.plainReals + [.bool], precision: .exact) { values in
        values.contains { $0.isNaN } ? .nan : values.min() ?? .infinity
    },
    Reduction(kind: .all, types: [.bool], fill: .values([1, 1, 1, 0, 1, 1]), precision: .exact) {
        $0.contains(0) ? 0 : 1
    },
    Reduction(kind: .any, types: [.bool], fill: .values([0, 0, 0, 1, 0]), precision: .exact) {
        $0.contains { $0 != 0 } ? 1 : 0
    },
]

/// The elements that are reduced to each element of `shape` with unit dimensions at `axes`.
func reducedGroups(_ source: [Int], _ axes: [Int]) -> (shape: [Int], groups: [[Int]]) {
    let dimensions = Set(axes.map { $0 < 0 ? $0 + source.count : $0 })
    let shape = source.indices.map { dimensions.contains($0) ? 1 : source[$0] }
    let grid = Grid(shape)
    var groups = [[Int]](repeating: [], count: grid.count)
    for (position, index) in Grid(source).indices.enumerated() { groups[grid.broadcast(index)].append(position) }
    return (shape, groups)
}

extension OpCase {
    static let reductionCases: [OpCase] =
        reductions.flatMap(cases) + combinerCases + argCases + sumCorners + wrapCases + complexSums

    private static func cases(_ reduction: Reduction) -> [OpCase] {
        reduction.types.flatMap { type in
            let isMain = type == .float32 || type == .bool
            var rows: [([Int], [Int])] = [([3, 5], [1]), ([2, 3, 4], [0, -1])]
            if isMain {
                rows += [
                    ([7], [0]), ([3, 5], [0]), ([2, 3, 4], [1]), ([2, 3, 4], [0, 1, 2]), ([1, 65], [1]),
                    ([65, 3], [0]),
                    ([2, 1, 2, 1, 2, 1, 2, 3], [1, 6, 7]), ([0, 3], [1]),
                ]
            }
            if type == .float32, [.reduceSum, .reduceMax].contains(reduction.kind) {
                rows += [([1, 70_001], [1]), ([1031, 67], [0]), ([67, 1031], [1])]
            }
            return rows.map { source, axes in
                let isLong = source.reduce(1, *) > 10_000
                let precision = isLong && reduction.precision == .arithmetic ? .product : reduction.precision
                return OpCase(reduction.kind, type, "\(source.extentsText).\(axes.extentsText)", precision) {
                    builder in
                    let x = Elements(source, type, reduction.fill)
                    let (shape, groups) = reducedGroups(source, axes)
                    builder.output(
                        builder.op(reduction.kind, [builder.input(x), builder.vector(axes)], shape, type))
                    let values = x.reals
                    let answers = groups.map { group in reduction.apply(group.map { values[$0] }) }
                    let result: ElementType = type.isFloat && precision != .exact ? .float64 : type
                    return [Elements(shape, result, answers)]
                }
            }
        }
    }

    /// Sums over nothing, infinities and NaNs.
    private static let sumCorners: [OpCase] = [OpKind.reduceSum, .reduceMax, .reduceMin, .reduceMean].flatMap { kind in
        ElementType.plainFloats.map { type in
            OpCase(kind, type, "corners") { builder in
                let rows: [[Double]] = [
                    [1, .nan, 2], [.infinity, 1, 2], [-.infinity, 1, 2], [-0.0, -0.0, -0.0], [3, -3, 2],
                ]
                let x = Elements([5, 3], type, rows.flatMap { $0 })
                builder.output(builder.op(kind, [builder.input(x), builder.vector([1])], [5, 1], type))
                let reduction = reductions.first { $0.kind == kind }
                return [Elements([5, 1], .float64, rows.map { reduction?.apply($0) ?? 0 })]
            }
        }
    }

    private static let wrapCases: [OpCase] = ElementType.plainIntegers.map { type in
        OpCase(.reduceSum, type, "wrap", .exact) { builder in
            let most = type.isSignedInteger ? Int.max >> (64 - type.bitWidth) : -1
            let x = Elements([2, 3], type, [most, most, 2, 1, 2, 3])
            builder.output(builder.op(.reduceSum, [builder.input(x), builder.vector([1])], [2, 1], type))
            return [Elements([2, 1], type, [most &+ most &+ 2, 6])]
        }
    }

    private static let complexSums: [OpCase] = [OpKind.reduceSum, .reduceMean].map { kind in
        OpCase(kind, .complexFloat32, "3x4.1") { builder in
            let x = Elements([3, 4], .complexFloat32, .small)
            builder.output(builder.op(kind, [builder.input(x), builder.vector([1])], [3, 1], .complexFloat32))
            let values = x.reals
            var sums = [Double](repeating: 0, count: 6)
            for (index, value) in values.enumerated() { sums[index / 8 * 2 + index % 2] += value }
            if kind == .reduceMean { sums = sums.map { $0 / 4 } }
            return [Elements([3, 1], .complexFloat64, sums)]
        }
    }

    private static let combinerCases: [OpCase] = ElementType.plainReals.flatMap { type in
        let rows: [(OpKind, Double, @Sendable (Double, Double) -> Double)] = [
            (.add, 3, { $0 + $1 }), (.mul, 2, { $0 * $1 }), (.maximum, 1, { max($0, $1) }),
            (.minimum, 1, { min($0, $1) }), (.sub, 40, { $0 - $1 }),
        ]
        return rows.map { kind, initial, combine in
            OpCase(.reduce, type, kind.name) { builder in
                let x = Elements([3, 4], type, .values([1, 2, 1, 1, 3]))
                let operands = [
                    builder.input(x), builder.vector([1]), builder.constant(Elements([], type, [initial])),
                ]
                builder.output(
                    builder.op(.reduce, operands, [3, 1], type, bodies: [combinerBody(kind, type)]))
                let values = x.reals
                let answers = (0..<3).map { row in (0..<4).reduce(initial) { combine($0, values[row * 4 + $1]) } }
                return [Elements([3, 1], .float64, answers)]
            }
        }
    }

    private static let argCases: [OpCase] = (ElementType.plainReals + [.bool]).flatMap { type in
        let rows: [([Int], Int)] =
            [([3, 5], 1), ([2, 3, 4], 0)] + (type == .float32 ? [([9], -1), ([2, 70_001], 1), ([67, 5], 0)] : [])
        return rows.flatMap { source, axis in
            [OpKind.argmax, .reduceIndex].map { kind in
                OpCase(kind, type, "\(source.extentsText).\(axis)", .exact) { builder in
                    // Few different values: the first of equal ones counts.
                    let x = Elements(source, type, .small)
                    let (shape, groups) = reducedGroups(source, [axis])
                    var operands = [builder.input(x), builder.scalar(axis)]
                    if kind == .reduceIndex {
                        // Below every element, so that the first of a row wins against it.
                        let least: Double = type.isFloat ? -.infinity : type.isSignedInteger ? -128 : 0
                        operands.append(builder.constant(Elements([], type, [least])))
                        operands.append(builder.scalar(0, .uint32))
                    }
                    let bodies =
                        kind == .reduceIndex ? [combinerBody(.greater, type, result: .bool, swapped: true)] : []
                    builder.output(builder.op(kind, operands, shape, .uint32, bodies: bodies))
                    let values = x.reals
                    let answers = groups.map { group -> Int in
                        let best = group.map { values[$0] }.max()
                        return group.firstIndex { values[$0] == best } ?? 0
                    }
                    return [Elements(shape, .uint32, answers)]
                }
            }
        }
    }
}
