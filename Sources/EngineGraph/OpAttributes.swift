/// What an op says beside its operands.
package enum OpAttributes: Sendable {
    case none
    /// `OpKind.named`: the name in the dialect, with its version.
    case name(String)
    case constant(Constant)
    /// `gelu`.
    case approximation(GeluApproximation)
    /// `interpolate`, `interpolate_coordinates`.
    case interpolation(InterpolationMode)
    /// `pad`.
    case padding(PaddingMode)
    /// `scan`.
    case combiner(ScanCombiner)
    /// `scatter_along_axis`.
    case scatter(ScatterMode)
    /// `invoke`: the name of the graph that it calls.
    case callee(String)
    /// `metal4_kernel`: Metal source text.
    case kernel(name: String, source: String)
    /// `isolated_group`, `delegate`.
    case delegate(identifier: String)
    case elementwise(ElementwiseProgram)
    case matmul(MatmulAttributes)
    case convolution(ConvolutionAttributes)
    case norm(NormAttributes)
    case attention(AttentionAttributes)
}

/// The raw values are those on disk.
package enum GeluApproximation: Int, Sendable { case none, tanh, sigmoid }
package enum InterpolationMode: Int, Sendable { case linear, nearest }
package enum PaddingMode: Int, Sendable { case circular, constant, reflect, replicate, symmetric }
package enum ScanCombiner: Int, Sendable { case sum, product, minimum, maximum }
package enum ScatterMode: Int, Sendable { case update, add, sub, mul, div, max, min }
