import EngineAsset
import EngineGraph
import Testing

@Suite struct ReadingTests {
    @Test(arguments: Fixtures.names)
    func everyFixtureReads(_ name: String) throws {
        let program = try AssetReader.readProgram(at: Fixtures.path(name))
        #expect(!program.functions.isEmpty)
    }

    @Test func imagesAreNamedAsTheConverterNamesThem() {
        let names: [UInt32: String] = [
            24: "24RGB", 32: "32ARGB", 0x4247_5241: "32BGRA", 0x7934_3230: "420YpCbCr8Planar", 0x6162_6364: "abcd",
            7: "7",
        ]
        for (format, name) in names {
            #expect(ImageType(height: 1, width: 1, pixelFormat: format).formatName == name)
        }
    }
}
