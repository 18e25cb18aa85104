import CPUDelegate
import DelegateConformance
import EngineDelegation
import EngineGraph
import TestDelegate
import Testing

@Suite struct OpCaseTests {
    static let cpu = CPUDelegate.shared

    /// Kinds that the host runs, or decomposes, or whose results' shapes only a run tells.
    static let withoutCases: Set<OpKind> = [
        .constant, .createToken, .delegate, .if, .imageToTensor, .invoke, .isolatedGroup, .joinToken, .metalKernel,
        .named, .nonZero, .readHandle, .tensorToImage, .while, .writeHandle,
    ]
    /// What the processor leaves to its decomposition, or takes as other ops.
    static let decomposed: Set<OpKind> = [
        .quantize, .dequantize, .symmetricQuantizationStatistics, .asymmetricQuantizationStatistics, .attention,
    ]

    @Test func everyKindHasCases() {
        let kinds = Set(OpCase.all.map(\.kind))
        #expect(Set(OpKind.allCases).subtracting(kinds) == Self.withoutCases)
        #expect(kinds.isDisjoint(with: Self.withoutCases))
        #expect(Set(OpCase.all.map(\.name)).count == OpCase.all.count)
    }

    @Test func theProcessorPasses() {
        let results = run(delegate: Self.cpu, reference: Self.cpu)
        for result in results { #expect(result.failure == nil, "\(result.name)") }
        var taken: Set<OpKind> = []
        for (row, result) in zip(OpCase.all, results) where !result.isDeclined { taken.insert(row.kind) }
        let missing = Set(OpCase.all.map(\.kind)).subtracting(taken)
        #expect(missing.isSubset(of: Self.decomposed), "\(missing.map(\.name).sorted())")
    }

    /// The cases of one shape each, over memory that the host doesn't see.
    @Test func theTestDelegatePasses() async throws {
        var options = TestOptions()
        options.delays = TestOptions.Delays(jitter: 0.000_02)
        let unit = TestDelegate(computing: Self.cpu, options)
        let cases = OpCase.all.filter {
            $0.type == .float32 && !$0.variant.contains("257") && !$0.variant.contains("00")
        }
        let results = run(cases, delegate: unit, reference: Self.cpu)
        for result in results { #expect(result.failure == nil, "\(result.name)") }
        #expect(unit.counters.runs == results.count { !$0.isDeclined } && unit.counters.runs > 500)
        #expect(unit.counters.conflicts == 0)
        // A queue's thread lets go of the last buffers a moment after it has told that their work is done.
        for _ in 0..<500 where unit.counters.liveBytes > 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(unit.counters.liveBytes == 0)
    }

    @Test func declinedCasesSayWhy() {
        let unit = TestDelegate(computing: Self.cpu, TestOptions(ops: [.add]))
        let cases = OpCase.all.filter { $0.type == .float32 && [.add, .sub].contains($0.kind) && $0.variant == "3x5" }
        let results = run(cases, delegate: unit, reference: Self.cpu)
        #expect(results.map(\.outcome) == [.passed, .declined(reason: "test does not take sub")])
    }

    /// A unit that subtracts where it should add, and one that loses its results, are found out.
    @Test func wrongUnitsFail() {
        let cases = OpCase.all.filter { $0.kind == .add && $0.variant == "3x5" && $0.type != .bool }
        #expect(cases.count == 12)
        for result in run(cases, delegate: Subtracting(inner: Self.cpu), reference: Self.cpu) {
            #expect(result.failure?.contains("expected") == true, "\(result.name)")
        }
        var options = TestOptions()
        let broken = EngineError.deviceFailure(unit: "test", reason: "broken")
        options.failures = [TestOptions.Failure(.run, 1...100, broken)]
        let unit = TestDelegate(computing: Self.cpu, options)
        for result in run(cases, delegate: unit, reference: Self.cpu) {
            #expect(result.failure == broken.description, "\(result.name)")
        }
    }
}

/// Computes differences for sums.
private struct Subtracting: Delegate {
    let inner: CPUDelegate
    let id = DelegateID("wrong")
    var profile: UnitProfile { inner.profile }

    func support(for pattern: Op, in part: Subgraph) -> Support { inner.support(for: pattern, in: part) }

    func compile(_ part: Subgraph) throws(EngineError) -> CompiledPart {
        var part = part
        for index in part.ops.indices where part.ops[index].kind == .add { part.ops[index].kind = .sub }
        return try inner.compile(part)
    }

    func load(_ part: CompiledPart) throws(EngineError) -> any Executable {
        let executable: any Executable = try inner.load(part)
        return executable
    }

    func makeBuffer(byteCount: Int) throws(EngineError) -> any Buffer { try inner.makeBuffer(byteCount: byteCount) }
    func makeQueue() throws(EngineError) -> any CommandQueue { try inner.makeQueue() }
}
