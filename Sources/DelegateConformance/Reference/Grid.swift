import EngineGraph

/// Row-major positions of a shape.
struct Grid {
    let shape: [Int]
    let strides: [Int]
    let count: Int

    init(_ shape: [Int]) {
        self.shape = shape
        var strides = [Int](repeating: 1, count: shape.count)
        for dimension in stride(from: shape.count - 2, through: 0, by: -1) {
            strides[dimension] = strides[dimension + 1] * shape[dimension + 1]
        }
        self.strides = strides
        self.count = shape.reduce(1, *)
    }

    func flat(_ index: [Int]) -> Int {
        var position = 0
        for dimension in index.indices { position += index[dimension] * strides[dimension] }
        return position
    }

    func index(_ flat: Int) -> [Int] {
        var rest = flat
        return strides.map { stride in
            let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: max(stride, 1))
            rest = remainder
            return quotient
        }
    }

    /// Where the element that is broadcast to `index` of a larger shape lies.
    func broadcast(_ index: [Int]) -> Int {
        let lead = index.count - shape.count
        var position = 0
        for dimension in shape.indices where shape[dimension] != 1 {
            position += index[lead + dimension] * strides[dimension]
        }
        return position
    }

    var indices: LazyMapSequence<Range<Int>, [Int]> { (0..<count).lazy.map { index($0) } }

    static func broadcast(_ shapes: [[Int]]) -> [Int] {
        let rank = shapes.map(\.count).max() ?? 0
        return (0..<rank).map { dimension in
            let extents = shapes.compactMap { shape -> Int? in
                let own = dimension - (rank - shape.count)
                return own < 0 ? nil : shape[own]
            }
            return extents.first { $0 != 1 } ?? 1
        }
    }
}

extension Elements {
    /// The elements that `source` names for each index of `shape`, by flat position; `filler`'s where it names none.
    func moved(to shape: [Int], filler: Elements? = nil, _ source: ([Int]) -> Int?) -> Elements {
        let parts = type.elementType.isComplex ? 2 : 1
        var result: [UInt64] = []
        for index in Grid(shape).indices {
            let position = source(index)
            for part in 0..<parts {
                result.append(position.map { bits[$0 * parts + part] } ?? filler?.bits[part] ?? 0)
            }
        }
        return Elements(TensorType(shape, type.elementType), bits: result)
    }

    func broadcast(to shape: [Int]) -> Elements {
        let grid = Grid(self.shape)
        return shape == self.shape ? self : moved(to: shape) { grid.broadcast($0) }
    }
}
