/// Where the elements of an array lie: its shape, and the distances between elements, counted in elements.
///
/// A value of this type is valid: sizes are not negative, and no product or offset overflows, even counted in bits.
@usableFromInline
package struct ArrayLayout: Sendable, Equatable {
    @usableFromInline package let shape: [Int]
    /// Distances in elements; of the interleaved dimension, the distance between blocks.
    @usableFromInline package let strides: [Int]
    @usableFromInline package let interleave: NDArray.InterleaveLayout?
    @usableFromInline package let scalarCount: Int
    /// Whether the elements lie in row-major order without gaps. An interleaved layout never counts as that.
    @usableFromInline package let isContiguous: Bool
    /// The offsets, in elements from the first one, that the layout can touch; empty where there are no elements.
    package let reach: Range<Int>

    /// Checks and makes a layout. Empty `strides` stand for the dense row-major ones.
    package init(
        shape: [Int], strides: [Int] = [], interleave: NDArray.InterleaveLayout? = nil
    ) throws(LayoutError) {
        if let negative = shape.firstIndex(where: { $0 < 0 }) {
            throw LayoutError("dimension \(negative) of the shape \(shape) is negative")
        }
        if let interleave {
            guard shape.indices.contains(interleave.dimension), interleave.factor > 0 else {
                throw LayoutError(
                    "an interleave of dimension \(interleave.dimension) by \(interleave.factor)"
                        + " does not fit the shape \(shape)")
            }
        }
        guard strides.isEmpty || strides.count == shape.count else {
            throw LayoutError("\(strides.count) strides were given for the \(shape.count) dimensions of \(shape)")
        }
        guard let count = Self.product(of: shape), count <= Self.limit else {
            throw LayoutError("the shape \(shape) has too many elements")
        }
        self.shape = shape
        self.interleave = interleave
        self.scalarCount = count
        if strides.isEmpty {
            self.strides = try Self.denseStrides(of: shape, interleave: interleave)
        } else {
            self.strides = strides
        }
        guard
            let reach = Self.reach(
                shape: shape, strides: self.strides, interleave: interleave, isEmpty: count == 0)
        else {
            throw LayoutError("the strides \(self.strides) of the shape \(shape) reach too far")
        }
        self.reach = reach
        self.isContiguous = interleave == nil && (count == 0 || Self.isDense(shape, self.strides))
    }

    /// The bytes that a buffer needs to hold every element that the layout can touch.
    package func byteCount(bitWidth: Int) -> Int {
        (reach.count * bitWidth + 7) / 8
    }

    /// Whether every element lies inside a buffer of `byteCount` bytes when the first one begins at `byteOffset`.
    package func isInside(byteCount: Int, byteOffset: Int, bitWidth: Int) -> Bool {
        guard byteOffset >= 0, byteOffset <= byteCount else { return false }
        // Rounded to whole bytes; none of these overflows, because reaches are bounded.
        let before = (-reach.lowerBound * bitWidth + 7) / 8
        let after = (reach.upperBound * bitWidth + 7) / 8
        return before <= byteOffset && after <= byteCount - byteOffset
    }

    /// Row-major strides without gaps. Of an interleaved dimension the blocks count as its elements, each as wide as
    /// the factor, so a last block that is not full leaves a gap.
    package static func denseStrides(
        of shape: [Int], interleave: NDArray.InterleaveLayout? = nil
    ) throws(LayoutError) -> [Int] {
        var strides = [Int](repeating: 0, count: shape.count)
        var next = interleave?.factor ?? 1
        for axis in shape.indices.reversed() {
            strides[axis] = next
            var size = shape[axis]
            if let interleave, interleave.dimension == axis {
                size = size / interleave.factor + (size % interleave.factor == 0 ? 0 : 1)
            }
            let (product, overflow) = next.multipliedReportingOverflow(by: size)
            guard !overflow, product <= limit else {
                throw LayoutError("the shape \(shape) has too many elements")
            }
            next = product
        }
        return strides
    }

    /// Offsets stay below this, so that they can be counted in bits of the widest scalar type.
    private static let limit = Int.max >> 8

    /// Whether the strides are the dense row-major ones; those of dimensions of one element don't matter.
    private static func isDense(_ shape: [Int], _ strides: [Int]) -> Bool {
        var expected = 1
        for axis in shape.indices.reversed() where shape[axis] != 1 {
            guard strides[axis] == expected else { return false }
            expected *= shape[axis]
        }
        return true
    }

    private static func product(of shape: [Int]) -> Int? {
        guard !shape.contains(0) else { return 0 }
        var result = 1
        for size in shape {
            let (product, overflow) = result.multipliedReportingOverflow(by: size)
            guard !overflow else { return nil }
            result = product
        }
        return result
    }

    private static func reach(
        shape: [Int], strides: [Int], interleave: NDArray.InterleaveLayout?, isEmpty: Bool
    ) -> Range<Int>? {
        guard !isEmpty else { return 0..<0 }
        var lowest = 0
        var highest = 0
        for axis in shape.indices {
            let factor = interleave?.dimension == axis ? interleave?.factor ?? 1 : 1
            guard
                let ends = reach(ofSize: shape[axis], stride: strides[axis], factor: factor),
                case (let low, let lowOverflow) = lowest.addingReportingOverflow(ends.lowest), !lowOverflow,
                case (let high, let highOverflow) = highest.addingReportingOverflow(ends.highest), !highOverflow,
                low >= -limit, high < limit
            else { return nil }
            lowest = low
            highest = high
        }
        guard highest - lowest < limit else { return nil }
        return lowest..<(highest + 1)
    }

    /// The lowest and highest offset along one dimension of `size` > 0 elements in blocks of `factor`.
    private static func reach(ofSize size: Int, stride: Int, factor: Int) -> (lowest: Int, highest: Int)? {
        let lastBlock = (size - 1) / factor
        let (last, overflow) = lastBlock.multipliedReportingOverflow(by: stride)
        guard !overflow, last.magnitude < limit.magnitude, factor < limit else { return nil }
        let lastWidth = size - lastBlock * factor
        guard lastBlock > 0 else { return (0, lastWidth - 1) }
        // Offsets are linear in the block, so the ends are among the first, the last full and the last block.
        let lastFull = lastWidth == factor ? last : last - stride
        return (min(0, last), max(factor - 1, lastFull + factor - 1, last + lastWidth - 1))
    }
}

extension ArrayLayout {
    /// The offset of an element, in elements from the first one. Stops the program where the index is out of bounds.
    @inlinable
    func offset<let indexRank: Int>(of index: InlineArray<indexRank, Int>) -> Int {
        precondition(indexRank == shape.count, "the index has another rank than the view")
        var offset = 0
        for axis in 0..<indexRank {
            let position = index[axis]
            precondition(position >= 0 && position < shape[axis], "index out of bounds")
            if let interleave, interleave.dimension == axis {
                offset += position / interleave.factor * strides[axis] + position % interleave.factor
            } else {
                offset += position * strides[axis]
            }
        }
        return offset
    }
}

/// Why a shape and strides don't make a layout.
package struct LayoutError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Runs `body`; stops the program with its reason where a caller broke a rule that the API documents.
///
/// `fatalError`, not `precondition`: release builds print the reason too.
func requireValid<Result>(_ subject: String, _ body: () throws(LayoutError) -> Result) -> Result {
    do {
        return try body()
    } catch {
        fatalError("\(subject): \(error)")
    }
}
