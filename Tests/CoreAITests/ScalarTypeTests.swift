import CoreAI
import EngineDelegation
import EngineGraph
import Testing

@Suite struct ScalarTypeTests {
    @Test func everyTypeHasItsElementType() {
        let types = NDArray.ScalarType.allCases
        #expect(types.count == 35)
        #expect(Set(types.map(\.elementType)).count == 35)
        for type in types {
            #expect(NDArray.ScalarType(type.elementType) == type)
        }
        let unnamed = ElementType.allCases.filter { NDArray.ScalarType($0) == nil }
        #expect(unnamed == [.tensorFloat32, .complexFloat8e5m2, .complexFloat8e4m3fn, .complexBFloat16])
    }

    @Test(arguments: [
        (NDArray.ScalarType.bool, 7), (.int2, 2), (.int3, 3), (.int4, 4), (.int5, 5), (.int6, 6), (.int7, 7),
        (.int8, 7),
        (.int16, 14), (.int32, 28), (.int64, 56), (.int128, 112), (.uint1, 1), (.uint2, 2), (.uint3, 3), (.uint4, 4),
        (.uint5, 5), (.uint6, 6), (.uint7, 7), (.uint8, 7), (.uint16, 14), (.uint32, 28), (.uint64, 56),
        (.uint128, 112), (.float8e5m2, 7), (.float8e4m3fn, 7), (.float8e8m0fn, 7), (.float4e2m1fn, 4), (.float16, 14),
        (.float32, 28), (.float64, 56), (.bfloat16, 14), (.cfloat16, 28), (.cfloat32, 56), (.cfloat64, 112),
    ])
    func bytesOfSevenElements(_ type: NDArray.ScalarType, _ byteCount: Int) {
        let array = NDArray(shape: [7], scalarType: type)
        #expect(array.rawView().bytes.byteCount == byteCount)
        #expect(NDArrayDescriptor(scalarType: type, shape: [7]).minimumByteCount == byteCount)
    }

    @Test func typesOfSwift() {
        func type<Scalar: BitwiseCopyable>(_ scalar: Scalar) -> NDArray.ScalarType {
            let array = NDArray(scalars: [scalar, scalar], shape: [2])
            let bytes = array.rawView().bytes.byteCount
            #expect(bytes == 2 * MemoryLayout<Scalar>.size)
            let view = array.view(as: Scalar.self)
            let count = view.contiguousElements?.count
            #expect(count == 2)
            return array.scalarType
        }
        #expect(type(true) == .bool)
        #expect(type(Int8(1)) == .int8)
        #expect(type(Int16(1)) == .int16)
        #expect(type(Int32(1)) == .int32)
        #expect(type(Int64(1)) == .int64)
        #expect(type(1) == .int64)
        #expect(type(Int128(1)) == .int128)
        #expect(type(UInt8(1)) == .uint8)
        #expect(type(UInt16(1)) == .uint16)
        #expect(type(UInt32(1)) == .uint32)
        #expect(type(UInt64(1)) == .uint64)
        #expect(type(UInt(1)) == .uint64)
        #expect(type(UInt128(1)) == .uint128)
        #expect(type(Float16(1)) == .float16)
        #expect(type(Float(1)) == .float32)
        #expect(type(Double(1)) == .float64)
    }
}

@Suite struct TensorCopyTests {
    /// The element at an offset, read bit by bit.
    private func element(_ bytes: [UInt8], _ offset: Int, _ width: Int) -> [Bool] {
        (0..<width).map { bit in
            let place = offset * width + bit
            return bytes[place / 8] >> UInt8(place % 8) & 1 == 1
        }
    }

    private func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }

    /// Every scalar type in layouts of every kind: out to dense memory, and back into an array of zeros.
    @Test(arguments: NDArray.ScalarType.allCases)
    func everyType(_ type: NDArray.ScalarType) throws {
        let width = type.bitWidth
        let interleaved = [
            LayoutModel(
                shape: [2, 5, 2], strides: [20, 8, 4], interleave: NDArray.InterleaveLayout(dimension: 1, factor: 4)),
            LayoutModel(
                shape: [3, 5], strides: [9, 3], interleave: NDArray.InterleaveLayout(dimension: 1, factor: 3)),
        ]
        let shapes = [[], [5], [3, 5], [2, 0], [2, 3, 3], [1, 17], [2, 1, 2, 1, 2, 2, 1, 2]]
        let models =
            interleaved
            + shapes.flatMap { shape in someStrides(shape).map { LayoutModel(shape: shape, strides: $0) } }
        for model in models where model.strides.allSatisfy({ $0 != 0 }) {
            let offsets = model.indices.map(model.offset)
            let count = offsets.count
            let lowest = offsets.min() ?? 0
            let byteCount = NDArray(model, scalarType: type).rawView().bytes.byteCount
            let memory = noise(byteCount)
            var array = NDArray(model, scalarType: type)
            do {
                var bytes = array.mutableRawView().mutableBytes
                for index in memory.indices { bytes.storeBytes(of: memory[index], toByteOffset: index, as: UInt8.self) }
            }
            var dense = [UInt8](repeating: 0, count: (count * width + 7) / 8 + 1)
            dense.withUnsafeMutableBytes { array.borrowedTensor.copyElements(to: $0.baseAddress!) }
            for (number, offset) in offsets.enumerated() {
                let expected = element(memory, offset - lowest, width)
                #expect(element(dense, number, width) == expected, "\(type) \(model)")
            }
            #expect(dense.last == 0)

            var back = NDArray(model, scalarType: type)
            do {
                let tensor = back.lendMutably()
                dense.withUnsafeBytes { tensor.copyElements(from: $0.baseAddress!) }
            }
            var again = [UInt8](repeating: 0, count: dense.count)
            again.withUnsafeMutableBytes { back.borrowedTensor.copyElements(to: $0.baseAddress!) }
            #expect(again == dense, "\(type) \(model)")
        }
    }

    /// Parts of packed arrays begin inside a byte; writing to them leaves their neighbours alone.
    @Test(arguments: NDArray.ScalarType.allCases.filter { $0.bitWidth < 8 })
    func partsOfPackedArrays(_ type: NDArray.ScalarType) {
        let width = type.bitWidth
        let memory = noise((35 * width + 7) / 8)
        for row in 0..<5 {
            for column in 0..<7 {
                let raw = NDArray.RawView(bytes: memory.span.bytes, scalarType: type, shape: [5, 7])
                let part = raw.slice(at: [row..., column...])
                let shape = [5 - row, 7 - column]
                var dense = [UInt8](repeating: 0, count: (shape[0] * shape[1] * width + 7) / 8)
                let tensor = part.borrowedTensor
                #expect(tensor.shape == shape)
                #expect(tensor.bitOffset == (row * 7 + column) * width % 8)
                dense.withUnsafeMutableBytes { tensor.copyElements(to: $0.baseAddress!) }
                var changed = memory
                do {
                    var span = changed.mutableSpan
                    let mutable = NDArray.MutableRawView(
                        mutableBytes: span.mutableBytes, scalarType: type, shape: [5, 7])
                    let target = mutable.slice(at: [row..., column...]).mutableTensor
                    let ones = [UInt8](repeating: 0xFF, count: dense.count)
                    ones.withUnsafeBytes { target.copyElements(from: $0.baseAddress!) }
                }
                for place in 0..<35 {
                    let isInside = place / 7 >= row && place % 7 >= column
                    let number = (place / 7 - row) * shape[1] + place % 7 - column
                    let before = element(memory, place, width)
                    if isInside { #expect(element(dense, number, width) == before) }
                    let after = element(changed, place, width)
                    #expect(after == (isInside ? Array(repeating: true, count: width) : before))
                }
                let spare = 35 * width % 8
                if spare != 0 { #expect(changed.last! >> UInt8(spare) == memory.last! >> UInt8(spare)) }
            }
        }
    }
}

@Suite struct EngineArrayTests {
    @Test func wrapsABuffer() throws {
        let buffer = try HostBuffer(byteCount: 32)
        buffer.pointer.storeBytes(of: 5, toByteOffset: 16, as: Float.self)
        var array = try NDArray(buffer: buffer, byteOffset: 8, elementType: .float32, shape: [2, 3])
        #expect(array.scalarType == .float32)
        #expect(array.strides == [3, 1])
        #expect(array.borrowedTensor.buffer === buffer)
        #expect(array.borrowedTensor.byteOffset == 8)
        #expect(array.borrowedTensor.isContiguous)
        let elements = array.view(as: Float.self).elements
        #expect(elements == [0, 0, 5, 0, 0, 0])
        // Somebody else holds the buffer, so writing makes a copy.
        do {
            var view = array.mutableView(as: Float.self)
            view[scalarAt: [0, 0]] = 1
        }
        #expect(array.borrowedTensor.buffer !== buffer)
        #expect(buffer.pointer.load(fromByteOffset: 8, as: Float.self) == 0)
        let changed = array.view(as: Float.self).elements
        #expect(changed == [1, 0, 5, 0, 0, 0])
    }

    @Test func writesInPlaceOnceAlone() throws {
        var array = try NDArray(buffer: HostBuffer(byteCount: 8), elementType: .int64, shape: [])
        let address = array.borrowedTensor.start
        let written = array.mutableRawView().withUnsafeMutableBytes { start, _, _ in UnsafeRawPointer(start) }
        #expect(written == address)
        var constant = try NDArray(
            buffer: HostBuffer(byteCount: 8), elementType: .int64, shape: [], isReadOnly: true)
        let old = constant.borrowedTensor.start
        let new = constant.mutableRawView().withUnsafeMutableBytes { start, _, _ in UnsafeRawPointer(start) }
        #expect(new != old)
        let kept = constant.mutableRawView().withUnsafeMutableBytes { start, _, _ in UnsafeRawPointer(start) }
        #expect(kept == new)
    }

    @Test func refusesWhatDoesNotFit() throws {
        let buffer = try HostBuffer(byteCount: 16)
        #expect(throws: EngineError.self) { try NDArray(buffer: buffer, elementType: .float32, shape: [5]) }
        #expect(throws: EngineError.self) {
            try NDArray(buffer: buffer, byteOffset: 2, elementType: .float32, shape: [1])
        }
        #expect(throws: EngineError.self) {
            try NDArray(buffer: buffer, byteOffset: 17, elementType: .int8, shape: [0])
        }
        #expect(throws: EngineError.self) { try NDArray(buffer: buffer, elementType: .tensorFloat32, shape: [1]) }
        #expect(throws: EngineError.self) { try NDArray(buffer: buffer, elementType: .int8, shape: [-1]) }
        #expect(throws: EngineError.self) {
            try NDArray(buffer: buffer, elementType: .int8, shape: [4], strides: [-1])
        }
        let backwards = try NDArray(buffer: buffer, byteOffset: 3, elementType: .int8, shape: [4], strides: [-1])
        #expect(!backwards.borrowedTensor.isContiguous)
    }
}
