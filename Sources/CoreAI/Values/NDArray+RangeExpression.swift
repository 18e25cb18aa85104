extension NDArray {
    /// A choice of positions along one dimension, for slicing: an index, a range, or ``RangeExpression/all``.
    public protocol RangeExpression: Sendable {
        /// The positions chosen out of those of a dimension.
        ///
        /// - Parameter dimension: The positions that there are: from 0 up to the dimension's size.
        func relative(to dimension: Range<Int>) -> Range<Int>
    }
}

extension Range: NDArray.RangeExpression where Bound == Int {
    /// The range itself.
    public func relative(to dimension: Range<Int>) -> Range<Int> { self }
}

extension ClosedRange: NDArray.RangeExpression where Bound == Int {
    /// The same positions as a half-open range.
    public func relative(to dimension: Range<Int>) -> Range<Int> {
        lowerBound..<NDArray.position(after: upperBound)
    }
}

extension PartialRangeUpTo: NDArray.RangeExpression where Bound == Int {
    /// The positions below the bound.
    ///
    /// The bound must not lie below the dimension's start.
    public func relative(to dimension: Range<Int>) -> Range<Int> {
        NDArray.range(from: dimension.lowerBound, to: upperBound, in: dimension)
    }
}

extension PartialRangeThrough: NDArray.RangeExpression where Bound == Int {
    /// The positions up to and with the bound.
    ///
    /// The bound must not lie below the dimension's start.
    public func relative(to dimension: Range<Int>) -> Range<Int> {
        NDArray.range(from: dimension.lowerBound, to: NDArray.position(after: upperBound), in: dimension)
    }
}

extension PartialRangeFrom: NDArray.RangeExpression where Bound == Int {
    /// The positions from the bound on.
    ///
    /// The bound must not lie beyond the dimension's end.
    public func relative(to dimension: Range<Int>) -> Range<Int> {
        NDArray.range(from: lowerBound, to: dimension.upperBound, in: dimension)
    }
}

extension Int: NDArray.RangeExpression {
    /// The one position. A slice at an index keeps the dimension, with size 1.
    public func relative(to dimension: Range<Int>) -> Range<Int> {
        self..<NDArray.position(after: self)
    }
}

/// Every position of a dimension; spelled `.all` in a slice.
@frozen
public struct _AllRange: NDArray.RangeExpression {
    /// Creates the expression.
    public init() {}

    /// The whole dimension.
    public func relative(to dimension: Range<Int>) -> Range<Int> { dimension }
}

extension _AllRange: BitwiseCopyable {}

extension NDArray.RangeExpression where Self == _AllRange {
    /// Every position of a dimension.
    public static var all: _AllRange { _AllRange() }
}

extension NDArray {
    fileprivate static func position(after position: Int) -> Int {
        guard position < Int.max else { fatalError("NDArray slice: position \(position) is outside every dimension") }
        return position + 1
    }

    fileprivate static func range(from lower: Int, to upper: Int, in dimension: Range<Int>) -> Range<Int> {
        guard lower <= upper else {
            fatalError("NDArray slice: \(lower)..<\(upper) is no range of a dimension with positions \(dimension)")
        }
        return lower..<upper
    }
}
