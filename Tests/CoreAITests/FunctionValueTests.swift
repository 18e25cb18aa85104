import CoreAI
import Testing

@Suite struct DescriptorTests {
    @Test func arrays() {
        let descriptor = NDArrayDescriptor(scalarType: .float16, shape: [2, 3, 4])
        #expect(descriptor.rank == 3)
        #expect(!descriptor.hasDynamicShape)
        #expect(descriptor.preferredStrides == [12, 4, 1])
        #expect(descriptor.minimumByteCount == 48)
        let array = NDArray(descriptor: descriptor)
        #expect(array.shape == [2, 3, 4] && array.strides == [12, 4, 1] && array.scalarType == .float16)
        let isZero = array.view(as: Float16.self).elements.allSatisfy { $0 == 0 }
        #expect(isZero)
        #expect(NDArrayDescriptor(scalarType: .float16, shape: []).minimumByteCount == 2)
    }

    @Test func dynamicSizes() {
        let descriptor = NDArrayDescriptor(scalarType: .int32, shape: [-1, 77, -1])
        #expect(descriptor.hasDynamicShape)
        let half = descriptor.resolvingDynamicDimensions([2, 77, -1])
        #expect(half.shape == [2, 77, -1] && half.hasDynamicShape)
        let resolved = half.resolvingDynamicDimensions([2, 77, 3])
        #expect(resolved.preferredStrides == [231, 3, 1])
        #expect(resolved == descriptor.resolvingDynamicDimensions([2, 77, 3]))
        #expect(resolved != descriptor)
        #expect(descriptor.resolvingDynamicDimensions([0, 77, 1]).minimumByteCount == 0)
    }

    @Test func preferredLayouts() {
        let padded = NDArrayDescriptor(scalarType: .int8, shape: [2, 3], preferredStrides: [64, 1])
        #expect(padded.preferredStrides == [64, 1])
        #expect(padded.minimumByteCount == 67)
        #expect(NDArray(descriptor: padded).strides == [64, 1])
        let interleave = NDArray.InterleaveLayout(dimension: 0, factor: 4)
        let image = NDArrayDescriptor(scalarType: .uint8, shape: [3, 2, 2], interleaveLayout: interleave)
        #expect(image.preferredStrides == [16, 8, 4])
        // The last block is used up to its third element.
        #expect(image.minimumByteCount == 15)
        #expect(NDArray(descriptor: image).interleaveLayout == interleave)
    }

    @Test func functions() {
        let array = InferenceValue.Descriptor.ndArray(NDArrayDescriptor(scalarType: .int32, shape: [1]))
        let image = InferenceValue.Descriptor.image(ImageDescriptor(height: 2, width: 3, pixelFormatType: 0x4247_5241))
        let descriptor = InferenceFunctionDescriptor(
            name: "main", inputs: [("z", array), ("a", image)], states: [("s", array)], outputs: [("o", array)])
        #expect(descriptor.name == "main")
        #expect(descriptor.inputNames == ["z", "a"] && descriptor.inputCount == 2)
        #expect(descriptor.stateNames == ["s"])
        #expect(descriptor.outputNames == ["o"] && descriptor.outputCount == 1)
        guard case .image(let size) = descriptor.inputDescriptor(of: "a") else {
            Issue.record("the input is no image")
            return
        }
        #expect(size == ImageDescriptor(height: 2, width: 3, pixelFormatType: 0x4247_5241))
        guard let value = descriptor.inputDescriptor(of: "z"), case .ndArray(let expected) = value else {
            Issue.record("the input is no array")
            return
        }
        #expect(expected.shape == [1])
        #expect(descriptor.inputDescriptor(of: "s") == nil)
        #expect(descriptor.stateDescriptor(of: "s") != nil)
        #expect(descriptor.stateDescriptor(of: "o") == nil)
        #expect(descriptor.outputDescriptor(of: "o") != nil)
        #expect(descriptor.outputDescriptor(of: "z") == nil)
    }
}

@Suite struct OutputTests {
    private func array(_ number: Int) -> NDArray { NDArray(scalars: [number], shape: [1]) }

    @Test func takenOnce() {
        var outputs = InferenceFunction.Outputs([(name: "b", array: array(1)), (name: "a", array: array(2))])
        #expect(outputs.count == 2)
        #expect(Array(outputs.names) == ["b", "a"])
        guard let value = outputs.remove("b") else {
            Issue.record("the output is missing")
            return
        }
        #expect(value.kind == .ndArray)
        let first = value.ndArray
        #expect(first?.view(as: Int.self).elements == [1])
        let second = value.ndArray
        #expect(second == nil)
        #expect(value.kind == .ndArray)
        let again = outputs.remove("b") == nil
        #expect(again)
        #expect(Array(outputs.names) == ["a"] && outputs.count == 1)
        let missing = outputs.remove("c") == nil
        #expect(missing)
    }

    /// A taken array is nobody else's: writing to it needs no copy.
    @Test func takenArraysAreAlone() {
        var outputs = InferenceFunction.Outputs([(name: "a", array: array(2))])
        guard var taken = outputs.remove("a")?.ndArray else {
            Issue.record("the output is missing")
            return
        }
        let before = taken.borrowedTensor.start
        let after = taken.mutableRawView().withUnsafeMutableBytes { start, _, _ in UnsafeRawPointer(start) }
        #expect(before == after)
    }

    @Test func namedViews() {
        var array = array(1)
        do {
            var views = InferenceFunction.MutableViews()
            views.insert(&array, for: "a")
            var named = InferenceValue.NamedMutableViews(views)
            let missing = named.take("b") == nil
            #expect(missing)
            let taken = named.take("a") != nil
            #expect(taken)
        }
    }
}
