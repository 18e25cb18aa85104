import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Inside `Activation`, `tanh` is a case.
private func hyperbolicTangent(_ x: Double) -> Double { tanh(x) }

extension Activation {
    static let all: [Activation] = [
        .none, .relu, .sigmoid, .silu, .tanh, .gelu(.none), .gelu(.tanh), .gelu(.sigmoid), .clamp(low: -1, high: 2),
    ]

    func apply(_ x: Double) -> Double {
        switch self {
        case .none: x
        case .relu: max(x, 0)
        case .sigmoid: 1 / (1 + exp(-x))
        case .silu: x / (1 + exp(-x))
        case .tanh: hyperbolicTangent(x)
        case .gelu(let approximation): geluValue(x, approximation)
        case .clamp(let low, let high): min(max(x, Double(low)), Double(high))
        }
    }

    var text: String {
        switch self {
        case .none: "plain"
        case .gelu(let approximation): "gelu.\(approximation)"
        case .clamp: "clamp"
        case .relu: "relu"
        case .sigmoid: "sigmoid"
        case .silu: "silu"
        case .tanh: "tanh"
        }
    }
}

extension OpCase {
    static let fusedCases: [OpCase] =
        chainCases + matmulCases + fusedConvolutionCases + normCases + attentionCases + patternCases

    private static let fusedTypes: [ElementType] = [.float32, .float16, .bfloat16]
    /// Bias and residual, with and without.
    private static let epilogues = [(false, false), (true, false), (false, true), (true, true)]

    // MARK: Products

    private static let matmulCases: [OpCase] = fusedTypes.flatMap { type in
        let shapes: [([Int], [Int])] =
            [([5, 7], [7, 6])]
            + (type == .float32 ? [([2, 3, 4], [4, 5]), ([1, 65], [65, 33]), ([33, 64], [64, 65])] : [])
        let full: [OpCase] = Activation.all.flatMap { activation in
            epilogues.map { matmul(type, [5, 7], [7, 6], $0.0, $0.1, activation) }
        }
        let transposes = shapes.flatMap { x, y in
            [(true, false), (false, true), (true, true)].map {
                matmul(type, x, y, true, true, .relu, transposes: $0)
            }
        }
        return full + shapes.dropFirst().map { matmul(type, $0, $1, true, true, .relu) } + transposes
    }

    private static func swapped(_ elements: Elements) -> Elements {
        let rank = elements.shape.count
        var shape = elements.shape
        shape.swapAt(rank - 1, rank - 2)
        let grid = Grid(elements.shape)
        return elements.moved(to: shape) { index in
            var own = index
            own.swapAt(rank - 1, rank - 2)
            return grid.flat(own)
        }
    }

    private static func matmul(
        _ type: ElementType, _ xShape: [Int], _ yShape: [Int], _ hasBias: Bool, _ hasResidual: Bool,
        _ activation: Activation, transposes: (Bool, Bool) = (false, false)
    ) -> OpCase {
        let marks = (hasBias ? ".bias" : "") + (hasResidual ? ".residual" : "")
        let turned = (transposes.0 ? ".xt" : "") + (transposes.1 ? ".yt" : "")
        let variant = "\(xShape.extentsText).\(yShape.extentsText).\(activation.text)\(marks)\(turned)"
        return OpCase(.matmul, type, variant, .product) { builder in
            let (x, y) = (Elements(xShape, type, .small), Elements(yShape, type, .unit, seed: 2))
            var (shape, values) = product(x.reals, xShape, y.reals, yShape)
            let bias = Elements([shape[shape.count - 1]], type, .small, seed: 3)
            let residual = Elements(shape, type, .small, seed: 4)
            let (biases, residuals) = (bias.reals, residual.reals)
            var operands = [
                builder.input(transposes.0 ? swapped(x) : x), builder.constant(transposes.1 ? swapped(y) : y),
            ]
            var attributes = MatmulAttributes()
            (attributes.transposesX, attributes.transposesY) = transposes
            (attributes.hasBias, attributes.hasResidual, attributes.activation) = (hasBias, hasResidual, activation)
            if hasBias {
                operands.append(builder.constant(bias))
                for index in values.indices { values[index] += biases[index % bias.count] }
            }
            if hasResidual {
                operands.append(builder.input(residual))
                for index in values.indices { values[index] += residuals[index] }
            }
            builder.output(builder.op(.matmul, operands, shape, type, .matmul(attributes)))
            return [Elements(shape, .float64, values.map(activation.apply))]
        }
    }

    private static let fusedConvolutionCases: [OpCase] = fusedTypes.flatMap { type in
        let padded = Convolution([1, 3, 6, 7], [4, 3, 3, 3], padding: [1, 1, 1, 1])
        let others: [Convolution] =
            type == .float32
            ? [
                Convolution([2, 4, 7, 6], [4, 1, 3, 3], stride: [2, 2], groups: 4, padding: [0, 1, 1, 0]),
                Convolution([1, 8, 9, 9], [8, 8, 1, 1]),
                Convolution([1, 3, 17, 15], [16, 3, 5, 5], padding: [2, 2, 2, 2]),
                Convolution([1, 2, 4, 5, 4], [3, 2, 3, 3, 3], padding: [1, 1, 1, 1, 1, 1]),
            ] : []
        return Activation.all.flatMap { activation in
            epilogues.map { convolution(type, padded, $0.0, $0.1, activation) }
        } + others.map { convolution(type, $0, true, true, .silu) }
    }

    private static func convolution(
        _ type: ElementType, _ sizes: Convolution, _ hasBias: Bool, _ hasResidual: Bool, _ activation: Activation
    ) -> OpCase {
        let marks = (hasBias ? ".bias" : "") + (hasResidual ? ".residual" : "")
        return OpCase(.convolution, type, "\(sizes.text).\(activation.text)\(marks)", .product) { builder in
            let (x, w) = (Elements(sizes.input, type, .small), Elements(sizes.weight, type, .unit, seed: 2))
            var values = sizes.forward(x.reals, w.reals)
            let bias = Elements([sizes.weight[0]], type, .small, seed: 3)
            let residual = Elements(sizes.shape, type, .small, seed: 4)
            let (biases, residuals) = (bias.reals, residual.reals)
            var operands = [
                builder.input(x), builder.constant(w), builder.vector(sizes.stride), builder.vector(sizes.dilation),
                builder.scalar(sizes.groups),
            ]
            var attributes = ConvolutionAttributes()
            attributes.padding = sizes.padding
            (attributes.hasBias, attributes.hasResidual, attributes.activation) = (hasBias, hasResidual, activation)
            let plane = sizes.shape.dropFirst(2).reduce(1, *)
            if hasBias {
                operands.append(builder.constant(bias))
                for index in values.indices { values[index] += biases[index / plane % bias.count] }
            }
            if hasResidual {
                operands.append(builder.input(residual))
                for index in values.indices { values[index] += residuals[index] }
            }
            builder.output(builder.op(.convolution, operands, sizes.shape, type, .convolution(attributes)))
            return [Elements(sizes.shape, .float64, values.map(activation.apply))]
        }
    }
}
