import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// Constants as tensors: shared where they can be, spread where they are splats.
@Suite struct ConstantTensorTests {
    @Test func alignedBytesAreShared() throws {
        let constant = Constant(bytes: [0, 0, 128, 63, 0, 0, 0, 64])
        let tensor = try HostTensor(constant: constant, type: TensorType([2], .float32))
        #expect(UnsafeRawPointer(tensor.pointer) == constant.pointer)
        #expect(tensor.floats == [1, 2])
    }

    @Test func unalignedBytesAreCopied() throws {
        let whole = Constant(bytes: [7, 0, 0, 128, 63, 0, 0, 0, 64])
        let constant = Constant(pointer: whole.pointer + 1, byteCount: 8, isSplat: false, owner: whole)
        let tensor = try HostTensor(constant: constant, type: TensorType([2], .float32))
        #expect(UnsafeRawPointer(tensor.pointer) != constant.pointer && tensor.floats == [1, 2])
        // Bytes have no alignment.
        let bytes = try HostTensor(constant: constant, type: TensorType([8], .uint8))
        #expect(UnsafeRawPointer(bytes.pointer) == constant.pointer)
    }

    @Test func aSharedTensorKeepsItsConstant() throws {
        weak var seen: Constant?
        func make() throws -> HostTensor {
            let constant = Constant(bytes: [1, 2, 3])
            seen = constant
            return try HostTensor(constant: constant, type: TensorType([3], .uint8))
        }
        var tensor: HostTensor? = try make()
        #expect(seen != nil && tensor?.bytes == [1, 2, 3])
        tensor = nil
        #expect(seen == nil)
    }

    @Test func tooFewBytesAreAnError() {
        let constant = Constant(bytes: [0, 0, 0])
        #expect(throws: EngineError.self) { try HostTensor(constant: constant, type: TensorType([1], .float32)) }
        let splat = Constant(bytes: [0, 0, 0], isSplat: true)
        #expect(throws: EngineError.self) { try HostTensor(constant: splat, type: TensorType([9], .float32)) }
        let none = Constant(bytes: [], isSplat: true)
        #expect(throws: EngineError.self) { try HostTensor(constant: none, type: TensorType([9], .int4)) }
        #expect(throws: EngineError.self) {
            try HostTensor(constant: splat, type: TensorType([1 << 40, 1 << 40], .float32))
        }
    }

    @Test func splatsAreSpread() throws {
        for count in [0, 1, 2, 3, 7, 100] {
            let float = Constant(bytes: [0, 0, 0, 64], isSplat: true)
            let floats = try HostTensor(constant: float, type: TensorType([count], .float32))
            #expect(floats.floats == [Float](repeating: 2, count: count))
            let wide = Constant(bytes: Array(1...16), isSplat: true)
            let complex = try HostTensor(constant: wide, type: TensorType([count], .complexFloat64))
            #expect(complex.bytes == (0..<count).flatMap { _ in Array(UInt8(1)...16) })
        }
    }

    @Test(arguments: [ElementType.uint1, .int2, .uint3, .int4, .uint5, .int6, .uint7, .float4e2m1fn])
    func packedSplatsAreSpread(type: ElementType) throws {
        let width = type.bitWidth
        let code: UInt8 = 0b1011_0101
        for count in [1, 2, 5, 8, 9, 64, 101] {
            let tensor = try HostTensor(
                constant: Constant(bytes: [code], isSplat: true), type: TensorType([count], type))
            #expect(tensor.byteCount == (count * width + 7) / 8)
            let bits = tensor.bytes.flatMap { byte in (0..<8).map { byte >> UInt8($0) & 1 } }
            for bit in 0..<(count * width) {
                #expect(bits[bit] == code >> UInt8(bit % width) & 1, "\(type), \(count) elements, bit \(bit)")
            }
            // Nothing beyond the last element.
            #expect(bits[(count * width)...].allSatisfy { $0 == 0 })
        }
    }
}
