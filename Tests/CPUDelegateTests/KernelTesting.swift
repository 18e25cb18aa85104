import CPUKernels
import EngineDelegation

/// The CPU level and the thread count belong to the process: tests that set them take turns.
private let kernelTurn = Locked(())

/// Runs `body` at each level that this CPU has.
func atEachLevel(_ body: (_ level: Int32) throws -> Void) rethrows {
    try kernelTurn.withLock { _ in
        defer {
            _ = ck_set_cpu_level(-1)
            _ = ck_set_thread_count(0)
        }
        let best = ck_set_cpu_level(-1)
        for level in 0...best {
            _ = ck_set_cpu_level(level)
            _ = ck_set_thread_count(level == 0 ? 1 : 3)
            try body(level)
        }
    }
}

/// Numbers that are the same in every run.
struct Noise {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state >> 11
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func chance(_ oneIn: Int) -> Bool { below(oneIn) == 0 }
    mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }

    /// About normally distributed.
    mutating func value() -> Float {
        var sum = -6.0
        for _ in 0..<12 { sum += Double(next() % 65536) / 65536 }
        return Float(sum)
    }
}

let floatTypes = [CK_F32, CK_F16, CK_BF16]

/// An array of one of the storage types, kept also as what its elements are worth.
final class Elements {
    let type: ck_type
    let count: Int
    let memory: UnsafeMutableRawPointer

    init(_ type: ck_type, count: Int, fill: () -> Float) {
        self.type = type
        self.count = count
        memory = .allocate(byteCount: max(1, count * ck_type_size(type)), alignment: 64)
        for index in 0..<count { self[index] = fill() }
    }

    deinit { memory.deallocate() }

    subscript(index: Int) -> Float {
        get {
            if type == CK_F32 { return memory.load(fromByteOffset: index * 4, as: Float.self) }
            let bits = memory.load(fromByteOffset: index * 2, as: UInt16.self)
            return type == CK_F16 ? ck_f16_to_f32(bits) : ck_bf16_to_f32(bits)
        }
        set {
            if type == CK_F32 {
                memory.storeBytes(of: newValue, toByteOffset: index * 4, as: Float.self)
            } else {
                let bits = type == CK_F16 ? ck_f32_to_f16(newValue) : ck_f32_to_bf16(newValue)
                memory.storeBytes(of: bits, toByteOffset: index * 2, as: UInt16.self)
            }
        }
    }

    var floats: UnsafeMutablePointer<Float> { memory.assumingMemoryBound(to: Float.self) }

    var doubles: [Double] { (0..<count).map { Double(self[$0]) } }

    /// What rounding to this type may change.
    var precision: Double { type == CK_F32 ? 2e-6 : type == CK_F16 ? 1e-3 : 8e-3 }
}

/// The largest error in units of what is allowed: relative to the value and to the sum's terms.
func excess(of value: Float, from expected: Double, terms: Double, precision: Double) -> Double {
    if expected.isNaN || value.isNaN { return expected.isNaN == value.isNaN ? 0 : .infinity }
    return abs(Double(value) - expected) / (precision * abs(expected) + 2e-6 * terms.squareRoot() + precision * 1e-2)
}
