import EngineGraph

extension OpCase {
    static let windowCases: [OpCase] = poolCases + interpolationCases + coordinateCases

    private struct Pool {
        let input: [Int]
        let kernel: [Int]
        let stride: [Int]
        let dilation: [Int]
        var ceiling = false

        var text: String {
            "\(input.extentsText).k\(kernel.extentsText).s\(stride.extentsText).d\(dilation.extentsText)"
                + (ceiling ? ".ceiling" : "")
        }
        var shape: [Int] {
            input.prefix(2)
                + kernel.indices.map { d in
                    let room = input[d + 2] - dilation[d] * (kernel[d] - 1) - 1
                    return (room + (ceiling ? stride[d] - 1 : 0)) / stride[d] + 1
                }
        }

        func windows() -> [[Int]] {
            let grid = Grid(input)
            return Grid(shape).indices.map { index in
                Grid(kernel).indices.compactMap { tap in
                    let place = kernel.indices.map { index[$0 + 2] * stride[$0] + tap[$0] * dilation[$0] }
                    guard kernel.indices.allSatisfy({ place[$0] < input[$0 + 2] }) else { return nil }
                    return grid.flat(index.prefix(2) + place)
                }
            }
        }
    }

    private static let pools: [Pool] = [
        Pool(input: [1, 2, 6, 7], kernel: [2, 3], stride: [2, 2], dilation: [1, 1]),
        Pool(input: [2, 3, 8, 8], kernel: [3, 3], stride: [1, 2], dilation: [2, 1]),
        Pool(input: [1, 2, 6, 6], kernel: [3, 3], stride: [2, 2], dilation: [1, 1], ceiling: true),
        Pool(input: [1, 2, 4, 5, 6], kernel: [2, 2, 3], stride: [2, 1, 2], dilation: [1, 1, 1]),
        Pool(input: [1, 1, 1, 1], kernel: [1, 1], stride: [1, 1], dilation: [1, 1]),
    ]

    private static let poolCases: [OpCase] = ElementType.plainReals.flatMap { type in
        pools.flatMap { pool in
            let isVolume = pool.kernel.count == 3
            let kinds: [OpKind] =
                (isVolume ? [.maxPool3d] : [.maxPool2d])
                + (pool.ceiling ? [] : isVolume ? [.sumPool3d] : [.sumPool2d])
            return kinds.map { kind in
                OpCase(kind, type, pool.text) { builder in
                    let isMax = kind == .maxPool2d || kind == .maxPool3d
                    let x = Elements(pool.input, type, .small)
                    var operands = [
                        builder.input(x), builder.vector(pool.kernel), builder.vector(pool.stride),
                        builder.vector(pool.dilation),
                    ]
                    if isMax { operands.append(builder.scalar(pool.ceiling ? 1 : 0, .bool)) }
                    builder.output(builder.op(kind, operands, pool.shape, type))
                    let values = x.reals
                    let answers = pool.windows().map { window in
                        isMax ? window.map { values[$0] }.max() ?? 0 : window.reduce(0) { $0 + values[$1] }
                    }
                    return [Elements(pool.shape, type.isFloat ? .float64 : type, answers)]
                }
            }
        }
    }

    // MARK: Interpolation

    /// The value of a grid at a point, which is clamped to it.
    private static func sample(_ values: [Double], _ shape: [Int], _ point: [Double], _ mode: InterpolationMode)
        -> Double
    {
        let grid = Grid(shape)
        let place = zip(point, shape).map { min(max($0, 0), Double($1 - 1)) }
        if mode == .nearest { return values[grid.flat(place.map { Int($0.rounded(.toNearestOrEven)) })] }
        var sum = 0.0
        for corner in 0..<(1 << shape.count) {
            var weight = 1.0
            var index: [Int] = []
            for (dimension, extent) in shape.enumerated() {
                let low = Int(place[dimension].rounded(.down))
                let part = place[dimension] - Double(low)
                let isHigh = corner >> dimension & 1 == 1
                weight *= isHigh ? part : 1 - part
                index.append(isHigh ? min(low + 1, extent - 1) : low)
            }
            if weight != 0 { sum += weight * values[grid.flat(index)] }
        }
        return sum
    }

    private static let interpolationCases: [OpCase] = ElementType.plainFloats.flatMap { type in
        let rows: [([Int], [Int], Bool)] = [
            ([5], [10], false), ([3, 4], [6, 8], false), ([1, 2, 4, 4], [1, 2, 7, 7], true), ([6, 6], [3, 2], false),
            ([1, 2, 3, 3], [1, 2, 12, 12], false),
        ]
        return rows.flatMap { source, target, alignsCorners in
            [InterpolationMode.linear, .nearest].map { interpolation(type, source, target, alignsCorners, $0) }
        }
    }

    private static func interpolation(
        _ type: ElementType, _ source: [Int], _ target: [Int], _ alignsCorners: Bool, _ mode: InterpolationMode
    ) -> OpCase {
        var scales: [Double] = []
        for (from, to) in zip(source, target) {
            let aligned = alignsCorners && from > 1
            scales.append(aligned ? Double(to - 1) / Double(from - 1) : Double(to) / Double(from))
        }
        let (scale, offset) = (scales, scales.map { alignsCorners ? 0.5 * (1 - $0) : 0.0 })
        return OpCase(.interpolate, type, "\(mode).\(source.extentsText).to.\(target.extentsText)") { builder in
            let x = Elements(source, type, .small)
            let operands = [
                builder.input(x), builder.vector(target),
                builder.constant(Elements([source.count], .float32, scale)),
                builder.constant(Elements([source.count], .float32, offset)),
            ]
            builder.output(builder.op(.interpolate, operands, target, type, .interpolation(mode)))
            let values = x.reals
            var answers: [Double] = []
            for index in Grid(target).indices {
                var point: [Double] = []
                for (d, place) in index.enumerated() {
                    point.append((Double(place) + 0.5 - offset[d]) / scale[d] - 0.5)
                }
                answers.append(sample(values, source, point, mode))
            }
            return [Elements(target, .float64, answers)]
        }
    }

    private static let coordinateCases: [OpCase] = ElementType.plainFloats.flatMap { type in
        [InterpolationMode.linear, .nearest].map { mode in
            OpCase(.interpolateCoordinates, type, "\(mode).4x5") { builder in
                let x = Elements([4, 5], type, .small)
                // Between points, on them, halfway, and outside.
                let points: [[Double]] = [
                    [0.25, 1.75], [2, 3], [0.5, 1.5], [-3, 2.25], [9, 9], [1.5, 0], [2.75, -0.25], [3, 4],
                ]
                let coordinates = Elements([8, 2], .float32, points.flatMap { $0 })
                let operands = [builder.input(x), builder.input(coordinates)]
                builder.output(builder.op(.interpolateCoordinates, operands, [8], type, .interpolation(mode)))
                return [Elements([8], .float64, points.map { sample(x.reals, [4, 5], $0, mode) })]
            }
        }
    }
}
