import CoreAI
import Testing

@Suite struct ViewTests {
    @Test func elementsOfEveryLayout() {
        for model in someLayouts() + someInterleavedLayouts() where model.strides.allSatisfy({ $0 != 0 }) {
            let indices = model.indices
            var array = NDArray(model, scalarType: .int32)
            #expect(array.shape == model.shape && array.strides == model.strides)
            #expect(array.interleaveLayout == model.interleave)
            do {
                var view = array.mutableView(as: Int32.self)
                for (number, index) in indices.enumerated() { view.set(index, Int32(number + 1)) }
                for (number, index) in indices.enumerated() where number % 2 == 1 {
                    view.set(index, -view.view.element(index))
                }
            }
            let expected = indices.indices.map { $0 % 2 == 1 ? -Int32($0 + 1) : Int32($0 + 1) }
            let view = array.view(as: Int32.self)
            let elements = view.elements
            #expect(elements == expected, "\(model)")
            let places = view.withUnsafePointer { start, shape, strides in
                #expect(list(shape) == model.shape && list(strides) == model.strides)
                return indices.map { start[model.offset($0)] }
            }
            #expect(places == expected, "\(model)")
            let isContiguous = model.interleave == nil && indices.map(model.offset) == Array(0..<indices.count)
            #expect(view.isContiguous == isContiguous)
            var span: [Int32]?
            if let contiguous = view.contiguousElements {
                span = []
                for index in contiguous.indices { span?.append(contiguous[index]) }
            }
            #expect(span == (isContiguous ? expected : nil), "\(model)")
        }
    }

    @Test func copyingIntoEveryLayout() {
        for model in someLayouts() + someInterleavedLayouts() where model.strides.allSatisfy({ $0 != 0 }) {
            let count = model.indices.count
            var array = NDArray(model, scalarType: .int16)
            let numbers = (0..<count).map { Int16($0 + 1) }
            do {
                var view = array.mutableView(as: Int16.self)
                view.copyElements(fromContentsOf: numbers)
            }
            let copied = array.view(as: Int16.self).elements
            #expect(copied == numbers, "\(model)")
            do {
                // A sequence without storage, and shorter than the array.
                var view = array.mutableView(as: Int16.self)
                view.copyElements(from: numbers.dropLast().lazy.map { -$0 })
            }
            let changed = array.view(as: Int16.self).elements
            #expect(changed == numbers.dropLast().map { -$0 } + numbers.suffix(1), "\(model)")
        }
    }

    @Test func repeatedElements() {
        var array = NDArray(shape: [3, 2], scalarType: .int32, strides: [0, 1])
        let byteCount = array.rawView().bytes.byteCount
        #expect(byteCount == 8)
        do {
            var view = array.mutableView(as: Int32.self)
            view[scalarAt: [2, 1]] = 7
            view[scalarAt: [0, 0]] += 5
        }
        let elements = array.view(as: Int32.self).elements
        #expect(elements == [5, 7, 5, 7, 5, 7])
    }

    @Test func shapesOfViews() {
        var array = NDArray(shape: [2, 3], scalarType: .float64, strides: [4, 1])
        do {
            let view = array.view(as: Double.self)
            let sizes = (list(view.shape), list(view.strides), view.rank)
            #expect(sizes == ([2, 3], [4, 1], 2))
            let raw = view.rawView
            let rawSizes = (list(raw.shape), list(raw.strides))
            #expect(rawSizes == ([2, 3], [4, 1]))
            #expect(raw.scalarType == .float64)
            #expect(raw.interleaveLayout == nil)
        }
        let view = array.mutableView(as: Double.self)
        let sizes = (list(view.shape), list(view.strides), view.rank, view.isContiguous)
        #expect(sizes == ([2, 3], [4, 1], 2, false))
        let raw = view.mutableRawView
        let rawSizes = (list(raw.shape), list(raw.strides))
        #expect(rawSizes == ([2, 3], [4, 1]))
    }

    @Test func bytes() {
        var array = NDArray(shape: [2, 2], scalarType: .int32, strides: [3, 1])
        do {
            let raw = array.mutableRawView()
            var bytes = raw.mutableBytes
            #expect(bytes.byteCount == 20)
            for index in 0..<5 { bytes.storeBytes(of: Int32(index), toByteOffset: index * 4, as: Int32.self) }
        }
        let elements = array.view(as: Int32.self).elements
        #expect(elements == [0, 1, 3, 4])
        let backwards = NDArray(shape: [3], scalarType: .int8, strides: [-2])
        let raw = backwards.rawView()
        let byteCount = raw.bytes.byteCount
        #expect(byteCount == 5)
        let start = raw.withUnsafeBytes { start, _, _ in start }
        let low = raw.bytes.withUnsafeBytes { $0.baseAddress! }
        #expect(start == low + 4)
    }

    @Test func closuresThrowTheirOwnError() {
        struct Stop: Error {}
        var array = NDArray(shape: [1], scalarType: .int8)
        func typed() throws(Stop) {
            try array.view(as: Int8.self).withUnsafePointer { _, _, _ throws(Stop) in throw Stop() }
        }
        func raw() throws(Stop) {
            try array.mutableRawView().withUnsafeMutableBytes { _, _, _ throws(Stop) in throw Stop() }
        }
        #expect(throws: Stop.self) { try typed() }
        #expect(throws: Stop.self) { try raw() }
    }

    @Test func typesWithoutASwiftType() {
        struct Pair: BitwiseCopyable { var real: Float, imaginary: Float }
        var array = NDArray(shape: [2], scalarType: .cfloat32)
        do {
            var view = array.mutableView(as: Pair.self)
            view[scalarAt: [1]] = Pair(real: 1, imaginary: -2)
        }
        let imaginary = array.view(as: Pair.self)[scalarAt: [1]].imaginary
        #expect(imaginary == -2)
        let half = NDArray(shape: [3], scalarType: .bfloat16)
        let type = half.view(as: UInt16.self).rawView.scalarType
        #expect(type == .bfloat16)
    }

    @Test func emptyMemory() {
        let nothing: [Float] = []
        let view = NDArray.View(span: nothing.span, shape: [0, 3])
        let count = view.contiguousElements?.count
        #expect(count == 0)
        let raw = NDArray.RawView(bytes: nothing.span.bytes, scalarType: .float32, shape: [3, 0])
        let byteCount = raw.bytes.byteCount
        #expect(byteCount == 0)
        let array = NDArray(shape: [0], scalarType: .int4)
        let nibbles = array.rawView()
        let shape = list(nibbles.shape)
        #expect(shape == [0])
    }
}
