import EngineAsset
import EngineGraph
import EngineTestSupport
import Foundation
import Testing

/// Reads damaged copies of every fixture: each must end in a program that verifies, or in an error.
@Suite struct MutationTests {
    /// How many copies to damage at random, over all fixtures.
    static let mutantCount = Mutation.mutantCount ?? (Mutation.isFull ? 60_000 : 3_000)

    /// Reads and verifies; answers whether the program stood.
    private static func stands(_ bytes: [UInt8]) -> Bool {
        do {
            try Verifier.verify(AssetReader.readProgram(bytes: bytes))
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: Fixtures.names)
    func genuineProgramsVerify(_ name: String) throws {
        try Verifier.verify(AssetReader.readProgram(at: Fixtures.path(name)))
    }

    @Test(arguments: Fixtures.names)
    func everyTruncationIsAnError(_ name: String) throws {
        let bytes = try Fixtures.program(name)
        guard bytes.count < Mutation.sizeLimit else { return }
        // Every length of a small file, or a sample that still meets the ends of all sections.
        let step = Mutation.isFull ? 1 : max(1, bytes.count / 100)
        for length in stride(from: 0, to: bytes.count, by: step) {
            #expect(!Self.stands(Array(bytes.prefix(length))), "\(name) cut to \(length) bytes")
        }
        #expect(!Self.stands(Array(bytes.prefix(bytes.count - 1))))
    }

    @Test(arguments: Fixtures.names)
    func damagedProgramsNeverTrap(_ name: String) throws {
        let bytes = try Fixtures.program(name)
        guard bytes.count < Mutation.sizeLimit else { return }
        let index = Fixtures.names.firstIndex(of: name) ?? 0
        let clock = ContinuousClock()
        for round in 0..<max(1, Self.mutantCount / max(1, Fixtures.names.count)) {
            let seed = Mutation.seed(file: index, round: round)
            if Mutation.isTraced { print("\(name), seed \(seed)") }
            let mutant = Mutation.damage(bytes, seed: seed)
            // Whether it stands does not matter: some bits only name things.
            let time = clock.measure { _ = Self.stands(mutant) }
            #expect(time < .seconds(2), "\(name), seed \(seed): \(time)")
        }
    }
}
