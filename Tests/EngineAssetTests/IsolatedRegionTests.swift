import EngineAsset
import EngineGraph
import Foundation
import Testing

@Suite("Regions written apart")
struct IsolatedRegionTests {
    /// A `while` whose regions capture nothing: one section holds both, and each numbers its values from zero. Its second
    /// region holds an `if` that captures. Written by the converter.
    private static let loop = """
        TUzvUg1NTElSMjIuMC4wZ2l0AAEtAwMHAwUdAR0HCw8TFxsfIycrLzM3OwNBKwsBKxcfEx8fGxMHDw8TCwsLCw8PEwsfHwELDw8X
        BwcCxVELDwEBDQEJAQAAAAUDAQANAQkCAAAABUEB6DGgJj8NAQEBAT0fISFdCwMTCwMVEyMDFwMlCQUDJwsBCwMhCwMjEyMDJQMp
        DQEJAAAAAA0BCQMAAAAFAQcFAQk9AwEDASUJBDIDBQdQAQEHBA4DAwEFCVABAwcE4gIDCQ8DAwEAAUIBBQMBCxYBBQEBBQEDCwRm
        AgMJDwUDAQMBAAFCAQcDARkGAQMDBQEFGwQBBwcBAwMTIwUDAQMBAAFCAQkDAQ8GAQMBBQEFAUIBBwMBEQYBAwMFBwkTFgEDAQML
        CQMJFQFCAQsDARcGAQMBBQETAUIBBwMBBQYBAwEFFRcDBAEDGQMFDQFCAQkDARUGAQMBBQETAwQBAxUBQgEHAwEFBgEDAQUDDwME
        AQUNEQ0EAQMHBgMBBQEAIgUrBQsFGQMFMysjKSUnKScrJSkjJS0PYWljb2RlAHByaW1pdGl2ZS5jb25zdGFudF92MQBkYXRhZmxv
        dy55aWVsZF92MQBwcmltaXRpdmUuYWRkX3YxAHNlcmlhbGl6YXRpb24uYXNzZXQAZGF0YWZsb3cuZ3JhcGhfdjEAY29udHJvbGZs
        b3cud2hpbGVfdjEAZGF0YWZsb3cub3V0cHV0X3YxAHByaW1pdGl2ZS5tb2R1bG9fdjEAcHJpbWl0aXZlLmVxdWFsX3YxAGNvbnRy
        b2xmbG93LmlmX3YxAHByaW1pdGl2ZS5kaXZpZGVfdjEAcHJpbWl0aXZlLm11bF92MQBwcmltaXRpdmUuZ3JlYXRlcl92MQBjb250
        cm9sZmxvdy5jb25kaXRpb25fdjEALQAAYWljb2RlLm5hbWUAbgBtYWluAHkACC0NBQETExEBBRkFGwUdHwMnAwMDBwMp
        """

    @Test("a while that captures nothing")
    func readsLoop() throws {
        let data = try #require(Data(base64Encoded: Self.loop, options: .ignoreUnknownCharacters))
        let program = try AssetReader.readProgram(bytes: [UInt8](data))
        try Verifier.verify(program)
        let main = try #require(program.graph(named: "main"))
        let loop = try #require(main.body.ops.first { $0.kind == .while })
        try #require(loop.regions.count == 2)
        #expect(loop.bodies.isEmpty)
        let (before, after) = (loop.regions[0], loop.regions[1])
        #expect(before.ops.map(\.kind) == [.constant, .greater])
        // The condition, then what is passed on.
        #expect(before.results == [before.ops[1].results[0]] + before.arguments)
        let choice = try #require(after.ops.first { $0.kind == .if })
        #expect(
            choice.regions.map { $0.ops.map(\.kind) } == [[.constant, .mul, .constant, .add], [.constant, .divide]])
        #expect(choice.regions[1].ops[1].operands.first == after.arguments[0])
        #expect(after.results.first == choice.results[0])
    }
}
