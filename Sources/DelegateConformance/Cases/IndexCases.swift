import EngineGraph

extension OpCase {
    static let indexCases: [OpCase] =
        ElementType.plain.flatMap { gathers($0) + scatters($0) } + indexTypeCases + scatterModes

    private static func gathers(_ type: ElementType, indexType: ElementType = .int32) -> [OpCase] {
        let text = indexType == .int32 ? "" : ".\(indexType.dialectName)"
        let rows: [([Int], [Int], Int)] =
            [([3, 4], [3, 2], 1), ([5, 2], [7, 2], 0)]
            + (type == .float32 && indexType == .int32 ? [([6], [4], 0), ([2, 3, 4], [2, 3, 9], -1)] : [])
        let tuples: [([Int], [Int])] =
            [([4, 3], [2, 1]), ([3, 4], [3, 2])]
            + (type == .float32 && indexType == .int32
                ? [([4, 4, 4], [2, 2]), ([2, 3, 4, 5], [3, 2, 2]), ([300, 257], [260, 1]), ([3, 2], [0, 1])] : [])
        return rows.map { source, shape, axis in
            OpCase(.gatherAlongAxis, type, "\(source.extentsText).\(shape.extentsText).\(axis)\(text)", .exact) {
                builder in
                let dimension = axis < 0 ? axis + source.count : axis
                let x = Elements(source, type, .codes)
                let indices = Elements(shape, indexType, .below(source[dimension]))
                let operands = [builder.input(x), builder.input(indices), builder.scalar(axis)]
                builder.output(builder.op(.gatherAlongAxis, operands, shape, type))
                let (grid, places, picks) = (Grid(source), Grid(shape), indices.integers)
                return [
                    x.moved(to: shape) { index in
                        var own = index
                        own[dimension] = picks[places.flat(index)]
                        return grid.flat(own)
                    }
                ]
            }
        }
            + tuples.map { source, shape in
                OpCase(.gatherND, type, "\(source.extentsText).\(shape.extentsText)\(text)", .exact) { builder in
                    let depth = shape[shape.count - 1]
                    let x = Elements(source, type, .codes)
                    let indices = tupleIndices(source, shape, indexType)
                    let result = Array(shape.dropLast()) + source.dropFirst(depth)
                    builder.output(builder.op(.gatherND, [builder.input(x), builder.input(indices)], result, type))
                    let picks = indices.integers
                    return [x.moved(to: result) { tuplePosition($0, source, shape, picks) }]
                }
            }
    }

    /// Index tuples within the source, the first of them counted from the end.
    private static func tupleIndices(_ source: [Int], _ shape: [Int], _ type: ElementType) -> Elements {
        let depth = shape[shape.count - 1]
        var values = (0..<shape.reduce(1, *)).map { position -> Int in
            (position / depth * 7 + position % depth * 3 + 1) % source[position % depth]
        }
        if type.isSignedInteger, let first = values.first { values[0] = first - source[0] }
        return Elements(shape, type, values)
    }

    /// The element of the source that an element of the gathered slices is.
    private static func tuplePosition(_ index: [Int], _ source: [Int], _ shape: [Int], _ picks: [Int]) -> Int {
        let depth = shape[shape.count - 1]
        let lead = shape.count - 1
        let first = Grid(Array(shape.dropLast())).flat(Array(index.prefix(lead))) * depth
        let own = (0..<depth).map { picks[first + $0] < 0 ? picks[first + $0] + source[$0] : picks[first + $0] }
        return Grid(source).flat(own + index.dropFirst(lead))
    }

    private static let indexTypeCases: [OpCase] = ElementType.plainIntegers.filter { $0 != .int32 }.flatMap {
        gathers(.float32, indexType: $0)
    }

    // MARK: Scatters

    private static func scatters(_ type: ElementType) -> [OpCase] {
        [
            OpCase(.scatterAlongAxis, type, "update", .exact) { builder in
                let (x, update) = (Elements([3, 4], type, .codes), Elements([3, 2], type, .codes, seed: 2))
                let indices = Elements([3, 2], .int32, [0, 3, 2, 1, 3, 0])
                let operands = [builder.input(x), builder.input(indices), builder.input(update), builder.scalar(1)]
                builder.output(builder.op(.scatterAlongAxis, operands, [3, 4], type, .scatter(.update)))
                let picks = indices.integers
                return [replaced(x, update) { $0 / 2 * 4 + picks[$0] }]
            },
            OpCase(.scatterND, type, "update", .exact) { builder in
                let (x, update) = (Elements([4, 3], type, .codes), Elements([2, 3], type, .codes, seed: 2))
                let indices = Elements([2, 1], .int32, [3, 1])
                let operands = [builder.input(x), builder.input(indices), builder.input(update)]
                builder.output(
                    builder.op(.scatterND, operands, [4, 3], type, bodies: [replacementBody(type)]))
                return [replaced(x, update) { ($0 < 3 ? 9 : 3) + $0 % 3 }]
            },
        ]
    }

    private static func replaced(_ x: Elements, _ update: Elements, _ place: (Int) -> Int) -> Elements {
        var answer = x
        let parts = x.type.elementType.isComplex ? 2 : 1
        for index in update.bits.indices {
            answer.bits[place(index / parts) * parts + index % parts] = update.bits[index]
        }
        return answer
    }

    /// Each way to combine, with an index that comes twice.
    private static let scatterModes: [OpCase] = ElementType.plainReals.flatMap { type in
        let modes: [(ScatterMode, OpKind, @Sendable (Double, Double) -> Double)] = [
            (.add, .add, { $0 + $1 }), (.sub, .sub, { $0 - $1 }), (.mul, .mul, { $0 * $1 }),
            (.div, .divide, { type.isInteger ? ($0 / $1).rounded(.towardZero) : $0 / $1 }),
            (.max, .maximum, { max($0, $1) }), (.min, .minimum, { min($0, $1) }),
        ]
        return modes.flatMap { mode, kind, combine -> [OpCase] in
            let places = [1, 3, 1, 0]
            // Large enough that an unsigned difference stays one.
            let x = Elements([5], type, [20, 30, 12, 40, 25])
            let update = Elements([4], type, [2, 3, 4, 5])
            var answer = x.reals
            for (place, value) in zip(places, update.reals) { answer[place] = combine(answer[place], value) }
            let expected = Elements([5], .float64, answer)
            return [
                OpCase(.scatterAlongAxis, type, "\(mode)") { builder in
                    let operands = [
                        builder.input(x), builder.input(Elements([4], .int32, places)), builder.input(update),
                        builder.scalar(0),
                    ]
                    builder.output(builder.op(.scatterAlongAxis, operands, [5], type, .scatter(mode)))
                    return [expected]
                },
                OpCase(.scatterND, type, "\(mode)") { builder in
                    let operands = [
                        builder.input(x), builder.input(Elements([4, 1], .int32, places)), builder.input(update),
                    ]
                    builder.output(
                        builder.op(.scatterND, operands, [5], type, bodies: [combinerBody(kind, type)]))
                    return [expected]
                },
            ]
        }
    }
}
