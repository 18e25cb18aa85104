/// What is applied to a product or a convolution on its way to memory.
package enum Activation: Hashable, Sendable {
    case none, relu, sigmoid, silu, tanh
    case gelu(GeluApproximation)
    /// min(max(x, low), high).
    case clamp(low: Float, high: Float)
}

/// `OpKind.matmul`: operands are x, y, then the bias and the residual where there are any.
package struct MatmulAttributes: Hashable, Sendable {
    /// Whether x (y) is stored with its last two dimensions swapped.
    package var transposesX = false
    package var transposesY = false
    /// A vector over the result's last dimension.
    package var hasBias = false
    /// A tensor of the result's shape, added before the activation.
    package var hasResidual = false
    package var activation = Activation.none

    package init() {}
}

/// `OpKind.convolution`: operands are those of the plain op, then the bias and the residual.
package struct ConvolutionAttributes: Hashable, Sendable {
    /// Whether the plain op is `conv_transpose2d` or `conv_transpose3d`.
    package var isTransposed = false
    /// Zeros before and after each spatial dimension: [before, after, before, after, …].
    package var padding: [Int] = []
    /// A vector over the output channels.
    package var hasBias = false
    package var hasResidual = false
    package var activation = Activation.none

    package init() {}
}

/// `OpKind.layerNorm` and `OpKind.rmsNorm` normalize over the last `axisCount` dimensions; `OpKind.groupNorm` over the
/// channels of a group, which dimension 1 counts, and all dimensions behind them. Operands are the input, then gamma,
/// beta and the residual where there are any.
package struct NormAttributes: Hashable, Sendable {
    package var axisCount: Int
    package var epsilon: Double
    package var hasGamma = false
    package var hasBeta = false
    /// Added to the input first; never with groups.
    package var hasResidual = false
    /// How many groups the channels make; 0 for norms over trailing dimensions.
    package var groups = 0

    package init(axisCount: Int, epsilon: Double) {
        self.axisCount = axisCount
        self.epsilon = epsilon
    }
}

/// `OpKind.attention`: operands are query [batch…, M, D], key [batch…, N, D], value [batch…, N, E], then the mask where
/// there is one, broadcast over [batch…, M, N]: added to the scores, or where it is bool, false hides a key. A key and a
/// value of fewer heads serve a group of neighbouring heads of the query each.
package struct AttentionAttributes: Hashable, Sendable {
    package var scale: Double
    package var hasMask = false
    /// Whether a bool mask hides keys where it is true instead.
    package var hidesTrue = false
    /// Query `i` sees keys up to `i + causalOffset`; nil: all.
    package var causalOffset: Int?
    /// How each of query, key and value is stored: dimension `i` of the operand as attention sees it is dimension
    /// `permutation[i]` as it is stored. Empty: as it is.
    package var queryPermutation: [Int] = []
    package var keyPermutation: [Int] = []
    package var valuePermutation: [Int] = []
    /// The result's dimensions in memory: dimension `i` of the stored result is dimension `permutation[i]` of the
    /// attention's. Empty: as it is.
    package var resultPermutation: [Int] = []

    package init(scale: Double) { self.scale = scale }
}

/// `OpKind.elementwise`: a program over its operands, broadcast to the result's shape.
package struct ElementwiseProgram: Hashable, Sendable {
    /// One elementwise op. Operands number the program's inputs first, then its instructions.
    package struct Instruction: Hashable, Sendable {
        package var kind: OpKind
        package var approximation: GeluApproximation
        package var operands: [Int]
        /// The type that the result has, were it stored.
        package var resultType: ElementType

        package init(
            kind: OpKind, approximation: GeluApproximation = .none, operands: [Int], resultType: ElementType
        ) {
            self.kind = kind
            self.approximation = approximation
            self.operands = operands
            self.resultType = resultType
        }
    }

    package var inputTypes: [ElementType]
    /// In order: the last one's result is the op's.
    package var instructions: [Instruction]

    package init(inputTypes: [ElementType], instructions: [Instruction]) {
        self.inputTypes = inputTypes
        self.instructions = instructions
    }

    /// The type of input or instruction `index`.
    package func type(of index: Int) -> ElementType {
        index < inputTypes.count ? inputTypes[index] : instructions[index - inputTypes.count].resultType
    }
}
