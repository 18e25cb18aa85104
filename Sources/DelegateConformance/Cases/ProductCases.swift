import EngineGraph

/// x · y over broadcast batches, in double precision.
func product(_ x: [Double], _ xShape: [Int], _ y: [Double], _ yShape: [Int]) -> (shape: [Int], values: [Double]) {
    let (m, k, n) = (xShape[xShape.count - 2], xShape[xShape.count - 1], yShape[yShape.count - 1])
    let batch = Grid.broadcast([Array(xShape.dropLast(2)), Array(yShape.dropLast(2))])
    let (xGrid, yGrid) = (Grid(Array(xShape.dropLast(2))), Grid(Array(yShape.dropLast(2))))
    var values: [Double] = []
    values.reserveCapacity(Grid(batch).count * m * n)
    for index in Grid(batch).indices {
        let (xBase, yBase) = (xGrid.broadcast(index) * m * k, yGrid.broadcast(index) * k * n)
        for row in 0..<m {
            for column in 0..<n {
                var sum = 0.0
                for inner in 0..<k { sum += x[xBase + row * k + inner] * y[yBase + inner * n + column] }
                values.append(sum)
            }
        }
    }
    return (batch + [m, n], values)
}

extension OpCase {
    static let productCases: [OpCase] =
        ElementType.plainReals.flatMap { type in
            let rows: [([Int], [Int])] =
                [([3, 5], [5, 4]), ([2, 3, 4], [2, 4, 2]), ([1, 7], [7, 9]), ([2, 1, 3, 2], [3, 2, 5])]
                + (type == .float32
                    ? [
                        ([1, 1], [1, 1]), ([17, 33], [33, 65]), ([64, 64], [64, 64]), ([33, 1], [1, 17]),
                        ([5, 300], [300, 1]),
                        ([0, 3], [3, 4]), ([3, 0], [0, 4]), ([2, 1, 2, 1, 2, 1, 3, 4], [1, 2, 1, 2, 1, 2, 4, 3]),
                        ([2, 3, 4, 5], [2, 3, 5, 4]), ([1, 3, 5], [4, 5, 2]),
                    ] : type.isFloat ? [([17, 33], [33, 65]), ([1, 65], [65, 33])] : [])
            return rows.map { productCase(type, $0, $1) }
        } + [complexProduct]

    private static func productCase(_ type: ElementType, _ xShape: [Int], _ yShape: [Int]) -> OpCase {
        let isPlain = xShape.dropLast(2) == yShape.dropLast(2)
        let kind: OpKind = isPlain ? .batchMatmul : .broadcastingBatchMatmul
        return OpCase(kind, type, "\(xShape.extentsText).\(yShape.extentsText)", .product) { builder in
            let (x, y) = (Elements(xShape, type, .small), Elements(yShape, type, .small, seed: 2))
            let answer = product(x.reals, xShape, y.reals, yShape)
            builder.output(builder.op(kind, [builder.input(x), builder.input(y)], answer.shape, type))
            return [Elements(answer.shape, type.isFloat ? .float64 : type, answer.values)]
        }
    }

    private static let complexProduct = OpCase(.batchMatmul, .complexFloat32, "2x3.3x2", .product) { builder in
        let (x, y) = (Elements([2, 3], .complexFloat32, .small), Elements([3, 2], .complexFloat32, .small, seed: 2))
        builder.output(builder.op(.batchMatmul, [builder.input(x), builder.input(y)], [2, 2], .complexFloat32))
        func part(_ elements: Elements, _ part: Int) -> [Double] {
            stride(from: part, to: elements.count, by: 2).map { elements.reals[$0] }
        }
        func times(_ a: Int, _ b: Int) -> [Double] { product(part(x, a), [2, 3], part(y, b), [3, 2]).values }
        let (rr, ii, ri, ir) = (times(0, 0), times(1, 1), times(0, 1), times(1, 0))
        return [Elements([2, 2], .complexFloat64, (0..<4).flatMap { [rr[$0] - ii[$0], ri[$0] + ir[$0]] })]
    }
}
