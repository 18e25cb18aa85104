import CPUKernels
import Testing

@Suite struct CastTests {
    static let values: [Double] = [
        0, 1, -1, 0.5, -0.5, 1.9, -1.9, 127, 128, 127.5, -128, -128.9, -129, 255, 256, 32767, 32768, -32769, 65535,
        65536,
        2_147_483_647, 2_147_483_648, -2_147_483_649, 4_294_967_295, 4_294_967_296, 9e18, 1e19, 1.9e19, -1e19, 1e30,
        -1e30,
        .infinity, -.infinity, .nan, 3, 2, 100, 1e-30, 77, 31.999,
    ]

    static func saturated<T: FixedWidthInteger>(_ x: Double) -> T {
        if x.isNaN { return 0 }
        return T(exactly: x.rounded(.towardZero)) ?? (x < 0 ? .min : .max)
    }

    static func fromFloats<T: FixedWidthInteger & KernelElement>(_ type: T.Type) throws {
        let floats = values.map(Float.init)
        let fromSingle: [T] = floats.map { saturated(Double($0)) }, fromDouble: [T] = values.map { saturated($0) }
        try atEachLevel { level in
            let single = try apply(CK_EW_CAST, floats, result: T(), type: T.kernelType)
            #expect(single == fromSingle, "level \(level)")
            let double = try apply(CK_EW_CAST, values, result: T(), type: T.kernelType)
            #expect(double == fromDouble, "level \(level)")
        }
    }

    static func between<F: FixedWidthInteger & KernelElement>(_ from: F.Type) throws {
        let values: [F] = [0, 1, 2, .max, .min, .max / 3, .max - 1, .min / 2, 77, 100, 5, 6, 7, 8, 9, 10, 11, 12]
        func check<T: FixedWidthInteger & KernelElement>(_ to: T.Type) throws {
            let got = try apply(CK_EW_CAST, values, result: T(), type: T.kernelType)
            #expect(got == values.map { T(clamping: $0) }, "\(F.self) to \(T.self)")
        }
        try atEachLevel { _ in
            try check(Int8.self)
            try check(Int16.self)
            try check(Int32.self)
            try check(Int64.self)
            try check(UInt8.self)
            try check(UInt16.self)
            try check(UInt32.self)
            try check(UInt64.self)
            let single = try apply(CK_EW_CAST, values, result: Float(0), type: CK_F32)
            #expect(single == values.map { Float($0) })
            let double = try apply(CK_EW_CAST, values, result: 0.0, type: CK_F64)
            #expect(double == values.map { Double($0) })
            let bools = try apply(CK_EW_CAST, values, result: UInt8(9), type: CK_BOOL)
            #expect(bools == values.map { $0 == 0 ? 0 : 1 })
        }
    }

    @Test func floatsSaturate() throws {
        try Self.fromFloats(Int8.self)
        try Self.fromFloats(Int16.self)
        try Self.fromFloats(Int32.self)
        try Self.fromFloats(Int64.self)
        try Self.fromFloats(UInt8.self)
        try Self.fromFloats(UInt16.self)
        try Self.fromFloats(UInt32.self)
        try Self.fromFloats(UInt64.self)
    }

    @Test func integersWrap() throws {
        try Self.between(Int8.self)
        try Self.between(Int16.self)
        try Self.between(Int32.self)
        try Self.between(Int64.self)
        try Self.between(UInt8.self)
        try Self.between(UInt16.self)
        try Self.between(UInt32.self)
        try Self.between(UInt64.self)
    }

    @Test func boolsAndHalves() throws {
        try atEachLevel { _ in
            let bools = try apply(
                CK_EW_CAST, [0, -0.0, Float.nan, .infinity, 0x1p-149, -3], result: UInt8(9), type: CK_BOOL)
            #expect(bools == [0, 0, 1, 1, 1, 1])
            let ones = try apply(CK_EW_CAST, [UInt8(0), 1, 1], result: Float(9), type: CK_F32, input: CK_BOOL)
            #expect(ones == [0, 1, 1])
        }
    }

    /// All 16-bit patterns out to float and back, and the ties between them.
    @Test func everyHalf() {
        let patterns = (0...UInt16.max).map { $0 }
        atEachLevel { level in
            for type in [CK_F16, CK_BF16] {
                var floats = [Float](repeating: 0, count: patterns.count),
                    back = [UInt16](repeating: 0, count: patterns.count)
                ck_cast(CK_F32, &floats, type, patterns, patterns.count)
                ck_cast(type, &back, CK_F32, floats, floats.count)
                let nan: (UInt16) -> Bool = { $0 & 0x7fff > (type == CK_F16 ? 0x7c00 : 0x7f80) }
                for pattern in patterns where !nan(pattern) {
                    #expect(back[Int(pattern)] == pattern, "level \(level)")
                }
                let ties = [1, 1.5, 2.5].map { Float($0) * (type == CK_F16 ? 0x1p-11 : 0x1p-8) * 2 + 1 }
                var rounded = [UInt16](repeating: 0, count: 3), again = [Float](repeating: 0, count: 3)
                ck_cast(type, &rounded, CK_F32, ties, 3)
                ck_cast(CK_F32, &again, type, rounded, 3)
                let unit: Float = type == CK_F16 ? 0x1p-10 : 0x1p-7
                #expect(again == [1 + unit, 1 + 2 * unit, 1 + 2 * unit], "level \(level)")
            }
        }
    }

    @Test func halvesToIntegers() {
        let halves: [Float] = [1.5, -2.7, 300, 65504]
        var f16 = [UInt16](repeating: 0, count: 4), bytes = [Int8](repeating: 0, count: 4)
        ck_cast(CK_F16, &f16, CK_F32, halves, 4)
        ck_cast(CK_I8, &bytes, CK_F16, f16, 4)
        #expect(bytes == [1, -2, 127, 127])
        ck_cast(CK_BF16, &f16, CK_I8, bytes, 4)
        #expect(f16 == [0x3f80, 0xc000, 0x42fe, 0x42fe])
    }
}
