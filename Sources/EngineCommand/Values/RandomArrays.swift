import CoreAI
import EngineGraph
import Foundation

/// Makes inputs up: the same seed gives the same numbers on every machine.
struct RandomArrays {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Small integers of at least zero, floats with a mean of 0 and a deviation of 1, bools either way.
    mutating func array(_ shape: [Int], _ scalarType: NDArray.ScalarType) throws(CommandError) -> NDArray {
        // Checked before anything of that size is made.
        _ = try NDArray.zeros(shape, scalarType)
        let type = scalarType.elementType
        let count = shape.reduce(1, *)
        if let part = type.complexPart {
            let pairs = try bytes(count * 2, part)
            return try NDArray(
                NumPyArray(type: NumPyType(saving: type), shape: shape, bytes: pairs[...]), expected: scalarType)
        }
        let bytes = try bytes(count, type)
        return try NDArray(
            NumPyArray(type: NumPyType(saving: type), shape: shape, bytes: bytes[...]), expected: scalarType)
    }

    /// `count` elements as a file would hold them.
    private mutating func bytes(_ count: Int, _ type: ElementType) throws(CommandError) -> [UInt8] {
        switch type {
        case .float64: return raw(count) { $0.normal() }
        case .float32, .tensorFloat32: return raw(count) { Float($0.normal()) }
        case .float16: return raw(count) { Float16($0.normal()) }
        case .bfloat16:
            // Cut, not rounded: any number will do.
            return raw(count) { UInt16(truncatingIfNeeded: Float($0.normal()).bitPattern >> 16) }
        case .float8e5m2: return raw(count) { UInt8(truncatingIfNeeded: Float16($0.normal()).bitPattern >> 8) }
        // Codes of ordinary magnitude: between 0.25 and 4.
        case .float8e4m3fn: return raw(count) { UInt8(0x28 + $0.next(below: 0x20)) | UInt8($0.next(below: 2) << 7) }
        case .float8e8m0fn: return raw(count) { UInt8(126 + $0.next(below: 3)) }
        case .float4e2m1fn: return raw(count) { UInt8($0.next(below: 16)) }
        default:
            let largest = type == .bool ? 1 : 1 << min(type.bitWidth - (type.isSignedInteger ? 1 : 0), 30) - 1
            let limit = min(10, largest + 1)
            switch max(1, type.bitWidth / 8) {
            case 1: return raw(count) { UInt8($0.next(below: limit)) }
            case 2: return raw(count) { UInt16($0.next(below: limit)) }
            case 4: return raw(count) { UInt32($0.next(below: limit)) }
            case 8: return raw(count) { UInt64($0.next(below: limit)) }
            default: return raw(count) { UInt128($0.next(below: limit)) }
            }
        }
    }

    private mutating func raw<T: BitwiseCopyable>(_ count: Int, _ make: (inout RandomArrays) -> T) -> [UInt8] {
        var values: [T] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(make(&self)) }
        return values.withUnsafeBytes { Array($0) }
    }

    /// SplitMix64.
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    private mutating func next(below limit: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(limit)).high) }

    /// By the Box-Muller transform.
    private mutating func normal() -> Double {
        // In (0, 1]: the logarithm of 0 is no number.
        let radius = Double(next() >> 11 &+ 1) * 0x1p-53
        let angle = Double(next() >> 11) * 0x1p-53
        return (-2 * log(radius)).squareRoot() * cos(2 * .pi * angle)
    }
}
