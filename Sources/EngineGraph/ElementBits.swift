// One element's stored bits as a number.

extension ElementType {
    /// The integer that the low bits of `bits` hold; nil for a type that is neither integer nor bool, for one wider
    /// than 64 bits, and for a value that `Int` doesn't hold.
    package func integer(fromBits bits: UInt64) -> Int? {
        if self == .bool { return bits & 0xFF == 0 ? 0 : 1 }
        guard isInteger, bitWidth <= 64 else { return nil }
        let unused = UInt64(64 - bitWidth)
        let raised = bits << unused
        if isSignedInteger { return Int(Int64(bitPattern: raised) >> Int64(unused)) }
        return Int(exactly: raised >> unused)
    }

    /// The number that the low bits of `bits` hold, rounded where a double can't hold it; nil for a complex type and
    /// one wider than 64 bits.
    package func number(fromBits bits: UInt64) -> Double? {
        switch self {
        case .float64: Double(bitPattern: bits)
        case .float32, .tensorFloat32: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case .bfloat16: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits) << 16))
        case .float16: Self.number(bits, exponentBits: 5, mantissaBits: 10, bias: 15, special: .ieee)
        case .float8e5m2: Self.number(bits, exponentBits: 5, mantissaBits: 2, bias: 15, special: .ieee)
        case .float8e4m3fn: Self.number(bits, exponentBits: 4, mantissaBits: 3, bias: 7, special: .onlyNaN)
        case .float4e2m1fn: Self.number(bits, exponentBits: 2, mantissaBits: 1, bias: 1, special: .none)
        case .float8e8m0fn:
            bits & 0xFF == 0xFF ? .nan : Double(sign: .plus, exponent: Int(bits & 0xFF) - 127, significand: 1)
        case .uint64: Double(bits)
        default: integer(fromBits: bits).map(Double.init)
        }
    }

    private enum SpecialValues { case ieee, onlyNaN, none }

    /// A small floating-point format: sign, exponent, mantissa, most significant first.
    private static func number(
        _ bits: UInt64, exponentBits: Int, mantissaBits: Int, bias: Int, special: SpecialValues
    ) -> Double {
        let mantissaMask = (1 << mantissaBits) - 1
        let exponentMask = (1 << exponentBits) - 1
        let value = Int(bits & 0xFFFF)
        let mantissa = value & mantissaMask
        let exponent = value >> mantissaBits & exponentMask
        let sign: FloatingPointSign = value >> (mantissaBits + exponentBits) & 1 == 1 ? .minus : .plus
        if exponent == exponentMask {
            switch special {
            case .ieee:
                if mantissa != 0 { return .nan }
                return sign == .minus ? -.infinity : .infinity
            case .onlyNaN where mantissa == mantissaMask: return .nan
            default: break
            }
        }
        // A zero exponent has no leading one, and the scale of exponent one.
        let significand = exponent == 0 ? mantissa : mantissa | 1 << mantissaBits
        let scale = max(exponent, 1) - bias - mantissaBits
        return Double(sign: sign, exponent: scale, significand: Double(significand))
    }
}
