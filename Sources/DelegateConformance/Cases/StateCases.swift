import EngineGraph

extension OpCase {
    static let stateCases: [OpCase] =
        ElementType.plain.map { type in
            OpCase(.loadState, type, "3x4", .exact) { builder in
                let held = Elements([3, 4], type, .codes)
                builder.output(builder.op(.loadState, [builder.state(held)], [3, 4], type))
                return [held, held]
            }
        }
        + ElementType.plain.map { type in
            OpCase(.storeState, type, "3x4", .exact) { builder in
                let (held, given) = (Elements([3, 4], type, .codes), Elements([3, 4], type, .codes, seed: 2))
                let state = builder.state(held)
                _ = builder.ops(.storeState, [state, builder.input(given)], [])
                return [given]
            }
        } + [readThenWrite, cache]

    /// What was read before the write stays as it was.
    private static let readThenWrite = OpCase(.storeState, .float32, "swap") { builder in
        let (held, given) = (Elements([5], .float32, .small), Elements([5], .float32, .small, seed: 2))
        let state = builder.state(held)
        let old = builder.op(.loadState, [state], [5], .float32)
        let input = builder.input(given)
        let sum = builder.op(.add, [old, input], [5], .float32)
        _ = builder.ops(.storeState, [state, sum], [])
        builder.output(builder.op(.mul, [old, input], [5], .float32))
        let pairs = zip(held.reals, given.reals)
        return [
            Elements([5], .float64, pairs.map { $0 * $1 }), Elements([5], .float64, pairs.map { $0 + $1 }),
        ]
    }

    /// A row of a cache is replaced, and the whole is read.
    private static let cache = OpCase(.storeState, .float32, "cache") { builder in
        let (held, row) = (Elements([4, 3], .float32, .small), Elements([1, 3], .float32, .small, seed: 2))
        let state = builder.state(held)
        let old = builder.op(.loadState, [state], [4, 3], .float32)
        let bounds = [[2, 0], [3, 3], [1, 1]].map { builder.vector($0) }
        let next = builder.op(.sliceUpdate, [old] + bounds + [builder.input(row)], [4, 3], .float32)
        _ = builder.ops(.storeState, [state, next], [])
        builder.output(builder.op(.reduceSum, [next, builder.vector([0])], [1, 3], .float32))
        var values = held.reals
        values.replaceSubrange(6..<9, with: row.reals)
        let sums = (0..<3).map { column in (0..<4).reduce(0) { $0 + values[$1 * 3 + column] } }
        return [Elements([1, 3], .float64, sums), Elements([4, 3], .float64, values)]
    }
}
