import EngineGraph
import Testing

@testable import EngineCommand

@Suite struct NumbersTests {
    @Test func decodesTheSmallFloatsByTheirDefinition() throws {
        let e4m3 = try #require(SmallFloat.table(.float8e4m3fn))
        #expect(e4m3[0x7E] == 448)
        #expect(e4m3[0x7F].isNaN && e4m3[0xFF].isNaN)
        #expect(e4m3[0x01] == 0x1p-9)
        #expect(e4m3[0x38] == 1 && e4m3[0xB8] == -1)
        let e5m2 = try #require(SmallFloat.table(.float8e5m2))
        #expect(e5m2[0x7B] == 57344)
        #expect(e5m2[0x7C] == .infinity && e5m2[0xFC] == -.infinity && e5m2[0x7D].isNaN)
        #expect(e5m2[0x01] == 0x1p-16)
        let e8m0 = try #require(SmallFloat.table(.float8e8m0fn))
        #expect(e8m0[0] == 0x1p-127 && e8m0[127] == 1 && e8m0[254] == 0x1p127 && e8m0[255].isNaN)
        #expect(SmallFloat.table(.float4e2m1fn) == [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    }

    @Test(arguments: ElementType.allCases.filter { $0.isPacked })
    func readsPackedElementsOfEveryWidth(type: ElementType) throws {
        let width = type.bitWidth
        // Written bit by bit: an independent way to the same layout.
        let codes = (0..<20).map { ($0 * 7 + 3) & (1 << width - 1) }
        var bytes = [UInt8](repeating: 0, count: (20 * width + 7) / 8)
        for (index, code) in codes.enumerated() {
            for bit in 0..<width where code >> bit & 1 == 1 {
                bytes[(index * width + bit) / 8] |= 1 << UInt8((index * width + bit) % 8)
            }
        }
        let numbers = try #require(bytes.withUnsafeBytes { Numbers($0, type: type, count: 20) })
        let spread = try #require(
            codes.map { UInt8($0) }.withUnsafeBytes { Numbers($0, type: type, count: 20, packing: .bytes) })
        #expect(numbers == spread)
        if type.isUnsignedInteger { #expect(numbers == .integers(codes.map { Int128($0) })) }
        if type.isSignedInteger {
            #expect(numbers == .integers(codes.map { Int128($0 >= 1 << (width - 1) ? $0 - 1 << width : $0) }))
        }
    }

    @Test func refusesTooFewBytes() {
        let bytes: [UInt8] = [1, 2, 3]
        #expect(bytes.withUnsafeBytes { Numbers($0, type: .int16, count: 2) } == nil)
        #expect(bytes.withUnsafeBytes { Numbers($0, type: .int4, count: 7) } == nil)
        #expect(bytes.withUnsafeBytes { Numbers($0, type: .int4, count: 6) } != nil)
        #expect(bytes.withUnsafeBytes { Numbers($0, type: .float64, count: .max) } == nil)
    }
}
