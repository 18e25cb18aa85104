import Testing

@testable import EngineGraph

@Suite("Constants as numbers")
struct ConstantReaderTests {
    private func reader(
        _ bytes: [UInt8], _ type: String, isSplat: Bool = false
    ) throws -> ConstantReader {
        try ConstantReader(Constant(bytes: bytes, isSplat: isSplat), as: RuleCase.tensor(type))
    }

    private func numbers(_ bytes: [UInt8], _ type: String) throws -> [Double]? {
        try reader(bytes, type).numbers(limit: 64)
    }

    private func integers(_ bytes: [UInt8], _ type: String) throws -> [Int]? {
        try reader(bytes, type).integers(limit: 64)
    }

    @Test("integers of every width")
    func integerWidths() throws {
        #expect(try integers([0xFF, 0x80, 0x7F], "3xsi8") == [-1, -128, 127])
        #expect(try integers([0xFF, 0x80, 0x7F], "3xui8") == [255, 128, 127])
        #expect(try integers([0xFE, 0xFF], "si16") == [-2])
        #expect(try integers([0xFE, 0xFF], "1xui16") == [65534])
        #expect(try integers([0, 0, 0, 0x80, 1, 0, 0, 0], "2xsi32") == [-2_147_483_648, 1])
        #expect(try integers([0xFF, 0xFF, 0xFF, 0xFF], "ui32") == [4_294_967_295])
        #expect(try integers(Array(repeating: 0xFF, count: 8), "si64") == [-1])
        // Too large for `Int`: no integers, but a number.
        #expect(try integers(Array(repeating: 0xFF, count: 8), "ui64") == nil)
        #expect(try numbers(Array(repeating: 0xFF, count: 8), "ui64") == [0x1p64])
        #expect(try integers([0, 1, 2], "3xi1") == [0, 1, 1])
    }

    @Test("packed integers, least significant bits first")
    func packed() throws {
        #expect(try integers([0b1010_0101], "8xui1") == [1, 0, 1, 0, 0, 1, 0, 1])
        #expect(try integers([0b11_10_01_00], "4xui2") == [0, 1, 2, 3])
        #expect(try integers([0b11_10_01_00], "4xsi2") == [0, 1, -2, -1])
        #expect(try integers([0x8F, 0x07], "3xsi4") == [-1, -8, 7])
        #expect(try integers([0x8F], "2xui4") == [15, 8])
        // Three-bit fields straddle bytes: 1, 2, 3, 4, 5, 6, 7, 0.
        #expect(try integers([0b11_010_001, 0b0_101_100_0, 0b000_111_11], "8xui3") == [1, 2, 3, 4, 5, 6, 7, 0])
        #expect(try integers([0b01_000001, 0b0011_0000, 0b000100_00], "4xui6") == [1, 1, 3, 4])
    }

    @Test("floating point of every format")
    func floats() throws {
        #expect(try numbers([0, 0, 0x80, 0x3F], "f32") == [1])
        #expect(try numbers([0, 0, 0, 0, 0, 0, 0xF8, 0xBF], "f64") == [-1.5])
        #expect(try numbers([0x80, 0x3F, 0x80, 0xFF], "2xbf16")?.first == 1)
        #expect(try numbers([0x80, 0xFF], "bf16") == [-.infinity])
        for bits in UInt16.min...UInt16.max {
            let bytes = [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
            let read = try #require(try numbers(bytes, "f16")?.first)
            let expected = Double(Float16(bitPattern: bits))
            #expect(read == expected || (read.isNaN && expected.isNaN))
            #expect(read.sign == expected.sign || read.isNaN)
        }
        // The upper half of a half-precision number.
        for bits in UInt8.min...UInt8.max {
            let read = try #require(try numbers([bits], "f8E5M2")?.first)
            let expected = Double(Float16(bitPattern: UInt16(bits) << 8))
            #expect(read == expected || (read.isNaN && expected.isNaN))
        }
        #expect(
            try numbers([0x00, 0x01, 0x08, 0x38, 0x7E, 0xFE, 0xB8], "7xf8E4M3FN")
                == [0, 0x1p-9, 0x1p-6, 1, 448, -448, -1])
        #expect(try numbers([0x7F], "f8E4M3FN")?.first?.isNaN == true)
        #expect(try numbers([0xFF], "f8E4M3FN")?.first?.isNaN == true)
        #expect(try numbers([0x10, 0x32, 0x54, 0x76], "8xf4E2M1FN") == [0, 0.5, 1, 1.5, 2, 3, 4, 6])
        #expect(try numbers([0x98], "2xf4E2M1FN") == [-0.0, -0.5])
        #expect(try numbers([127, 128, 0, 254], "4xf8E8M0FNU") == [1, 2, 0x1p-127, 0x1p127])
        #expect(try numbers([0xFF], "f8E8M0FNU")?.first?.isNaN == true)
    }

    @Test("complex parts")
    func complex() throws {
        let bytes: [UInt8] = [0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0]
        #expect(try reader(bytes, "complex<f32>").complexParts(limit: 1) == [1, -2])
        #expect(try numbers(bytes, "complex<f32>") == nil)
        #expect(try reader(bytes, "2xf32").complexParts(limit: 8) == nil)
    }

    @Test("splats, limits, empty tensors")
    func splats() throws {
        let splat = try reader([5], "2x3xui8", isSplat: true)
        #expect(splat.integers(limit: 6) == [5, 5, 5, 5, 5, 5])
        #expect(splat.integers(limit: 5) == nil)
        #expect(splat.uniformNumber == 5)
        #expect(splat.integer(5) == 5)
        #expect(splat.integer(6) == nil)
        #expect(splat.number(-1) == nil)
        #expect(try integers([], "0xsi32") == [])
        #expect(try reader([], "0xsi32", isSplat: true).integers(limit: 0) == [])
        #expect(try reader([1, 2], "2xui8").uniformNumber == nil)
        #expect(try integers([0, 0, 0, 0], "f32") == nil)
    }

    @Test("too few bytes and dynamic types are refused")
    func refusals() throws {
        #expect(throws: EngineError.self) { try reader([1], "2xui8") }
        #expect(throws: EngineError.self) { try reader([], "ui8", isSplat: true) }
        #expect(throws: EngineError.self) { try reader([1], "?xui8") }
        #expect(throws: EngineError.self) { try reader([1], "9xui1") }
        #expect(try integers([1, 2, 3], "2xui8") == [1, 2])
    }
}
