extension NDArray {
    /// A layout that stores the elements of one dimension in blocks of neighbours.
    ///
    /// Inside a block neighbours are one element apart. The stride of the interleaved dimension is the distance
    /// between blocks, in elements. With `d` for ``dimension`` and `f` for ``factor``, the element at `index` lies at
    ///
    ///     index[d] / f * strides[d] + index[d] % f + the sum of index[i] * strides[i] over the other dimensions i
    ///
    /// A `[3, height, width]` picture with `InterleaveLayout(dimension: 0, factor: 3)` keeps the three channels of a
    /// pixel together. A last block that is not full still takes the room of a whole one.
    public struct InterleaveLayout: Sendable, Equatable {
        /// The dimension whose elements lie in blocks.
        public let dimension: Int
        /// The number of elements in a block.
        public let factor: Int

        /// Creates a description of an interleaved dimension.
        ///
        /// Whether it fits is checked where it meets a shape: the dimension has to exist and the factor to be
        /// positive.
        public init(dimension: Int, factor: Int) {
            self.dimension = dimension
            self.factor = factor
        }
    }
}
