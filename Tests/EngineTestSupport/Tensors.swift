package import EngineDelegation
import EngineGraph

extension HostTensor {
    /// A tensor of `f32`.
    package init(_ values: [Float], _ shape: [Int]) throws {
        self = try HostTensor(allocating: TensorType(shape, .float32))
        precondition(values.count == type.elementCount)
        for (index, value) in values.enumerated() {
            pointer.storeBytes(of: value, toByteOffset: index * 4, as: Float.self)
        }
    }

    /// A tensor of `si32`.
    package init(_ values: [Int32], _ shape: [Int]) throws {
        self = try HostTensor(allocating: TensorType(shape, .int32))
        precondition(values.count == type.elementCount)
        for (index, value) in values.enumerated() {
            pointer.storeBytes(of: value, toByteOffset: index * 4, as: Int32.self)
        }
    }

    package init(_ value: Bool) throws {
        self = try HostTensor(allocating: TensorType([], .bool))
        pointer.storeBytes(of: value ? 1 : 0, as: UInt8.self)
    }

    /// The elements of a tensor of `f32`.
    package var floats: [Float] {
        (0..<(type.elementCount ?? 0)).map { pointer.load(fromByteOffset: $0 * 4, as: Float.self) }
    }

    package var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: pointer, count: byteCount)) }

    /// A copy in memory of its own.
    package func copied() throws -> HostTensor {
        let copy = try HostTensor(allocating: type)
        copy.pointer.copyMemory(from: pointer, byteCount: byteCount)
        return copy
    }
}

/// Numbers that are the same in every run.
package struct Dice {
    private var state: UInt64

    package init(_ seed: Int) {
        state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        for _ in 0..<4 { _ = next() }
    }

    private mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state >> 11
    }

    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    package mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }
    /// From −2 to 2, in steps that any float type holds.
    package mutating func float() -> Float { Float(below(33) - 16) / 8 }
    package mutating func floats(_ count: Int) -> [Float] { (0..<count).map { _ in float() } }
}
