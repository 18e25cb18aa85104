package import EngineDelegation
package import EngineGraph

/// What a `TestDelegate` takes, how fast it says it is, and what it does wrong.
package struct TestOptions: Sendable {
    package var id = DelegateID("test")
    package var profile = UnitProfile(
        operationsPerSecond: 1e12, bytesPerSecond: 1e11, launchSeconds: 1e-6, transferBytesPerSecond: 1e10,
        transferSeconds: 1e-6)
    /// The kinds of ops that it takes; nil: all that the delegate under it takes. States are always taken.
    package var ops: Set<OpKind>?
    /// The element types that operands and results may have; nil: all.
    package var elements: Set<ElementType>?
    /// A further reason to decline an op.
    package var declines: (@Sendable (Op, Subgraph) -> String?)?
    package var memory = Memory.private
    /// The most bytes that all buffers take together; nil: no limit.
    package var memoryLimit: Int?
    package var delays = Delays()
    package var failures: [Failure] = []
    /// The device is lost at the start of the run or copy of this number, counted from 1.
    package var losesAtWork: Int?

    package init() {}

    /// Takes ops of these kinds only.
    package init(ops: Set<OpKind>, id: DelegateID = DelegateID("test")) {
        self.ops = ops
        self.id = id
    }

    /// Whose memory buffers are.
    package enum Memory: Sendable {
        /// The device's: the host sees none of it, and runs take no other memory.
        case `private`
        /// The host sees the buffers, and runs take the host's memory too.
        case shared
    }

    /// How long work takes before it is done, in seconds. The same work in the same order takes the same delays.
    package struct Delays: Sendable {
        package var run = 0.0
        package var copy = 0.0
        /// What each op of a part of these kinds adds to its run.
        package var ops: [OpKind: Double] = [:]
        /// Up to this is added, by the number of the work and the seed.
        package var jitter = 0.0
        package var seed: UInt64 = 1

        package init(run: Double = 0, copy: Double = 0, ops: [OpKind: Double] = [:], jitter: Double = 0) {
            self.run = run
            self.copy = copy
            self.ops = ops
            self.jitter = jitter
        }
    }

    /// What fails with which error.
    package struct Failure: Sendable {
        package var action: Action
        /// Which of the actions of its kind fail, counted from 1.
        package var numbers: ClosedRange<Int>
        package var error: EngineError

        package init(_ action: Action, _ number: Int, _ error: EngineError) {
            self.init(action, number...number, error)
        }

        package init(_ action: Action, _ numbers: ClosedRange<Int>, _ error: EngineError) {
            self.action = action
            self.numbers = numbers
            self.error = error
        }
    }

    /// What can be made to fail.
    package enum Action: String, Sendable, CaseIterable, Codable {
        case compile, load, allocate, makeQueue, run, copy
    }
}

extension TestOptions.Delays {
    /// The delay of work number `number`.
    func seconds(for number: Int, base: Double) -> Double {
        guard jitter > 0 else { return base }
        var bits = (UInt64(truncatingIfNeeded: number) &+ seed) &* 0x9E37_79B9_7F4A_7C15
        bits ^= bits >> 29
        bits = bits &* 0xBF58_476D_1CE4_E5B9
        bits ^= bits >> 32
        return base + jitter * Double(bits >> 40) / Double(1 << 24)
    }

    func base(of part: Subgraph) -> Double { part.ops.reduce(run) { $0 + (ops[$1.kind] ?? 0) } }
}
