package import EngineDelegation
package import EngineGraph

/// An array of scalars of any number of dimensions: what models take and give.
///
/// An array owns its memory and is a value: a copy shares the memory until one of the two is written to. Read
/// elements through ``view(as:)``, write them through ``mutableView(as:)``; both lend the memory for a while and
/// can't outlive the array.
///
/// ```swift
/// var input = NDArray(shape: [3, 4], scalarType: .float32)
/// var view = input.mutableView(as: Float.self)
/// view.copyElements(from: (0..<12).map(Float.init))
/// ```
///
/// `@unchecked Sendable`: the storage is written to only while one array holds it, or under a lease that the storage
/// checks.
public struct NDArray: @unchecked Sendable {
    var storage: NDArrayStorage
    let layout: ArrayLayout
    /// The type of the elements.
    public let scalarType: NDArray.ScalarType

    init(storage: NDArrayStorage, layout: ArrayLayout, scalarType: NDArray.ScalarType) {
        self.storage = storage
        self.layout = layout
        self.scalarType = scalarType
    }

    private init(layout: ArrayLayout, scalarType: NDArray.ScalarType, isZeroed: Bool = true) {
        let storage = NDArrayStorage(layout, bitWidth: scalarType.bitWidth, isZeroed: isZeroed)
        self.init(storage: storage, layout: layout, scalarType: scalarType)
    }
}

extension NDArray {
    /// The size of each dimension.
    public var shape: [Int] { layout.shape }

    /// The distance, in elements, between neighbours along each dimension; between blocks along an interleaved one.
    public var strides: [Int] { layout.strides }

    /// The interleaved dimension; nil where there is none.
    public var interleaveLayout: NDArray.InterleaveLayout? { layout.interleave }
}

extension NDArray {
    /// Creates an array that a function takes as it is: with the descriptor's shape, scalar type, interleaved
    /// dimension and preferred strides.
    ///
    /// The strides need not be dense, so `contiguousElements` of a view of it may be nil. The elements are zero.
    ///
    /// - Parameter descriptor: A descriptor without dynamic sizes; with them, the program stops.
    public init(descriptor: consuming NDArrayDescriptor) {
        self.init(layout: descriptor.layout("NDArray(descriptor:)"), scalarType: descriptor.scalarType)
    }

    /// Creates a dense row-major array of zeros.
    ///
    /// - Parameters:
    ///   - shape: The size of each dimension, none negative; `[]` is a single scalar.
    ///   - scalarType: The type of the elements.
    public init(shape: [Int], scalarType: NDArray.ScalarType) {
        let layout = requireValid("NDArray") { () throws(LayoutError) in try ArrayLayout(shape: shape) }
        self.init(layout: layout, scalarType: scalarType)
    }

    /// Creates an array of zeros with given strides.
    ///
    /// - Parameters:
    ///   - shape: The size of each dimension, none negative.
    ///   - scalarType: The type of the elements.
    ///   - strides: The distance, in elements, between neighbours along each dimension: as many as `shape` has.
    ///     Zero repeats the elements; a negative distance runs backwards.
    public init(shape: [Int], scalarType: NDArray.ScalarType, strides: [Int]) {
        self.init(strided: shape, scalarType, strides, nil)
    }

    /// Creates an array of zeros with given strides and an interleaved dimension.
    ///
    /// - Parameters:
    ///   - shape: The size of each dimension, none negative.
    ///   - scalarType: The type of the elements.
    ///   - strides: The distance, in elements, between neighbours along each dimension, and between blocks along the
    ///     interleaved one: as many as `shape` has.
    ///   - interleaveLayout: The dimension whose elements lie in blocks, and how many a block holds.
    public init(
        shape: [Int], scalarType: NDArray.ScalarType, strides: [Int], interleaveLayout: NDArray.InterleaveLayout
    ) {
        self.init(strided: shape, scalarType, strides, interleaveLayout)
    }

    private init(
        strided shape: [Int], _ scalarType: NDArray.ScalarType, _ strides: [Int],
        _ interleave: NDArray.InterleaveLayout?
    ) {
        let layout = requireValid("NDArray") { () throws(LayoutError) in
            // An empty list stands for dense strides elsewhere; here it is a wrong number of them.
            guard strides.count == shape.count else {
                throw LayoutError("\(strides.count) strides were given for the \(shape.count) dimensions of \(shape)")
            }
            return try ArrayLayout(shape: shape, strides: strides, interleave: interleave)
        }
        self.init(layout: layout, scalarType: scalarType)
    }

    /// Creates a dense row-major array with a copy of `scalars`.
    ///
    /// ```swift
    /// let array = NDArray(scalars: [1, 2, 3, 4] as [Int32], shape: [2, 2])
    /// ```
    ///
    /// - Parameters:
    ///   - scalars: The elements in row-major order: as many as the shape has. Their type must be that of a
    ///     ``ScalarType``.
    ///   - shape: The size of each dimension, none negative.
    public init<Scalar>(scalars: some Sequence<Scalar>, shape: [Int]) where Scalar: BitwiseCopyable {
        let layout = requireValid("NDArray") { () throws(LayoutError) in try ArrayLayout(shape: shape) }
        self.init(layout: layout, scalarType: .requireNamed(Scalar.self), isZeroed: false)
        var view = mutableView(as: Scalar.self)
        let copied = view.copy(scalars)
        guard copied == layout.scalarCount else {
            fatalError("NDArray: \(copied) scalars were given for the shape \(shape)")
        }
    }
}

extension NDArray {
    /// Wraps memory that the engine filled, without a copy.
    ///
    /// The first write through the array copies the memory if anyone else holds `buffer` then.
    ///
    /// - Parameters:
    ///   - byteOffset: Where the first element lies in the buffer.
    ///   - strides: In elements; empty for dense row-major ones.
    ///   - isReadOnly: Whether the memory must never be written to, as that of a constant or a mapped file.
    package init(
        buffer: HostBuffer, byteOffset: Int = 0, elementType: ElementType, shape: [Int], strides: [Int] = [],
        isReadOnly: Bool = false
    ) throws(EngineError) {
        guard let scalarType = ScalarType(elementType) else {
            throw .invalidValue(op: "NDArray", reason: "the API has no scalar type for \(elementType.displayName)")
        }
        let layout: ArrayLayout
        do {
            layout = try ArrayLayout(shape: shape, strides: strides)
        } catch {
            throw .invalidValue(op: "NDArray", reason: error.description)
        }
        guard
            layout.isInside(byteCount: buffer.byteCount, byteOffset: byteOffset, bitWidth: elementType.bitWidth),
            unsafe (Int(bitPattern: buffer.pointer) + byteOffset) % max(elementType.bitWidth / 8, 1) == 0
        else {
            throw .invalidValue(
                op: "NDArray", reason: "the shape \(shape) does not fit \(buffer.byteCount) bytes from \(byteOffset)")
        }
        self.init(
            storage: NDArrayStorage(buffer, bitOffset: byteOffset * 8, isReadOnly: isReadOnly), layout: layout,
            scalarType: scalarType)
    }
}
