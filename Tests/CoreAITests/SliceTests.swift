import CoreAI
import Testing

/// The ranges to try along a dimension of `size` elements, each with what it should choose.
private func ranges(_ size: Int) -> [(any NDArray.RangeExpression, Range<Int>)] {
    var result: [(any NDArray.RangeExpression, Range<Int>)] = [(.all, 0..<size), (0..., 0..<size), (..<size, 0..<size)]
    if size > 0 {
        result += [(0, 0..<1), (size - 1, (size - 1)..<size), (0...(size - 1), 0..<size), (...0, 0..<1)]
    }
    if size > 1 { result += [(1..., 1..<size), (1..<size, 1..<size), (1..<1, 1..<1), (..<(size - 1), 0..<(size - 1))] }
    return result
}

@Suite struct SliceTests {
    /// Slices a view of every layout at every choice of ranges for its first dimensions.
    @Test func everySlice() {
        for model in someLayouts(sizes: [0, 1, 3]) where model.shape.count < 4 && model.strides.allSatisfy({ $0 != 0 })
        {
            var array = NDArray(model, scalarType: .int32)
            let indices = model.indices
            do {
                var view = array.mutableView(as: Int32.self)
                view.copyElements(from: (0..<indices.count).map(Int32.init))
            }
            let numbers = Dictionary(uniqueKeysWithValues: zip(indices, 0..<Int32(indices.count)))
            for rank in 0...min(model.shape.count, 2) {
                var choices: [[(any NDArray.RangeExpression, Range<Int>)]] = [[]]
                for axis in 0..<rank {
                    choices = choices.flatMap { choice in ranges(model.shape[axis]).map { choice + [$0] } }
                }
                for choice in choices {
                    let part = array.view(as: Int32.self).slice(at: choice.map(\.0))
                    let chosen = choice.map(\.1) + model.shape.dropFirst(rank).map { 0..<$0 }
                    let shape = list(part.shape)
                    #expect(shape == chosen.map(\.count))
                    let expected = indices.filter { index in zip(index, chosen).allSatisfy { $1.contains($0) } }
                    let elements = part.elements
                    #expect(elements == expected.map { numbers[$0] }, "\(model) at \(chosen)")
                    let raw = array.rawView().slice(at: choice.map(\.0)).view(as: Int32.self).elements
                    #expect(raw == elements)
                }
            }
        }
    }

    @Test func rankEight() {
        let shape = [2, 1, 2, 1, 2, 2, 1, 2]
        let array = NDArray(scalars: 0..<32, shape: shape)
        let part = array.view(as: Int.self).slice(at: [1, .all, ..<1, 0, .all, 1..., 0...0, 1])
        let found = (list(part.shape), part.elements)
        #expect(found == ([1, 1, 1, 1, 2, 1, 1, 1], [19, 23]))
        let deep = NDArray(shape: Array(repeating: 1, count: 40), scalarType: .int8)
        let rank = deep.view(as: Int8.self).slice(at: [0, 0]).rank
        #expect(rank == 40)
    }

    @Test func slicesOfSlicesWriteThrough() {
        var array = NDArray(scalars: (0..<24).map(Float.init), shape: [2, 3, 4])
        do {
            var view = array.mutableView(as: Float.self)
            do {
                var part = view.mutatingSlice(at: [1])
                var inner = part.mutatingSlice(at: [.all, 1..., 1...2])
                inner.copyElements(from: [-1, -2, -3, -4])
            }
            do {
                let ranges: [any NDArray.RangeExpression] = [0, 0, 0]
                var first = view.mutatingSlice(at: ranges)
                first[scalarAt: [0, 0, 0]] = -5
            }
            let consumed = view.slice(at: [0, 2]).slice(at: [.all, .all, 3])
            var elements = consumed.contiguousElements!
            elements[0] = -6
        }
        do {
            var raw = array.mutableRawView()
            do {
                let part = raw.mutatingSlice(at: [0, 1, 1])
                let view = part.view(as: Float.self)
                view.withUnsafeMutablePointer { start, _, _ in start.pointee = -7 }
            }
            let ranges: [any NDArray.RangeExpression] = [0, 1, 2]
            var view = raw.slice(at: ranges).view(as: Float.self)
            view.copyElements(from: [-8])
        }
        let elements = array.view(as: Float.self).elements
        var expected = (0..<24).map(Float.init)
        for (place, value) in [(17, -1), (18, -2), (21, -3), (22, -4), (0, -5), (11, -6), (5, -7), (6, -8)] {
            expected[place] = Float(value)
        }
        #expect(elements == expected)
    }

    /// Along an interleaved dimension: whole blocks, single elements, and parts of one block.
    @Test func interleavedSlices() {
        for factor in 1...4 {
            let size = 7
            var array = NDArray(
                shape: [size, 2], scalarType: .int32, strides: [2 * factor, factor],
                interleaveLayout: NDArray.InterleaveLayout(dimension: 0, factor: factor))
            do {
                var view = array.mutableView(as: Int32.self)
                view.copyElements(from: 0..<Int32(2 * size))
            }
            for lower in 0..<size {
                for upper in lower...size {
                    let isInOneBlock = lower == upper || lower / factor == (upper - 1) / factor
                    guard lower % factor == 0 || isInOneBlock else { continue }
                    let part = array.view(as: Int32.self).slice(at: [lower..<upper, 1])
                    let elements = part.elements
                    #expect(elements == (lower..<upper).map { Int32(2 * $0 + 1) }, "\(factor): \(lower)..<\(upper)")
                }
            }
        }
    }

    @Test func relativeRanges() {
        let dimension = 2..<9
        #expect(4.relative(to: dimension) == 4..<5)
        #expect((3..<5).relative(to: dimension) == 3..<5)
        #expect((3...5).relative(to: dimension) == 3..<6)
        #expect((..<5).relative(to: dimension) == 2..<5)
        #expect((...5).relative(to: dimension) == 2..<6)
        #expect((5...).relative(to: dimension) == 5..<9)
        #expect(_AllRange().relative(to: dimension) == dimension)
    }
}
