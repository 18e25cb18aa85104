/// What a function expects of an array, or tells about one.
///
/// The scalar type and the static sizes are strict; a size of -1 is dynamic. The memory layout is advice: an array
/// with other strides is accepted, and copied where the unit that runs the function needs it.
public struct NDArrayDescriptor: Sendable, Equatable {
    /// The type of the array's elements.
    public let scalarType: NDArray.ScalarType
    /// The size of each dimension; -1 where it is dynamic.
    public let shape: [Int]
    /// The interleaved dimension of the array; nil where there is none, which is the usual case.
    public let interleaveLayout: NDArray.InterleaveLayout?
    /// The strides that the function's unit prefers; nil for dense row-major ones.
    private let unitStrides: [Int]?

    /// - Parameter preferredStrides: What ``preferredStrides`` gives, for a shape without dynamic sizes.
    package init(
        scalarType: NDArray.ScalarType, shape: [Int], interleaveLayout: NDArray.InterleaveLayout? = nil,
        preferredStrides: [Int]? = nil
    ) {
        self.scalarType = scalarType
        self.shape = shape
        self.interleaveLayout = interleaveLayout
        self.unitStrides = preferredStrides
    }

    /// The number of dimensions.
    public var rank: Int { shape.count }

    /// Whether a dimension's size is -1.
    public var hasDynamicShape: Bool { shape.contains(-1) }

    /// This descriptor with sizes in the place of dynamic ones.
    ///
    /// - Parameter newShape: As many sizes as ``shape`` has. Each must equal the size that it replaces, or that size
    ///   must be -1. Anything else is a programming error, and stops the program.
    public func resolvingDynamicDimensions(_ newShape: [Int]) -> NDArrayDescriptor {
        guard newShape.count == shape.count else {
            fatalError("Shape of rank \(newShape.count) is not a valid substitution for source shape of rank \(rank)")
        }
        for (dimension, size) in newShape.enumerated() where size != shape[dimension] {
            guard shape[dimension] == -1, size >= 0 else {
                fatalError(
                    "Shape at dimension \(dimension) of \(size) is not a valid substitution for source shape"
                        + " \(shape[dimension])")
            }
        }
        return NDArrayDescriptor(
            scalarType: scalarType, shape: newShape, interleaveLayout: interleaveLayout,
            preferredStrides: newShape == shape ? unitStrides : nil)
    }

    /// The strides, in elements, of an array that the function takes without a copy.
    ///
    /// Reading this while ``hasDynamicShape`` is true is a programming error, and stops the program: resolve the
    /// dynamic sizes first.
    public var preferredStrides: [Int] { layout("preferredStrides").strides }

    /// The bytes that a buffer needs to hold an array with this shape and the preferred strides.
    ///
    /// Reading this while ``hasDynamicShape`` is true is a programming error, and stops the program: resolve the
    /// dynamic sizes first.
    public var minimumByteCount: Int { layout("minimumByteCount").byteCount(bitWidth: scalarType.bitWidth) }

    /// The preferred layout. Stops the program where the shape is dynamic; `member` is what asked.
    func layout(_ member: String) -> ArrayLayout {
        guard !hasDynamicShape else {
            fatalError(
                "NDArrayDescriptor.\(member): the shape \(shape) is dynamic; call resolvingDynamicDimensions(_:) first")
        }
        return requireValid("NDArrayDescriptor.\(member)") { () throws(LayoutError) in
            try ArrayLayout(shape: shape, strides: unitStrides ?? [], interleave: interleaveLayout)
        }
    }
}
