import EngineDelegation
import EngineGraph

/// Lets products and convolutions take in what surrounds them: transposes and paddings of their operands before, bias,
/// residual and activation after.
struct EpilogueFusion {
    private var part: Subgraph
    private var ops: [Op?] = []
    private var definitions: [Int?]
    private var useCounts: [Int]

    private let host: any HostEvaluator

    init(_ part: Subgraph, host: any HostEvaluator) {
        self.part = part
        self.host = host
        definitions = part.types.map { _ in nil }
        useCounts = part.types.map { _ in 0 }
        for op in part.ops { for operand in op.operands { useCounts[operand.index] += 1 } }
        for output in part.outputs { useCounts[output.index] += 1 }
    }

    mutating func run() -> Subgraph {
        for op in part.ops {
            let joined = prologue(op) ?? epilogue(op) ?? op
            for result in joined.results { definitions[result.index] = ops.count }
            ops.append(joined)
        }
        part.ops = ops.compactMap { $0 }
        Fusion.removeDead(&part)
        return part
    }

    /// The op that defines `value`, and where it stands.
    private func definition(_ value: Value) -> (op: Op, index: Int)? {
        guard let index = definitions[value.index], let op = ops[index] else { return nil }
        return (op, index)
    }

    private func isFloat(_ value: Value) -> Bool {
        [.float32, .float16, .bfloat16].contains(part[type: value].elementType)
    }

    // MARK: - Before

    private func prologue(_ op: Op) -> Op? {
        switch op.kind {
        case .batchMatmul, .broadcastingBatchMatmul: host.hasKernel(for: .matmul) ? product(op) : nil
        case .conv2d, .conv3d: host.hasKernel(for: .convolution) ? convolution(op) : nil
        default: nil
        }
    }

    /// A product that reads its transposed operands as they are stored.
    private func product(_ op: Op) -> Op? {
        guard isFloat(op.results[0]), part[type: op.operands[0]].rank >= 2, part[type: op.operands[1]].rank >= 2 else {
            return nil
        }
        var attributes = MatmulAttributes()
        var fused = Op(.matmul, operands: op.operands, results: op.results, location: op.location)
        if let source = swapped(op.operands[0]) {
            attributes.transposesX = true
            fused.fused += definition(op.operands[0])?.op.origins ?? []
            fused.operands[0] = source
        }
        if let source = swapped(op.operands[1]) {
            attributes.transposesY = true
            fused.fused += definition(op.operands[1])?.op.origins ?? []
            fused.operands[1] = source
        }
        fused.fused += op.origins
        fused.attributes = .matmul(attributes)
        return fused
    }

    /// The value whose last two dimensions a transpose swaps.
    private func swapped(_ value: Value) -> Value? {
        guard let (op, _) = definition(value), op.kind == .transpose,
            let permutation = part.constants[op.operands[1]]?.integers()
        else { return nil }
        let rank = permutation.count
        var expected = Array(0..<rank)
        guard rank >= 2 else { return nil }
        expected.swapAt(rank - 1, rank - 2)
        return permutation == expected ? op.operands[0] : nil
    }

    /// A convolution that pads its input itself.
    private func convolution(_ op: Op) -> Op? {
        guard isFloat(op.results[0]) else { return nil }
        let spatialRank = op.kind == .conv2d ? 2 : 3
        var attributes = ConvolutionAttributes()
        attributes.padding = Array(repeating: 0, count: 2 * spatialRank)
        var fused = Op(.convolution, operands: op.operands, results: op.results, location: op.location)
        if let (pad, _) = definition(op.operands[0]), pad.kind == .pad, case .padding(.constant) = pad.attributes,
            useCounts[op.operands[0].index] == 1, let amounts = part.constants[pad.operands[1]]?.integers(),
            amounts.count == 2 * (spatialRank + 2), amounts.prefix(4).allSatisfy({ $0 == 0 }),
            amounts.allSatisfy({ $0 >= 0 }),
            let fill = part.constants[pad.operands[2]]?.numbers(), fill.first == 0
        {
            attributes.padding = Array(amounts.dropFirst(4))
            fused.operands[0] = pad.operands[0]
            fused.fused += pad.origins
        }
        fused.fused += op.origins
        fused.attributes = .convolution(attributes)
        return fused
    }

    // MARK: - After

    private mutating func epilogue(_ op: Op) -> Op? {
        if let activation = activation(op) { return absorb(op, activation.value) { $0.activate(activation.kind) } }
        guard OpKind.additions.contains(op.kind), op.operands.count == 2, isFloat(op.results[0]) else { return nil }
        for (inner, other) in [(1, 0), (0, 1)] {
            let value = op.operands[other]
            guard let (producer, _) = definition(op.operands[inner]),
                producer.kind == .matmul || producer.kind == .convolution,
                part[type: value].elementType == part[type: op.results[0]].elementType
            else { continue }
            if isBias(value, of: producer), let fused = absorb(op, op.operands[inner], { $0.addBias(value) }) {
                return fused
            }
            if part[type: value].elementCount == part[type: op.results[0]].elementCount,
                part[type: op.results[0]].elementCount == part[type: op.operands[inner]].elementCount,
                let fused = absorb(op, op.operands[inner], { $0.addResidual(value) })
            {
                return fused
            }
        }
        return nil
    }

    /// An op that applies an activation to one value.
    private func activation(_ op: Op) -> (value: Value, kind: Activation)? {
        switch op.kind {
        case .relu: return (op.operands[0], .relu)
        case .sigmoid: return (op.operands[0], .sigmoid)
        case .silu: return (op.operands[0], .silu)
        case .tanh: return (op.operands[0], .tanh)
        case .gelu:
            guard case .approximation(let approximation) = op.attributes else { return (op.operands[0], .gelu(.none)) }
            return (op.operands[0], .gelu(approximation))
        case .broadcastingMaximum, .maximum, .broadcastingMinimum, .minimum:
            for (value, bound) in [(0, 1), (1, 0)] {
                guard let tensor = part.constants[op.operands[bound]], tensor.type.elementCount == 1,
                    tensor.type.rank <= part[type: op.operands[value]].rank, let number = tensor.numbers()?.first,
                    !number.isNaN
                else { continue }
                let isLow = op.kind == .broadcastingMaximum || op.kind == .maximum
                return (
                    op.operands[value],
                    isLow
                        ? .clamp(low: Float(number), high: .infinity) : .clamp(low: -.infinity, high: Float(number))
                )
            }
            return nil
        default: return nil
        }
    }

    /// A vector over the last dimension of a product, or over the channels of a convolution.
    private func isBias(_ value: Value, of producer: Op) -> Bool {
        let shape = part[type: value].shape
        let result = part[type: producer.results[0]].shape
        guard shape.count <= result.count else { return false }
        let aligned = Array(repeating: 1, count: result.count - shape.count) + shape
        let channel = producer.kind == .matmul ? result.count - 1 : 1
        return aligned.indices.allSatisfy { aligned[$0] == ($0 == channel ? result[channel] : 1) }
    }

    /// `op` done by the producer of `value`, changed by `change`; nil where `value` is read elsewhere too, or where the
    /// producer can't take the change.
    private mutating func absorb(_ op: Op, _ value: Value, _ change: (inout Op) -> Bool) -> Op? {
        guard useCounts[value.index] == 1, let (producer, index) = definition(value),
            producer.kind == .matmul || producer.kind == .convolution,
            part[type: value].shape == part[type: op.results[0]].shape
        else { return nil }
        var fused = producer
        guard change(&fused) else { return nil }
        fused.fused = producer.origins + op.origins
        fused.results = op.results
        fused.location = op.location
        ops[index] = nil
        return fused
    }
}

extension Op {
    fileprivate mutating func activate(_ activation: Activation) -> Bool {
        switch attributes {
        case .matmul(var matmul):
            guard let joined = matmul.activation.followed(by: activation) else { return false }
            matmul.activation = joined
            attributes = .matmul(matmul)
        case .convolution(var convolution):
            guard let joined = convolution.activation.followed(by: activation) else { return false }
            convolution.activation = joined
            attributes = .convolution(convolution)
        default: return false
        }
        return true
    }

    fileprivate mutating func addBias(_ value: Value) -> Bool {
        switch attributes {
        case .matmul(var matmul):
            guard !matmul.hasBias, !matmul.hasResidual, matmul.activation == .none else { return false }
            matmul.hasBias = true
            attributes = .matmul(matmul)
        case .convolution(var convolution):
            guard !convolution.hasBias, !convolution.hasResidual, convolution.activation == .none else { return false }
            convolution.hasBias = true
            attributes = .convolution(convolution)
        default: return false
        }
        operands.append(value)
        return true
    }

    fileprivate mutating func addResidual(_ value: Value) -> Bool {
        switch attributes {
        case .matmul(var matmul):
            guard !matmul.hasResidual, matmul.activation == .none else { return false }
            matmul.hasResidual = true
            attributes = .matmul(matmul)
        case .convolution(var convolution):
            guard !convolution.hasResidual, convolution.activation == .none else { return false }
            convolution.hasResidual = true
            attributes = .convolution(convolution)
        default: return false
        }
        operands.append(value)
        return true
    }
}

extension Activation {
    /// The one activation that does what this one and then `next` do.
    fileprivate func followed(by next: Activation) -> Activation? {
        switch (self, next) {
        case (.none, _): next
        // max(x, low), then min(x, high): the converter's order for both bounds.
        case (.clamp(let low, .infinity), .clamp(-.infinity, let high)): .clamp(low: low, high: high)
        case (.relu, .clamp(-.infinity, let high)): .clamp(low: 0, high: high)
        default: nil
        }
    }
}
