import EngineGraph

/// The sizes of a convolution, over any number of spatial dimensions.
struct Convolution: Sendable {
    let input: [Int]
    let weight: [Int]
    var stride: [Int]
    var dilation: [Int]
    var groups: Int
    /// Before and after each spatial dimension, in turn.
    var padding: [Int]
    var outputPadding: [Int]

    init(
        _ input: [Int], _ weight: [Int], stride: [Int]? = nil, dilation: [Int]? = nil, groups: Int = 1,
        padding: [Int]? = nil, outputPadding: [Int]? = nil
    ) {
        let rank = input.count - 2
        self.input = input
        self.weight = weight
        self.stride = stride ?? Array(repeating: 1, count: rank)
        self.dilation = dilation ?? Array(repeating: 1, count: rank)
        self.groups = groups
        self.padding = padding ?? Array(repeating: 0, count: 2 * rank)
        self.outputPadding = outputPadding ?? Array(repeating: 0, count: rank)
    }

    private var spatial: Range<Int> { 0..<(input.count - 2) }
    var text: String {
        let windows = "\(input.extentsText).\(weight.extentsText).s\(stride.extentsText).d\(dilation.extentsText)"
        let edges = padding.contains { $0 != 0 } ? ".p\(padding.extentsText)" : ""
        return windows + ".g\(groups)" + edges
    }

    var shape: [Int] {
        [input[0], weight[0]]
            + spatial.map { d in
                let room = input[d + 2] + padding[2 * d] + padding[2 * d + 1] - dilation[d] * (weight[d + 2] - 1) - 1
                return room / stride[d] + 1
            }
    }

    func forward(_ x: [Double], _ w: [Double]) -> [Double] {
        let (source, kernel) = (Grid(input), Grid(weight))
        let taps = Grid(Array(weight.dropFirst(2)))
        let (channels, filters) = (weight[1], weight[0] / groups)
        return Grid(shape).indices.map { index in
            var sum = 0.0
            let first = index[1] / filters * channels
            for tap in taps.indices {
                let place = spatial.map { index[$0 + 2] * stride[$0] + tap[$0] * dilation[$0] - padding[2 * $0] }
                guard spatial.allSatisfy({ (0..<input[$0 + 2]).contains(place[$0]) }) else { continue }
                var from = source.flat([index[0], first] + place)
                var weight = kernel.flat([index[1], 0] + tap)
                for _ in 0..<channels {
                    sum += x[from] * w[weight]
                    from += source.strides[1]
                    weight += kernel.strides[1]
                }
            }
            return sum
        }
    }

    /// The shape of the transposed convolution; its weight is [input channels, output channels a group, …].
    var transposedShape: [Int] {
        [input[0], weight[1] * groups]
            + spatial.map { d in
                (input[d + 2] - 1) * stride[d] + dilation[d] * (weight[d + 2] - 1) + 1 + outputPadding[d]
                    - padding[2 * d] - padding[2 * d + 1]
            }
    }

    func transposed(_ x: [Double], _ w: [Double]) -> [Double] {
        let (target, kernel) = (Grid(transposedShape), Grid(weight))
        let taps = Grid(Array(weight.dropFirst(2)))
        let channels = input[1] / groups
        var result = [Double](repeating: 0, count: target.count)
        for (position, index) in Grid(input).indices.enumerated() {
            let first = index[1] / channels * weight[1]
            for tap in taps.indices {
                let place = spatial.map { index[$0 + 2] * stride[$0] + tap[$0] * dilation[$0] - padding[2 * $0] }
                guard spatial.allSatisfy({ (0..<transposedShape[$0 + 2]).contains(place[$0]) }) else { continue }
                for filter in 0..<weight[1] {
                    result[target.flat([index[0], first + filter] + place)] +=
                        x[position] * w[kernel.flat([index[1], filter] + tap)]
                }
            }
        }
        return result
    }
}

extension OpCase {
    static let convolutionCases: [OpCase] = ElementType.plainFloats.flatMap { type in
        planes(type).map { forward(.conv2d, type, $0) } + volumes.map { forward(.conv3d, type, $0) }
            + transposedPlanes.map { transposed(.convTranspose2d, type, $0) }
            + transposedVolumes.map { transposed(.convTranspose3d, type, $0) }
    }

    private static func planes(_ type: ElementType) -> [Convolution] {
        let few: [Convolution] = [
            Convolution([1, 3, 7, 6], [4, 3, 3, 3]), Convolution([2, 4, 5, 5], [6, 4, 1, 1]),
            Convolution([1, 4, 9, 9], [4, 1, 3, 3], groups: 4),
        ]
        return type == .float32 ? few + morePlanes : few
    }

    private static let morePlanes: [Convolution] = [
        Convolution([1, 2, 9, 11], [3, 2, 3, 2], stride: [2, 3]),
        Convolution([1, 2, 9, 11], [3, 2, 3, 3], dilation: [2, 1]),
        Convolution([2, 6, 6, 5], [4, 3, 3, 3], stride: [1, 2], groups: 2),
        Convolution([1, 17, 12, 13], [19, 17, 3, 3]), Convolution([1, 3, 32, 32], [8, 3, 7, 7], stride: [2, 2]),
        Convolution([1, 1, 1, 1], [1, 1, 1, 1]), Convolution([3, 8, 5, 5], [16, 1, 5, 5], groups: 8),
        Convolution([1, 2, 1, 40], [2, 2, 1, 9]),
    ]

    private static let volumes = [
        Convolution([1, 2, 4, 5, 6], [3, 2, 2, 3, 3]),
        Convolution([1, 4, 5, 5, 5], [4, 2, 3, 2, 2], stride: [2, 1, 2], dilation: [1, 2, 1], groups: 2),
    ]

    private static let transposedPlanes = [
        Convolution([1, 3, 4, 5], [3, 2, 3, 3]),
        Convolution([2, 4, 4, 3], [4, 3, 3, 2], stride: [2, 3], padding: [1, 1, 0, 0], outputPadding: [1, 0]),
        Convolution([1, 4, 3, 3], [4, 2, 3, 3], stride: [2, 2], dilation: [2, 1], groups: 2),
    ]

    private static let transposedVolumes = [
        Convolution([1, 2, 3, 3, 3], [2, 3, 2, 2, 2], stride: [2, 1, 2]),
        Convolution([1, 4, 2, 3, 3], [4, 1, 2, 3, 2], groups: 4, padding: [0, 0, 1, 1, 0, 0]),
    ]

    private static func forward(_ kind: OpKind, _ type: ElementType, _ sizes: Convolution) -> OpCase {
        OpCase(kind, type, sizes.text, .product) { builder in
            let (x, w) = (Elements(sizes.input, type, .small), Elements(sizes.weight, type, .small, seed: 2))
            let operands = [
                builder.input(x), builder.constant(w), builder.vector(sizes.stride), builder.vector(sizes.dilation),
                builder.scalar(sizes.groups),
            ]
            builder.output(builder.op(kind, operands, sizes.shape, type))
            return [Elements(sizes.shape, .float64, sizes.forward(x.reals, w.reals))]
        }
    }

    private static func transposed(_ kind: OpKind, _ type: ElementType, _ sizes: Convolution) -> OpCase {
        OpCase(kind, type, sizes.text, .product) { builder in
            let (x, w) = (Elements(sizes.input, type, .small), Elements(sizes.weight, type, .small, seed: 2))
            let operands = [
                builder.input(x), builder.constant(w), builder.vector(sizes.stride),
                // One number a dimension, for both of its sides.
                builder.vector(stride(from: 0, to: sizes.padding.count, by: 2).map { sizes.padding[$0] }),
                builder.vector(sizes.dilation), builder.vector(sizes.outputPadding), builder.scalar(sizes.groups),
            ]
            builder.output(builder.op(kind, operands, sizes.transposedShape, type))
            return [Elements(sizes.transposedShape, .float64, sizes.transposed(x.reals, w.reals))]
        }
    }
}
