package import EngineGraph

/// Contents that are the same in every run.
package enum Fill: Sendable {
    /// Numbers that every type holds: from −2 to 2 in eighths, or small integers.
    case small
    /// The same without zero.
    case nonZero
    /// Above zero.
    case positive
    /// From −1 to 1.
    case unit
    /// Integers from 0 to below the bound.
    case below(Int)
    /// Every bit pattern that the type has, finite ones for floats.
    case codes
    /// Each value once, in a scrambled order.
    case distinct
    /// These, repeated.
    case values([Double])
}

extension Elements {
    package init(_ shape: [Int], _ type: ElementType, _ fill: Fill, seed: Int = 1) {
        var dice = CaseDice(seed &+ shape.reduce(17) { $0 &* 31 &+ $1 } &+ Int(type.rawValue))
        let count = shape.reduce(1, *) * (type.isComplex ? 2 : 1)
        let isWhole = type.isInteger
        // Products of a few of these stay within eight bits, and sums within sixteen.
        let low = type.isUnsignedInteger ? 0 : -5
        switch fill {
        case .values(let values):
            self.init(shape, type, (0..<count).map { values[$0 % values.count] })
        case .below(let bound):
            self.init(shape, type, (0..<count).map { _ in dice.below(bound) })
        case .codes:
            let width = (type.complexPart ?? type).bitWidth
            let bits = (0..<count).map { _ -> UInt64 in
                let code = dice.bits() & (width >= 64 ? .max : (1 << UInt64(width)) - 1)
                let number = (type.complexPart ?? type).number(fromBits: code)
                return number?.isFinite ?? true ? code : 0
            }
            self.init(TensorType(shape, type), bits: bits)
        case .distinct:
            let half = type.isUnsignedInteger ? 0 : count / 2
            var values = (0..<count).map { $0 - half }
            for index in values.indices { values.swapAt(index, dice.below(count)) }
            self.init(shape, type, values)
        case _ where type == .bool:
            self.init(shape, type, (0..<count).map { _ in dice.below(2) })
        case .small:
            self.init(
                shape, type,
                (0..<count).map { _ in isWhole ? Double(low + dice.below(11)) : Double(dice.below(33) - 16) / 8 })
        case .nonZero:
            self.init(
                shape, type,
                (0..<count).map { _ in
                    let size = Double(1 + dice.below(isWhole ? 5 : 16)) / (isWhole ? 1 : 8)
                    return !type.isUnsignedInteger && dice.below(2) == 0 ? -size : size
                })
        case .positive:
            self.init(
                shape, type, (0..<count).map { _ in Double(1 + dice.below(isWhole ? 5 : 24)) / (isWhole ? 1 : 8) })
        case .unit:
            self.init(shape, type, (0..<count).map { _ in Double(dice.below(33) - 16) / 16 })
        }
    }
}

/// Numbers that look random.
struct CaseDice {
    private var state: UInt64

    init(_ seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 }

    mutating func bits() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    mutating func below(_ bound: Int) -> Int { Int(bits() % UInt64(max(bound, 1))) }
}
