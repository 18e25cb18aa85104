import EngineGraph

extension OpCase {
    static let shapeCases: [OpCase] =
        reshapeCases + broadcastCases + rangeCases + queryCases + ElementType.plain.map { copyCase(.copy, $0) }
        + [OpKind.copyWithConstraints, .copyDiscardingConstraints].map { copyCase($0, .float32) }

    /// A view of `source` in `shape`: the same elements.
    private static func view(
        _ kind: OpKind, _ type: ElementType, _ source: [Int], _ parameter: [Int], _ shape: [Int]
    ) -> OpCase {
        OpCase(kind, type, "\(source.extentsText).to.\(shape.extentsText)", .exact) { builder in
            let x = Elements(source, type, .codes)
            let operands = [builder.input(x), builder.vector(parameter)]
            builder.output(builder.op(kind, operands, shape, type))
            return [x.reshaped(shape)]
        }
    }

    private static let reshapeCases: [OpCase] = ElementType.plain.flatMap { type in
        var cases = [
            view(.reshape, type, [2, 6], [3, 4], [3, 4]), view(.expandDims, type, [3, 4], [0, -1], [1, 3, 4, 1]),
            view(.shrinkDims, type, [1, 3, 1, 4], [0, -2], [3, 4]),
        ]
        if type == .float32 {
            cases += [
                view(.reshape, type, [2, 3, 4], [-1], [24]), view(.reshape, type, [1], [], []),
                view(.reshape, type, [0, 3], [3, 0], [3, 0]), view(.reshape, type, [], [1, 1], [1, 1]),
                view(.reshape, type, [256], Array(repeating: 2, count: 8), Array(repeating: 2, count: 8)),
                view(.expandDims, type, [], [0], [1]), view(.shrinkDims, type, [1], [0], []),
            ]
        }
        return cases
    }

    private static let broadcastCases: [OpCase] = ElementType.plain.flatMap { type in
        let targets: [([Int], [Int])] =
            [([3, 1], [3, 4]), ([4], [2, 3, 4])]
            + (type == .float32
                ? [
                    ([], [5]), ([1, 1], [0, 3]), ([2, 1, 3, 1], [2, 5, 3, 2]), ([1, 257], [257, 257]),
                    ([1, 2, 1, 2, 1, 2, 1, 2], [2, 2, 2, 2, 2, 2, 2, 2]),
                ] : [])
        return targets.map { source, shape in
            OpCase(.broadcastTo, type, "\(source.extentsText).to.\(shape.extentsText)", .exact) { builder in
                let x = Elements(source, type, .codes)
                builder.output(builder.op(.broadcastTo, [builder.input(x), builder.vector(shape)], shape, type))
                return [x.broadcast(to: shape)]
            }
        } + [
            OpCase(.broadcastInDims, type, "2x1x4.by.3", .exact) { builder in
                let x = Elements([2, 1, 4], type, .codes)
                let operands = [builder.input(x), builder.vector([3]), builder.vector([-2])]
                builder.output(builder.op(.broadcastInDims, operands, [2, 3, 4], type))
                return [x.broadcast(to: [2, 3, 4])]
            },
            tile(type, [2, 3], [2, 2], [4, 6]), tile(type, [2, 3], [3], [2, 9]),
        ]
    }

    private static func tile(_ type: ElementType, _ source: [Int], _ repeats: [Int], _ shape: [Int]) -> OpCase {
        OpCase(.tile, type, "\(source.extentsText).by.\(repeats.extentsText)", .exact) { builder in
            let x = Elements(source, type, .codes)
            builder.output(builder.op(.tile, [builder.input(x), builder.vector(repeats)], shape, type))
            let grid = Grid(source)
            return [x.moved(to: shape) { grid.flat(zip($0, source).map { $0 % $1 }) }]
        }
    }

    private static let rangeCases: [OpCase] = ElementType.plainReals.flatMap { type in
        let ranges: [(Double, Double, Double)] =
            [(0, 10, 1), (1, 12, 3), (5, 6, 1)]
            + (type.isUnsignedInteger ? [] : [(10, 0, -1), (-5, 5, 2)]) + (type.isFloat ? [(0, 2, 0.25)] : [])
        return ranges.map { start, stop, step in
            OpCase(.range, type, "\(start).\(stop).\(step)") { builder in
                let operands = [start, stop, step].map { builder.constant(Elements([], type, [$0])) }
                let count = Int(((stop - start) / step).rounded(.up))
                builder.output(builder.op(.range, operands, [count], type))
                return [Elements([count], type, (0..<count).map { start + Double($0) * step })]
            }
        }
    }

    private static let queryCases: [OpCase] = [
        OpCase(.getShape, .float32, "2x0x3", .exact) { builder in
            let x = builder.input(Elements([2, 0, 3], .float32, .small))
            builder.output(builder.op(.getShape, [x], [3], .uint32))
            return [Elements([3], .uint32, [2, 0, 3])]
        },
        OpCase(.broadcastShapes, .int32, "3x1.4", .exact) { builder in
            let operands = [builder.vector([3, 1]), builder.vector([4])]
            builder.output(builder.op(.broadcastShapes, operands, [2], .int32))
            return [Elements([2], .int32, [3, 4])]
        },
    ]

    private static func copyCase(_ kind: OpKind, _ type: ElementType) -> OpCase {
        OpCase(kind, type, "3x5", .exact) { builder in
            let x = Elements([3, 5], type, .codes)
            builder.output(builder.op(kind, [builder.input(x)], [3, 5], type))
            return [x]
        }
    }
}
