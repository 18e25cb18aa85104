/// What an op's operand must be.
package struct OperandInfo: Sendable, Hashable {
    package enum Class: Sendable, Hashable {
        case tensor(ElementSet)
        /// A tensor with a bit mask encoding.
        case sparse(ElementSet)
        case handle, token, image
        /// Any value.
        case any
    }

    /// The operand's name in the dialect.
    package let name: String
    package let accepts: Class
    /// The ranks that a tensor may have; nil where any will do.
    package let ranks: ClosedRange<Int>?
    /// Whether the operand is a parameter that the host knows: axes, shapes, strides, modes.
    package let isParameter: Bool

    /// What the operand must be, in words.
    package var expectation: String {
        let rank =
            switch ranks {
            case nil: ""
            case .some(let ranks) where ranks.lowerBound == ranks.upperBound: "rank \(ranks.lowerBound) "
            case .some(let ranks) where ranks.upperBound >= TensorType.maximumRank:
                "rank ≥ \(ranks.lowerBound) "
            case .some(let ranks): "rank \(ranks.lowerBound)…\(ranks.upperBound) "
            }
        switch accepts {
        case .tensor(let elements): return "a \(rank)tensor of \(elements)"
        case .sparse(let elements): return "a \(rank)bitmask tensor of \(elements)"
        case .handle: return "a handle"
        case .token: return "a token"
        case .image: return "an image"
        case .any: return "any value"
        }
    }

    /// Whether a value of `type` may be the operand; a dynamic dimension may.
    package func accepts(_ type: ValueType) -> Bool {
        switch (accepts, type) {
        case (.any, _), (.handle, .handle), (.token, .token), (.image, .image): true
        case (.tensor(let elements), .tensor(let tensor)):
            elements.contains(tensor.elementType) && tensor.encoding == .dense && acceptsRank(tensor.rank)
        case (.sparse(let elements), .tensor(let tensor)):
            elements.contains(tensor.elementType) && tensor.encoding != .dense && acceptsRank(tensor.rank)
        default: false
        }
    }

    private func acceptsRank(_ rank: Int) -> Bool { ranks.map { $0.contains(rank) } ?? true }
}

extension OperandInfo {
    static func tensor(_ name: String, _ elements: ElementSet, rank: ClosedRange<Int>? = nil) -> OperandInfo {
        OperandInfo(name: name, accepts: .tensor(elements), ranks: rank, isParameter: false)
    }

    /// A tensor of integers that the host knows before the op runs.
    static func parameter(
        _ name: String, rank: ClosedRange<Int> = 1...1, _ elements: ElementSet = .integers
    ) -> OperandInfo {
        OperandInfo(name: name, accepts: .tensor(elements), ranks: rank, isParameter: true)
    }

    /// One integer; a vector of one is taken for it, as some decompositions write it.
    static func scalarParameter(_ name: String, _ elements: ElementSet = .integers) -> OperandInfo {
        parameter(name, rank: 0...1, elements)
    }

    static func other(_ name: String, _ accepts: Class) -> OperandInfo {
        OperandInfo(name: name, accepts: accepts, ranks: nil, isParameter: false)
    }
}

/// What kind of op an op is; several may hold.
package struct OpCategory: OptionSet, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// One tensor to one tensor of the same shape, element by element.
    package static let unary = OpCategory(rawValue: 1 << 0)
    /// Two tensors to one, element by element; of equal shapes unless `broadcasting`.
    package static let binary = OpCategory(rawValue: 1 << 1)
    /// Operands are broadcast to the result's shape.
    package static let broadcasting = OpCategory(rawValue: 1 << 2)
    /// The result is bool, whatever the operands are.
    package static let predicate = OpCategory(rawValue: 1 << 3)
    /// The result has the operand's elements in the operand's order: a buffer can serve as both.
    package static let view = OpCategory(rawValue: 1 << 4)
    /// Elements move; none is computed.
    package static let movement = OpCategory(rawValue: 1 << 5)
    package static let reduction = OpCategory(rawValue: 1 << 6)
    /// Carries its decomposition as a body.
    package static let named = OpCategory(rawValue: 1 << 7)
    /// The host decides what runs: `if`, `while`, calls.
    package static let controlFlow = OpCategory(rawValue: 1 << 8)
    /// Reads or writes a state, or orders such reads and writes.
    package static let state = OpCategory(rawValue: 1 << 9)
    /// Unpacks stored weights.
    package static let compressedWeights = OpCategory(rawValue: 1 << 10)
    /// Made by the compiler; never on disk.
    package static let compilerMade = OpCategory(rawValue: 1 << 11)
    /// The result does not depend on the contents of any tensor operand, only on shapes.
    package static let shapeQuery = OpCategory(rawValue: 1 << 12)
    /// Matrix products, convolutions, attention: where the time goes.
    package static let heavy = OpCategory(rawValue: 1 << 13)

    /// Element by element, whatever the number of operands.
    package static let elementwise: OpCategory = [.unary, .binary]
}

/// What is known of an op from its kind alone.
package struct OpInfo: Sendable {
    /// The fixed operands, in order.
    package let operands: [OperandInfo]
    /// What the further operands must be; nil where there are none.
    package let variadic: OperandInfo?
    /// The fewest further operands.
    package let minimumVariadic: Int
    /// The number of results; nil where the op decides.
    package let resultCount: Int?
    package let category: OpCategory
    /// The number of regions that share the enclosing graph's values.
    package let regionCount: ClosedRange<Int>
    /// The number of isolated bodies.
    package let bodyCount: ClosedRange<Int>
    /// What the op does, in a line.
    package let summary: String
    /// The indices of the fixed operands that are host parameters.
    package let parameters: [Int]

    init(
        _ operands: [OperandInfo], variadic: OperandInfo? = nil, minimumVariadic: Int = 0, results: Int? = 1,
        _ category: OpCategory, regions: ClosedRange<Int> = 0...0, bodies: ClosedRange<Int> = 0...0,
        _ summary: String
    ) {
        self.operands = operands
        self.variadic = variadic
        self.minimumVariadic = minimumVariadic
        self.resultCount = results
        self.category = category
        self.regionCount = regions
        // A named op's body is its decomposition; one is always stored, but none is needed to run it.
        self.bodyCount = category.contains(.named) ? 0...1 : bodies
        self.summary = summary
        self.parameters = operands.indices.filter { operands[$0].isParameter }
    }

    init(
        _ operands: [OperandInfo], variadic: OperandInfo? = nil, minimumVariadic: Int = 0, results: Int? = 1,
        bodies: ClosedRange<Int> = 0...0, _ summary: String
    ) {
        self.init(
            operands, variadic: variadic, minimumVariadic: minimumVariadic, results: results, [], bodies: bodies,
            summary)
    }

    /// What operand `index` must be; nil beyond the last.
    package func operand(_ index: Int) -> OperandInfo? {
        index < operands.count ? operands[index] : variadic
    }

    package func acceptsOperandCount(_ count: Int) -> Bool {
        variadic == nil ? count == operands.count : count >= operands.count + minimumVariadic
    }

    /// The number of operands in words.
    package var operandCountDescription: String {
        variadic == nil ? "\(operands.count)" : "at least \(operands.count + minimumVariadic)"
    }

    /// Whether operand `index` is a parameter that the host knows.
    package func isParameter(_ index: Int) -> Bool { operand(index)?.isParameter ?? false }
}
