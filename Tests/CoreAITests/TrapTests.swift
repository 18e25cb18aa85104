import CoreAI
import Testing

/// Programming errors stop the program, with their reason on standard error.
@Suite struct TrapTests {
    private func expect(_ text: String, in result: ExitTest.Result?) {
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains(text), "\(output)")
    }

    @Test func descriptors() async {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArrayDescriptor(scalarType: .int8, shape: [1, 77]).resolvingDynamicDimensions([1, 96])
        }
        expect("Shape at dimension 1 of 96 is not a valid substitution for source shape 77", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArrayDescriptor(scalarType: .int8, shape: [-1]).resolvingDynamicDimensions([-2])
        }
        expect("Shape at dimension 0 of -2 is not a valid substitution for source shape -1", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArrayDescriptor(scalarType: .int8, shape: [-1]).resolvingDynamicDimensions([1, 1])
        }
        expect("Shape of rank 2 is not a valid substitution for source shape of rank 1", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArrayDescriptor(scalarType: .int8, shape: [2, -1]).preferredStrides
        }
        expect("preferredStrides: the shape [2, -1] is dynamic", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArrayDescriptor(scalarType: .int8, shape: [-1]).minimumByteCount
        }
        expect("minimumByteCount: the shape [-1] is dynamic", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(descriptor: NDArrayDescriptor(scalarType: .int8, shape: [-1]))
        }
        expect("NDArray(descriptor:): the shape [-1] is dynamic", in: result)
    }

    @Test func arrays() async {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(shape: [2, -1], scalarType: .int8)
        }
        expect("dimension 1 of the shape [2, -1] is negative", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(shape: [2, 2], scalarType: .int8, strides: [])
        }
        expect("0 strides were given for the 2 dimensions", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(scalars: [1, 2, 3], shape: [2, 2])
        }
        expect("3 scalars were given for the shape [2, 2]", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(scalars: [SIMD2<Float>()], shape: [1])
        }
        expect("is the type of no NDArray.ScalarType", in: result)
        // A sanitizer stops the program with its own words.
        await #expect(processExitsWith: .failure) { _ = NDArray(shape: [1 << 50], scalarType: .float64) }
    }

    @Test func viewTypes() async {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(shape: [1], scalarType: .float32).view(as: Int32.self)
        }
        expect("Int32 does not match the scalar type float32", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let raw = NDArray(shape: [1], scalarType: .float32).rawView()
            _ = raw.view(as: Double.self)
        }
        expect("Double does not match the scalar type float32", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var array = NDArray(shape: [1], scalarType: .int4)
            _ = array.mutableView(as: Int8.self)
        }
        expect("Int8 has not the size of the scalar type int4", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let bytes = [UInt8](repeating: 0, count: 64)
            let raw = NDArray.RawView(bytes: bytes.span.bytes, byteOffset: 1, scalarType: .int64, shape: [1])
            let other = NDArray.RawView(bytes: bytes.span.bytes, byteOffset: 2, scalarType: .int64, shape: [1])
            _ = raw.view(as: Int64.self)
            _ = other.view(as: Int64.self)
        }
        expect("the memory is not aligned for Int64", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let pairs = [SIMD2<Float>()]
            _ = NDArray.View(span: pairs.span, shape: [1]).rawView
        }
        expect("is the type of no NDArray.ScalarType", in: result)
    }

    @Test func viewsOutsideMemory() async {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let memory: [Float] = [1, 2, 3]
            _ = NDArray.View(span: memory.span, shape: [2, 2])
        }
        expect("reaches outside 3 elements", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let memory: [Float] = [1, 2, 3]
            _ = NDArray.View(span: memory.span, shape: [2], strides: [-1])
        }
        expect("reaches outside 3 elements", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let memory: [Float] = [1, 2, 3]
            _ = NDArray.RawView(bytes: memory.span.bytes, byteOffset: 4, scalarType: .float32, shape: [3])
        }
        expect("reaches outside 12 bytes from byte 4", in: result)
        await #expect(processExitsWith: .failure) {
            _ = NDArray(shape: [2, 2], scalarType: .int8).view(as: Int8.self)[scalarAt: [0, 2]]
        }
        await #expect(processExitsWith: .failure) {
            _ = NDArray(shape: [2, 2], scalarType: .int8).view(as: Int8.self)[scalarAt: [0]]
        }
        await #expect(processExitsWith: .failure) {
            _ = NDArray(shape: [2, 2], scalarType: .int8).view(as: Int8.self)[scalarAt: [-1, 0]]
        }
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var array = NDArray(shape: [2], scalarType: .int8)
            var view = array.mutableView(as: Int8.self)
            view.copyElements(from: [1, 2, 3])
        }
        expect("more elements to copy than the 2 of the view", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var array = NDArray(shape: [2], scalarType: .int8, strides: [3])
            var view = array.mutableView(as: Int8.self)
            view.copyElements(from: (0..<3).lazy.map(Int8.init))
        }
        expect("more elements to copy than the 2 of the view", in: result)
    }

    @Test func slices() async {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(shape: [4, 2], scalarType: .int8).rawView().slice(at: [2..<5])
        }
        expect("2..<5 is outside dimension 0, whose size is 4", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(shape: [4], scalarType: .int8).rawView().slice(at: [-1])
        }
        expect("-1..<0 is outside dimension 0", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(shape: [4], scalarType: .int8).rawView().slice(at: [5...])
        }
        expect("5..<4 is no range of a dimension", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(shape: [4], scalarType: .int8).rawView().slice(at: [0...Int.max])
        }
        expect("position \(Int.max) is outside every dimension", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NDArray(shape: [4], scalarType: .int8).rawView().slice(at: [0, 0])
        }
        expect("2 ranges were given for 1 dimensions", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let array = NDArray(
                shape: [4], scalarType: .int8, strides: [2],
                interleaveLayout: NDArray.InterleaveLayout(dimension: 0, factor: 2))
            _ = array.rawView().slice(at: [1..<3])
        }
        expect("starts inside a block of 2 interleaved elements and leaves it", in: result)
    }

    @Test func exclusivity() async {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var array = NDArray(shape: [1], scalarType: .int8)
            var views = InferenceFunction.MutableViews()
            views.insert(&array, for: "a")
            views.insert(&array, for: "b")
        }
        expect("the array is lent to MutableViews", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var array = NDArray(shape: [1], scalarType: .int8)
            var views = InferenceFunction.MutableViews()
            views.insert(&array, for: "a")
            _ = array.view(as: Int8.self)
            _ = try await run(states: views)
        }
        expect("the array is lent to MutableViews", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var array = NDArray(shape: [1], scalarType: .int8)
            var views = InferenceFunction.MutableViews()
            views.insert(&array, for: "a")
            var inputs = InferenceFunction.Inputs()
            inputs.insert(array, for: "a")
            _ = try await run(states: views)
        }
        expect("the array is lent to MutableViews", in: result)
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var array = NDArray(shape: [1], scalarType: .int8)
            var views = InferenceFunction.MutableViews()
            views.insert(&array, for: "a")
            var named = InferenceValue.NamedMutableViews(views)
            _ = named.take("a")
            _ = named.take("a")
        }
        expect("the view of 'a' was taken already", in: result)
    }
}
