import Foundation

/// Damages copies of genuine files, the same way for the same seed.
package enum Mutation {
    /// A small generator whose whole sequence follows from its seed.
    package struct Generator: RandomNumberGenerator {
        private var state: UInt64

        package init(seed: UInt64) { state = seed }

        package mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }

    private static let environment = ProcessInfo.processInfo.environment
    /// Whether to take every case there is rather than a sample.
    package static let isFull = environment["ENGINE_FULL_TESTS"] == "1"
    /// How many copies to damage at random, over all files; nil where the test is to say.
    package static let mutantCount = environment["ENGINE_MUTANTS"].flatMap { Int($0) }
    package static let seed = environment["ENGINE_SEED"].flatMap { UInt64($0) } ?? 20_260_409
    /// Whether to print each seed before it is used, to find the one that trapped.
    package static let isTraced = environment["ENGINE_TRACE"] == "1"
    /// Larger files are not damaged.
    package static let sizeLimit = 64 * 1024

    /// The seed of copy `round` of file `index`.
    package static func seed(file index: Int, round: Int) -> UInt64 { seed &+ UInt64(index) << 32 &+ UInt64(round) }

    /// A copy of `bytes` with one to four wounds.
    package static func damage(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
        var generator = Generator(seed: seed)
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

    /// A copy of `bytes` with one or two bits flipped: most of these still verify.
    package static func flip(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
        var generator = Generator(seed: seed)
        var mutant = bytes
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
            let position = Int.random(in: 0..<mutant.count, using: &generator)
            mutant[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
        return mutant
    }
}
