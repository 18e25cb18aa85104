import CoreAI

/// Index by index, what a layout means: the definition that the tests compare with.
struct LayoutModel {
    var shape: [Int]
    var strides: [Int]
    var interleave: NDArray.InterleaveLayout?

    /// Every index in row-major order.
    var indices: [[Int]] {
        var result: [[Int]] = [[]]
        for size in shape {
            result = result.flatMap { prefix in (0..<size).map { prefix + [$0] } }
        }
        return result
    }

    func offset(_ index: [Int]) -> Int {
        index.indices.reduce(0) { sum, axis in
            guard let interleave, interleave.dimension == axis else { return sum + index[axis] * strides[axis] }
            return sum + index[axis] / interleave.factor * strides[axis] + index[axis] % interleave.factor
        }
    }
}

/// Every shape of `ranks` dimensions with the given sizes.
func shapes(ranks: ClosedRange<Int>, sizes: [Int]) -> [[Int]] {
    ranks.flatMap { rank in
        (0..<rank).reduce([[Int]]([[]])) { shapes, _ in shapes.flatMap { shape in sizes.map { shape + [$0] } } }
    }
}

/// Strides of many kinds for a shape: dense, padded, reversed in order, repeating, running backwards.
func someStrides(_ shape: [Int]) -> [[Int]] {
    func dense(_ shape: [Int], last: Int = 1, gap: Int = 0) -> [Int] {
        var result = [Int](repeating: 0, count: shape.count)
        var next = last
        for axis in shape.indices.reversed() {
            result[axis] = next
            next = next * shape[axis] + gap
        }
        return result
    }
    let plain = dense(shape)
    var all = [
        plain, dense(shape, gap: 3), dense(shape, last: 2), dense(shape.reversed()).reversed(), plain.map { -$0 },
    ]
    if !shape.isEmpty {
        all.append(plain.enumerated().map { $0.offset == 0 ? 0 : $0.element })
        all.append(plain.enumerated().map { $0.offset % 2 == 0 ? -$0.element : $0.element })
    }
    return all
}

/// The layouts that the tests exhaust: small shapes of up to four dimensions, and one of eight.
func someLayouts(sizes: [Int] = [0, 1, 2, 3]) -> [LayoutModel] {
    (shapes(ranks: 0...3, sizes: sizes) + shapes(ranks: 4...4, sizes: [1, 2]) + [[2, 1, 2, 1, 2, 2, 1, 2]]).flatMap {
        shape in someStrides(shape).map { LayoutModel(shape: shape, strides: $0) }
    }
}

/// Layouts with an interleaved dimension, its blocks full, not full, or fewer than one.
func someInterleavedLayouts() -> [LayoutModel] {
    [[1], [2], [5], [6], [4, 3], [5, 2], [3, 5], [2, 4, 3], [2, 5, 2], [2, 2, 5]].flatMap { shape in
        shape.indices.flatMap { axis in
            [1, 2, 3, 4].flatMap { factor in
                let interleave = NDArray.InterleaveLayout(dimension: axis, factor: factor)
                var blocks = shape
                blocks[axis] = (shape[axis] + factor - 1) / factor
                return someStrides(blocks).map { strides in
                    LayoutModel(shape: shape, strides: strides.map { $0 * factor }, interleave: interleave)
                }
            }
        }
    }
}

extension NDArray {
    /// An array with a model's layout.
    init(_ model: LayoutModel, scalarType: ScalarType) {
        if let interleave = model.interleave {
            self.init(
                shape: model.shape, scalarType: scalarType, strides: model.strides, interleaveLayout: interleave)
        } else {
            self.init(shape: model.shape, scalarType: scalarType, strides: model.strides)
        }
    }
}

extension NDArray.View {
    /// The element at an index of up to four, or of eight, positions.
    func element(_ index: [Int]) -> Element {
        switch index.count {
        case 0: self[scalarAt: []]
        case 1: self[scalarAt: [index[0]]]
        case 2: self[scalarAt: [index[0], index[1]]]
        case 3: self[scalarAt: [index[0], index[1], index[2]]]
        case 4: self[scalarAt: [index[0], index[1], index[2], index[3]]]
        default:
            self[scalarAt: [index[0], index[1], index[2], index[3], index[4], index[5], index[6], index[7]]]
        }
    }

    /// The elements in row-major order, read one by one.
    var elements: [Element] {
        var sizes: [Int] = []
        for axis in 0..<rank { sizes.append(shape[axis]) }
        var result: [Element] = []
        for index in LayoutModel(shape: sizes, strides: sizes).indices { result.append(element(index)) }
        return result
    }
}

extension NDArray.MutableView {
    /// Writes the element at an index of up to four, or of eight, positions.
    mutating func set(_ index: [Int], _ value: Element) {
        switch index.count {
        case 0: self[scalarAt: []] = value
        case 1: self[scalarAt: [index[0]]] = value
        case 2: self[scalarAt: [index[0], index[1]]] = value
        case 3: self[scalarAt: [index[0], index[1], index[2]]] = value
        case 4: self[scalarAt: [index[0], index[1], index[2], index[3]]] = value
        default:
            self[scalarAt: [index[0], index[1], index[2], index[3], index[4], index[5], index[6], index[7]]] = value
        }
    }
}

/// The numbers of a span.
func list(_ span: borrowing Span<Int>) -> [Int] {
    var result: [Int] = []
    for index in span.indices { result.append(span[index]) }
    return result
}
