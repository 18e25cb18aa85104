import EngineDelegation
import EngineGraph

/// Products and convolutions with what surrounds them: transposes and paddings of their operands before, bias, residual
/// and activation after, also behind a reshape. Each pattern takes in one op.
enum EpiloguePatterns {
    static let all = [
        FusionPattern("matmul", "a product", roots: [.batchMatmul, .broadcastingBatchMatmul], fuse: product),
        FusionPattern(
            "matmul_transpose", "a product that reads a transposed operand as it is stored", roots: [.matmul],
            fuse: transposed),
        FusionPattern(
            "convolution", "a convolution, plain or transposed",
            roots: [.conv2d, .conv3d, .convTranspose2d, .convTranspose3d], fuse: convolution),
        FusionPattern("padding", "a convolution of an input padded with zeros", roots: [.convolution], fuse: padded),
        FusionPattern("bias", "a product or a convolution + a vector", roots: OpKind.additions, fuse: bias),
        FusionPattern("residual", "a product or a convolution + a tensor", roots: OpKind.additions, fuse: residual),
        FusionPattern(
            "activation", "relu, sigmoid, silu, tanh, gelu of a product or a convolution",
            roots: [.relu, .sigmoid, .silu, .tanh, .gelu], fuse: activation),
        FusionPattern(
            "clamp", "a product or a convolution within constant bounds",
            roots: [.broadcastingMaximum, .maximum, .broadcastingMinimum, .minimum], fuse: clamp),
    ]

    // MARK: - Before

    @Sendable private static func product(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard matcher.type(root.results[0]).elementType.isKernelFloat,
            root.operands.allSatisfy({ matcher.type($0).rank >= 2 })
        else { return nil }
        var op = Op(
            .matmul, operands: root.operands, results: root.results, attributes: .matmul(MatmulAttributes()),
            location: root.location)
        op.pattern = "matmul"
        return Rewrite(op)
    }

    @Sendable private static func transposed(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard case .matmul(var attributes) = root.attributes else { return nil }
        for index in 0..<2 {
            guard let source = swapped(root.operands[index], matcher) else { continue }
            var op = root
            op.operands[index] = source
            if index == 0 { attributes.transposesX.toggle() } else { attributes.transposesY.toggle() }
            op.attributes = .matmul(attributes)
            return Rewrite(op)
        }
        return nil
    }

    /// The value whose last two dimensions a transpose swaps.
    private static func swapped(_ value: Value, _ matcher: PatternMatcher) -> Value? {
        guard let transpose = matcher.op(value, .transpose), let permutation = matcher.permutation(of: transpose),
            permutation.count >= 2
        else { return nil }
        var expected = Array(permutation.indices)
        expected.swapAt(permutation.count - 1, permutation.count - 2)
        return permutation == expected ? transpose.operands[0] : nil
    }

    @Sendable private static func convolution(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        let isTransposed = root.kind == .convTranspose2d || root.kind == .convTranspose3d
        guard matcher.type(root.results[0]).elementType.isKernelFloat else { return nil }
        var attributes = ConvolutionAttributes()
        attributes.isTransposed = isTransposed
        if !isTransposed { attributes.padding = Array(repeating: 0, count: root.kind == .conv2d ? 4 : 6) }
        var op = Op(
            .convolution, operands: root.operands, results: root.results, attributes: .convolution(attributes),
            location: root.location)
        op.pattern = "convolution"
        return Rewrite(op)
    }

    @Sendable private static func padded(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard case .convolution(var attributes) = root.attributes, !attributes.isTransposed,
            attributes.padding.allSatisfy({ $0 == 0 }), let pad = matcher.owned(root.operands[0], .pad),
            case .padding(.constant) = pad.attributes, let amounts = matcher.integers(pad.operands[1]),
            amounts.count == attributes.padding.count + 4, amounts.prefix(4).allSatisfy({ $0 == 0 }),
            amounts.allSatisfy({ $0 >= 0 }), matcher.scalar(pad.operands[2]) == 0
        else { return nil }
        attributes.padding = Array(amounts.dropFirst(4))
        var op = root
        op.operands[0] = pad.operands[0]
        op.attributes = .convolution(attributes)
        op.pattern = (root.pattern ?? "convolution") + "+padding"
        return Rewrite(op)
    }

    // MARK: - After

    @Sendable private static func bias(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        for (inner, vector) in matcher.pairs(root) {
            guard let producer = Producer(inner, root, matcher), isVector(vector, producer, root, matcher) else {
                continue
            }
            if let rewrite = producer.taking(root, as: "bias", vector, { $0.hasBias = true }) { return rewrite }
        }
        return nil
    }

    @Sendable private static func residual(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        for (inner, other) in matcher.pairs(root) {
            guard let producer = Producer(inner, root, matcher),
                matcher.type(other).elementType == producer.elementType,
                matcher.type(other).elementCount == matcher.type(root.results[0]).elementCount,
                !isVector(other, producer, root, matcher) || producer.epilogue.hasBias
            else { continue }
            if let rewrite = producer.taking(root, as: "residual", other, { $0.hasResidual = true }) { return rewrite }
        }
        return nil
    }

    @Sendable private static func activation(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        let activation: Activation
        switch root.kind {
        case .relu: activation = .relu
        case .sigmoid: activation = .sigmoid
        case .silu: activation = .silu
        case .tanh: activation = .tanh
        default:
            if case .approximation(let given) = root.attributes {
                activation = .gelu(given)
            } else {
                activation = .gelu(.none)
            }
        }
        return Producer(root.operands[0], root, matcher)?.activated(root, as: root.kind.rawValue, activation)
    }

    @Sendable private static func clamp(_ root: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard let (value, bound) = matcher.splitScalar(root), !bound.isNaN,
            matcher.type(value).rank == matcher.type(root.results[0]).rank
        else { return nil }
        let isLow = root.kind == .broadcastingMaximum || root.kind == .maximum
        let activation = Activation.clamp(
            low: isLow ? Float(bound) : -.infinity, high: isLow ? .infinity : Float(bound))
        return Producer(value, root, matcher)?.activated(root, as: "clamp", activation)
    }

    /// Whether `value` holds a number for each column of a product, or for each channel of a convolution, aligned with
    /// `root`'s result.
    private static func isVector(_ value: Value, _ producer: Producer, _ root: Op, _ matcher: PatternMatcher) -> Bool {
        let shape = matcher.type(value).shape
        let result = matcher.type(root.results[0]).shape
        guard matcher.type(value).elementType == producer.elementType, shape.count <= result.count,
            let channel = producer.channel(in: result)
        else { return false }
        let aligned = Array(repeating: 1, count: result.count - shape.count) + shape
        return aligned.indices.allSatisfy { aligned[$0] == ($0 == channel ? result[channel] : 1) }
    }
}

/// What a product and a convolution do on the way to memory.
private struct Epilogue {
    var hasBias: Bool
    var hasResidual: Bool
    var activation: Activation
}

/// A product or a convolution that only `root` reads, perhaps behind a reshape.
private struct Producer {
    private let op: Op
    private let slot: Int
    /// The reshape between them, where there is one.
    private let view: (op: Op, slot: Int)?
    private let shape: [Int]
    private let matcher: PatternMatcher
    let elementType: ElementType
    private(set) var epilogue: Epilogue

    init?(_ value: Value, _ root: Op, _ matcher: PatternMatcher) {
        var inner = value
        var view: (op: Op, slot: Int)?
        if let reshape = matcher.owned(value, .reshape, .expandDims, .shrinkDims), let slot = matcher.slot(of: value) {
            view = (reshape, slot)
            inner = reshape.operands[0]
        }
        guard let op = matcher.owned(inner, .matmul, .convolution), let slot = matcher.slot(of: inner) else {
            return nil
        }
        let type = matcher.type(value)
        let result = matcher.type(root.results[0])
        guard type.elementType == result.elementType else { return nil }
        if type.shape != result.shape {
            // A product with fewer dimensions has the same rows.
            guard view == nil, op.kind == .matmul, type.rank < result.rank,
                result.shape.dropLast(type.rank).allSatisfy({ $0 == 1 }),
                result.shape.suffix(type.rank) == type.shape[...]
            else { return nil }
        }
        switch op.attributes {
        case .matmul(let given):
            epilogue = Epilogue(hasBias: given.hasBias, hasResidual: given.hasResidual, activation: given.activation)
        case .convolution(let given):
            epilogue = Epilogue(hasBias: given.hasBias, hasResidual: given.hasResidual, activation: given.activation)
        default: return nil
        }
        self.op = op
        self.slot = slot
        self.view = view
        self.matcher = matcher
        shape = matcher.type(inner).shape
        elementType = type.elementType
    }

    /// The dimension of `result` that counts the columns, or the channels.
    func channel(in result: [Int]) -> Int? {
        let own = op.kind == .matmul ? shape.count - 1 : 1
        guard view != nil else { return own + result.count - shape.count }
        // The one with as much before it, of as many: a reshape keeps the order.
        let before = shape[..<own].reduce(1, *)
        var count = 1
        for (dimension, extent) in result.enumerated() {
            if count == before, extent == shape[own], extent > 1 { return dimension }
            count *= extent
        }
        return nil
    }

    func taking(_ root: Op, as name: String, _ operand: Value, _ change: (inout Epilogue) -> Void) -> Rewrite? {
        guard epilogue.activation == .none, !epilogue.hasResidual else { return nil }
        var changed = epilogue
        change(&changed)
        guard changed.hasBias != epilogue.hasBias || changed.hasResidual != epilogue.hasResidual else { return nil }
        return placed(root, name, changed, operand)
    }

    func activated(_ root: Op, as name: String, _ activation: Activation) -> Rewrite? {
        guard let joined = epilogue.activation.followed(by: activation) else { return nil }
        var changed = epilogue
        changed.activation = joined
        return placed(root, name, changed, nil)
    }

    private func placed(_ root: Op, _ name: String, _ epilogue: Epilogue, _ operand: Value?) -> Rewrite? {
        var joined = op.taking(root, as: name)
        if let operand { joined.operands.append(operand) }
        switch op.attributes {
        case .matmul(var attributes):
            attributes.hasBias = epilogue.hasBias
            attributes.hasResidual = epilogue.hasResidual
            attributes.activation = epilogue.activation
            joined.attributes = .matmul(attributes)
        case .convolution(var attributes):
            attributes.hasBias = epilogue.hasBias
            attributes.hasResidual = epilogue.hasResidual
            attributes.activation = epilogue.activation
            joined.attributes = .convolution(attributes)
        default: return nil
        }
        guard let view else { return Rewrite(joined) }
        // The product moves to where the reshape was, and the reshape to where `root` was: what the product reads now
        // must be there by then.
        if let operand, let defined = matcher.slot(of: operand), defined >= view.slot { return nil }
        joined.results = op.results
        joined.fused = op.origins + root.origins
        var reshape = view.op
        reshape.results = root.results
        return Rewrite(reshape, earlier: (view.slot, joined))
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
