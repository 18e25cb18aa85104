import EngineAsset
import EngineGraph
import Foundation
import Testing

/// Reads damaged copies of every fixture: each must end in a program that verifies, or in an error.
@Suite struct MutationTests {
    /// A small generator whose whole sequence follows from its seed.
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }

    static let isFull = ProcessInfo.processInfo.environment["ENGINE_FULL_TESTS"] == "1"
    /// How many copies to damage at random, over all fixtures.
    static let mutantCount =
        ProcessInfo.processInfo.environment["ENGINE_MUTANTS"].flatMap { Int($0) } ?? (isFull ? 60_000 : 3_000)
    static let seed = ProcessInfo.processInfo.environment["ENGINE_SEED"].flatMap { UInt64($0) } ?? 20_260_409
    /// Whether to print each seed before it is used, to find the one that trapped.
    static let isTraced = ProcessInfo.processInfo.environment["ENGINE_TRACE"] == "1"
    static let sizeLimit = 64 * 1024

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
        guard bytes.count < Self.sizeLimit else { return }
        // Every length of a small file, or a sample that still meets the ends of all sections.
        let step = Self.isFull ? 1 : max(1, bytes.count / 100)
        for length in stride(from: 0, to: bytes.count, by: step) {
            #expect(!Self.stands(Array(bytes.prefix(length))), "\(name) cut to \(length) bytes")
        }
        #expect(!Self.stands(Array(bytes.prefix(bytes.count - 1))))
    }

    @Test(arguments: Fixtures.names)
    func damagedProgramsNeverTrap(_ name: String) throws {
        let bytes = try Fixtures.program(name)
        guard bytes.count < Self.sizeLimit else { return }
        let index = Fixtures.names.firstIndex(of: name) ?? 0
        let clock = ContinuousClock()
        for round in 0..<max(1, Self.mutantCount / max(1, Fixtures.names.count)) {
            let seed = Self.seed &+ UInt64(index) << 32 &+ UInt64(round)
            if Self.isTraced { print("\(name), seed \(seed)") }
            var generator = Generator(state: seed)
            let mutant = Self.damage(bytes, &generator)
            // Whether it stands does not matter: some bits only name things.
            let time = clock.measure { _ = Self.stands(mutant) }
            #expect(time < .seconds(2), "\(name), seed \(seed): \(time)")
        }
    }

    private static func damage(_ bytes: [UInt8], _ generator: inout Generator) -> [UInt8] {
        var mutant = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let position = Int.random(in: 0..<mutant.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1: mutant[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: mutant[position] = UInt8.random(in: 0...255, using: &generator)
            case 3:
                // The largest numbers that the format can write.
                let number: [UInt8] = [0] + (0..<8).map { _ in Bool.random(using: &generator) ? 0xFF : 0x7F }
                let end = min(position + number.count, mutant.count)
                mutant.replaceSubrange(position..<end, with: number.prefix(end - position))
            case 4: mutant.remove(at: position)
            default:
                let source = Int.random(in: 0..<mutant.count, using: &generator)
                let count = min(Int.random(in: 1...16, using: &generator), mutant.count - max(source, position))
                mutant.replaceSubrange(position..<position + count, with: mutant[source..<source + count])
            }
            if mutant.isEmpty { return [0] }
        }
        return mutant
    }
}
