import CPUKernels
import Testing

@Suite struct ElementwiseIntegerTests {
    /// Every operation's result by Swift's own arithmetic, wrapped.
    static func reference<T: FixedWidthInteger>(_ op: ck_ew_op, _ x: T, _ y: T) -> T {
        switch op {
        case CK_EW_ADD: return x &+ y
        case CK_EW_SUB: return x &- y
        case CK_EW_MUL: return x &* y
        case CK_EW_DIVIDE: return y == 0 ? 0 : x.dividedReportingOverflow(by: y).partialValue
        case CK_EW_MODULO: return y == 0 ? 0 : x.remainderReportingOverflow(dividingBy: y).partialValue
        case CK_EW_FLOOR_DIVIDE:
            if y == 0 { return 0 }
            let quotient = x.dividedReportingOverflow(by: y).partialValue
            let remainder = x.remainderReportingOverflow(dividingBy: y).partialValue
            return remainder != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient
        case CK_EW_POW:
            if y < 0 { return x == 1 ? 1 : x == 0 &- 1 && T.isSigned ? (y & 1 == 0 ? 1 : x) : 0 }
            var result: T = 1, base = x, exponent = y
            while exponent > 0 {
                if exponent & 1 == 1 { result = result &* base }
                base = base &* base
                exponent >>= 1
            }
            return result
        case CK_EW_MAXIMUM: return max(x, y)
        case CK_EW_MINIMUM: return min(x, y)
        case CK_EW_AND: return x & y
        case CK_EW_OR: return x | y
        case CK_EW_XOR: return x ^ y
        case CK_EW_ABS: return x < 0 ? 0 &- x : x
        case CK_EW_NEG: return 0 &- x
        case CK_EW_RELU: return max(0, x)
        case CK_EW_NOT: return ~x
        default: return x
        }
    }

    static let ops = [
        CK_EW_ADD, CK_EW_SUB, CK_EW_MUL, CK_EW_DIVIDE, CK_EW_MODULO, CK_EW_FLOOR_DIVIDE, CK_EW_POW, CK_EW_MAXIMUM,
        CK_EW_MINIMUM, CK_EW_AND, CK_EW_OR, CK_EW_XOR, CK_EW_ABS, CK_EW_NEG, CK_EW_RELU, CK_EW_NOT, CK_EW_ROUND,
        CK_EW_FLOOR, CK_EW_CEIL, CK_EW_TRUNC,
    ]

    static func check<T: FixedWidthInteger & KernelElement>(_ type: T.Type) throws {
        var values: [T] = [0, 1, 2, 3, 5, 7, 10, 100, .max, .max - 1, .max / 2, .min, .min + 1, T.max / 3]
        if T.isSigned { values += [0 - 1, 0 - 2, 0 - 3, 0 - 7, 0 - 100] }
        // More than 2^24, which floats would round.
        if T.bitWidth >= 32 { values += [16_777_217, 16_777_219] }
        let a = values.flatMap { x in values.map { _ in x } }, b = values.flatMap { _ in values }
        try atEachLevel { level in
            for op in ops {
                let got = try apply(op, a, b, result: T(), type: T.kernelType)
                let want = zip(a, b).map { reference(op, $0, $1) }
                #expect(got == want, "\(T.self) op \(op.rawValue) level \(level)")
            }
            let greater = try apply(CK_EW_GREATER, a, b, result: UInt8(9), type: CK_BOOL)
            #expect(greater == zip(a, b).map { $0 > $1 ? 1 : 0 })
            let less = try apply(CK_EW_LESS_EQUAL, a, b, result: UInt8(9), type: CK_BOOL)
            #expect(less == zip(a, b).map { $0 <= $1 ? 1 : 0 })
            let equal = try apply(CK_EW_EQUAL, a, b, result: UInt8(9), type: CK_BOOL)
            #expect(equal == zip(a, b).map { $0 == $1 ? 1 : 0 })
        }
    }

    @Test func everyType() throws {
        try Self.check(Int8.self)
        try Self.check(Int16.self)
        try Self.check(Int32.self)
        try Self.check(Int64.self)
        try Self.check(UInt8.self)
        try Self.check(UInt16.self)
        try Self.check(UInt32.self)
        try Self.check(UInt64.self)
    }

    @Test func bools() throws {
        let a: [UInt8] = [0, 0, 1, 1], b: [UInt8] = [0, 1, 0, 1]
        let wanted: [(ck_ew_op, [UInt8])] = [
            (CK_EW_ADD, [0, 1, 1, 1]), (CK_EW_MAXIMUM, [0, 1, 1, 1]), (CK_EW_OR, [0, 1, 1, 1]),
            (CK_EW_MUL, [0, 0, 0, 1]), (CK_EW_MINIMUM, [0, 0, 0, 1]), (CK_EW_AND, [0, 0, 0, 1]),
            (CK_EW_XOR, [0, 1, 1, 0]), (CK_EW_NOT_EQUAL, [0, 1, 1, 0]), (CK_EW_EQUAL, [1, 0, 0, 1]),
            (CK_EW_NOT, [1, 1, 0, 0]), (CK_EW_GREATER, [0, 0, 1, 0]), (CK_EW_LESS, [0, 1, 0, 0]),
        ]
        try atEachLevel { _ in
            for (op, want) in wanted {
                let got = try apply(op, a, b, result: UInt8(9), type: CK_BOOL, input: CK_BOOL)
                #expect(got == want, "op \(op.rawValue)")
            }
        }
    }
}
