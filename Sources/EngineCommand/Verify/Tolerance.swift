import EngineGraph

/// How far a value may be from its reference: |a − e| ≤ atol + rtol · |e|.
struct Tolerance: Equatable, Sendable, Codable {
    var rtol: Double
    var atol: Double

    static let exact = Tolerance(rtol: 0, atol: 0)

    /// What a type's precision lets expect after a few ops.
    static func standard(for type: ElementType) -> Tolerance {
        switch type {
        case .float32, .float64, .tensorFloat32: Tolerance(rtol: 1e-4, atol: 1e-5)
        case .float16: Tolerance(rtol: 2e-3, atol: 1e-3)
        case .bfloat16: Tolerance(rtol: 2e-2, atol: 1e-2)
        // One step of the format, as for bfloat16: its last bit is worth 2^-7, and twice that is allowed.
        case .float8e4m3fn: Tolerance(rtol: 0.25, atol: 1e-2)
        case .float8e5m2: Tolerance(rtol: 0.5, atol: 1e-2)
        default: type.complexPart.map(standard(for:)) ?? .exact
        }
    }

    func scaled(by factor: Double) -> Tolerance { Tolerance(rtol: rtol * factor, atol: atol * factor) }
}
