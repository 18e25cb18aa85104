import EngineGraph

/// The floating-point formats of at most 8 bits, decoded by their definition.
enum SmallFloat {
    /// The value of each code of `type`; nil where it is no such format.
    static func table(_ type: ElementType) -> [Double]? {
        switch type {
        case .float8e5m2:
            (0..<256).map { code in
                // The fields lie as in the upper half of a Float16.
                Double(Float(Float16(bitPattern: UInt16(code) << 8)))
            }
        case .float8e4m3fn:
            (0..<256).map { code in
                code & 0x7F == 0x7F ? .nan : value(code, exponentBits: 4, fractionBits: 3, bias: 7)
            }
        case .float8e8m0fn:
            (0..<256).map { code in code == 0xFF ? .nan : Double(sign: .plus, exponent: code - 127, significand: 1) }
        case .float4e2m1fn:
            (0..<16).map { code in value(code, exponentBits: 2, fractionBits: 1, bias: 1) }
        default: nil
        }
    }

    private static func value(_ code: Int, exponentBits: Int, fractionBits: Int, bias: Int) -> Double {
        let fraction = Double(code & (1 << fractionBits - 1)) / Double(1 << fractionBits)
        let exponent = code >> fractionBits & (1 << exponentBits - 1)
        let sign: FloatingPointSign = code >> (exponentBits + fractionBits) & 1 == 1 ? .minus : .plus
        return exponent == 0
            ? Double(sign: sign, exponent: 1 - bias, significand: fraction)
            : Double(sign: sign, exponent: exponent - bias, significand: 1 + fraction)
    }
}
