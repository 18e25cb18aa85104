import EngineAsset
import EngineGraph
import Testing

@Suite struct ReadingTests {
    @Test(arguments: Fixtures.names)
    func everyFixtureReads(_ name: String) throws {
        let program = try AssetReader.readProgram(at: Fixtures.path(name))
        #expect(!program.functions.isEmpty)
    }
}
