import CoreAI
import Testing

// Written as an app would write it: nothing here but the public API, in the patterns that apps use. That it compiles
// is half of the test.

/// `Span` is no sequence.
extension Span where Element == Int {
    var product: Int {
        var result = 1
        for index in 0..<count { result *= self[index] }
        return result
    }
}

private func writeInputData(into elements: consuming MutableSpan<Float>) {
    for index in elements.indices { elements[index] = Float(index) }
}

private func total(_ view: borrowing NDArray.View<Float>) -> Float {
    guard let elements = view.contiguousElements else { return .nan }
    var sum: Float = 0
    for index in elements.indices { sum += elements[index] }
    return sum
}

private func sumOfRow(of view: borrowing NDArray.View<Float>, row: Int) -> Float {
    let rowSlice = view.slice(at: [row])
    let elements = rowSlice.contiguousElements!
    var sum: Float = 0
    for index in elements.indices { sum += elements[index] }
    return sum
}

private func incrementRegion(
    of mutableView: inout NDArray.MutableView<Float>, channel: Int, startRow: Int, endRow: Int
) {
    let region = mutableView.mutatingSlice(at: [channel, startRow..<endRow, .all])
    var mutableSpan = region.contiguousElements!
    for index in mutableSpan.indices { mutableSpan[index] += 1 }
}

private func incrementRegion(
    of mutableRawView: consuming NDArray.MutableRawView, channel: Int, startRow: Int, endRow: Int
) {
    let region = mutableRawView.slice(at: [channel, startRow..<endRow, .all]).view(as: Float.self)
    var mutableSpan = region.contiguousElements!
    for index in mutableSpan.indices { mutableSpan[index] += 1 }
}

private func fill<T: BitwiseCopyable>(_ array: inout NDArray, as type: T.Type, with elements: some Collection<T>) {
    var view = array.mutableView(as: type)
    view.copyElements(fromContentsOf: elements)
}

private func fill<T: BitwiseCopyable>(
    _ array: inout NDArray, as type: T.Type, count: Int, using generator: (Int) -> T
) {
    let view = array.mutableView(as: type)
    view.withUnsafeMutablePointer { pointer, shape, _ in
        precondition(count <= shape.product)
        for index in 0..<count { pointer[index] = generator(index) }
    }
}

private enum WriteError: Error { case interleaved, count(expected: Int, given: Int) }

private func writeRowMajor<T: BitwiseCopyable>(_ source: [T], into array: inout NDArray, as type: T.Type) throws {
    let view = array.mutableView(as: type)
    guard view.interleaveLayout == nil else { throw WriteError.interleaved }
    if var elements = view.contiguousElements {
        guard elements.count == source.count else {
            throw WriteError.count(expected: elements.count, given: source.count)
        }
        for index in 0..<source.count { elements[index] = source[index] }
        return
    }
    try view.withUnsafeMutablePointer { pointer, shape, strides in
        guard shape.product == source.count else {
            throw WriteError.count(expected: shape.product, given: source.count)
        }
        var index = [Int](repeating: 0, count: shape.count)
        for element in source {
            var offset = 0
            for axis in 0..<shape.count { offset += index[axis] * strides[axis] }
            pointer[offset] = element
            var axis = shape.count - 1
            while axis >= 0 {
                index[axis] += 1
                if index[axis] < shape[axis] { break }
                index[axis] = 0
                axis -= 1
            }
        }
    }
}

private func flatten<T: BitwiseCopyable>(_ array: NDArray, as type: T.Type) -> [T] {
    let view = array.view(as: type)
    guard let elements = view.contiguousElements else { return [] }
    return (0..<elements.count).map { elements[$0] }
}

@Suite struct ClientArrays {
    @Test func writeThenRead() {
        var input = NDArray(shape: [3, 4], scalarType: .float32)
        let mutableView = input.mutableView(as: Float.self)
        guard let elements = mutableView.contiguousElements else {
            Issue.record("not contiguous")
            return
        }
        writeInputData(into: elements)
        // The views above are still in scope.
        let inputs = ["input": input]
        let sum = total(input.view())
        #expect(sum == 66)
        #expect(inputs["input"]?.shape == [3, 4])
        do {
            // As with a span, a view's variable bars writing until the end of its scope.
            let rows = input.view(as: Float.self)
            let second = sumOfRow(of: rows, row: 1)
            #expect(second == 22)
        }
        let last = input.mutableView(as: Float.self)
        var lastElements = last.contiguousElements!
        lastElements[11] = 100
        let changed = total(input.view())
        #expect(changed == 155)
        #expect(flatten(input, as: Float.self).last == 100)
        #expect(flatten(inputs["input"]!, as: Float.self).last == 11)
    }

    @Test func regions() {
        var array = NDArray(shape: [2, 3, 4], scalarType: .float32)
        var view = array.mutableView(as: Float.self)
        incrementRegion(of: &view, channel: 1, startRow: 1, endRow: 3)
        incrementRegion(of: &view, channel: 1, startRow: 2, endRow: 3)
        incrementRegion(of: array.mutableRawView(), channel: 0, startRow: 0, endRow: 1)
        let expected: [Float] = [1, 1, 1, 1] + Array(repeating: 0, count: 12) + [1, 1, 1, 1] + [2, 2, 2, 2]
        #expect(flatten(array, as: Float.self) == expected)
    }

    @Test func helpers() throws {
        var array = NDArray(shape: [2, 3], scalarType: .int32)
        fill(&array, as: Int32.self, with: [1, 2, 3, 4, 5, 6])
        #expect(flatten(array, as: Int32.self) == [1, 2, 3, 4, 5, 6])
        fill(&array, as: Int32.self, count: 6) { Int32($0 * $0) }
        #expect(flatten(array, as: Int32.self) == [0, 1, 4, 9, 16, 25])

        var padded = NDArray(shape: [2, 3], scalarType: .float16, strides: [8, 1])
        try writeRowMajor((0..<6).map(Float16.init), into: &padded, as: Float16.self)
        do {
            let view = padded.view(as: Float16.self)
            let isNil = view.contiguousElements == nil
            #expect(isNil)
            let corner = view[scalarAt: [1, 2]]
            #expect(corner == 5)
        }
        #expect(throws: WriteError.self) { try writeRowMajor([1], into: &padded, as: Float16.self) }
    }

    @Test func scalars() {
        let array = NDArray(scalars: (0..<4) as Range<Int32>, shape: [2, 2])
        #expect(array.scalarType == .int32)
        #expect(flatten(array, as: Int32.self) == [0, 1, 2, 3])
        let bools = NDArray(scalars: [true, false], shape: [2])
        #expect(flatten(bools, as: Bool.self) == [true, false])
    }

    @Test func rangesInAnArray() {
        var array = NDArray(scalars: 0..<12, shape: [1, 12, 1])
        let range: [any NDArray.RangeExpression] = [0...0, 4..<6, ...0]
        var view = array.mutableView(as: Int.self)
        _ = view.mutatingSlice(at: range)
        let part = view.mutatingSlice(at: range)
        var elements = part.contiguousElements!
        elements[0] = -1
        let read = array.view(as: Int.self).slice(at: [.all, 3..., 0])
        let values = [read[scalarAt: [0, 0, 0]], read[scalarAt: [0, 1, 0]], read[scalarAt: [0, 2, 0]]]
        #expect(values == [3, -1, 5])
    }

    @Test func viewsOfOwnMemory() {
        let weights: [Float] = [1, 2, 3, 4, 5, 6]
        let view = NDArray.View(span: weights.span, shape: [2, 3])
        let second = sumOfRow(of: view, row: 1)
        #expect(second == 15)
        let raw = NDArray.RawView(bytes: weights.span.bytes, byteOffset: 4, scalarType: .float32, shape: [5])
        let typed = raw.view(as: Float.self)
        let first = typed[scalarAt: [0]]
        #expect(first == 2)

        var memory: [Float] = [0, 0, 0, 0]
        do {
            var mutable = NDArray.MutableView(mutableSpan: memory.mutableSpan, shape: [2, 2], strides: [1, 2])
            mutable.copyElements(from: [1, 2, 3, 4])
        }
        #expect(memory == [1, 3, 2, 4])
    }
}
