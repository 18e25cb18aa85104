import CPUDelegate
import DelegateConformance
import EngineDelegation
import EngineGraph
import TestDelegate
import Testing

@Suite struct OpCaseTests {
    static let cpu = CPUDelegate.shared

    @Test func everyCaseFitsTheRules() {
        for row in OpCase.all {
            #expect(throws: Never.self, "\(row.name)") { _ = try row.build() }
        }
        #expect(Set(OpCase.all.map(\.name)).count == OpCase.all.count)
    }

    @Test func slow() {
        var names: [String: Int] = [:]
        for row in OpCase.all { names[row.name, default: 0] += 1 }
        _ = 0; print("DUP", names.filter { $0.value > 1 })
        let clock = ContinuousClock()
        var times: [(Double, String)] = []
        var builds = 0.0
        var declined: [String] = []
        for row in OpCase.all {
            builds += clock.measure { _ = try? row.build() } / .milliseconds(1)
            let t = clock.measure { if run([row], delegate: Self.cpu, reference: Self.cpu)[0].isDeclined { declined.append(row.name) } } / .milliseconds(1)
            times.append((t, row.name))
        }
        print("BUILD", builds, "RUN", times.reduce(0) { $0 + $1.0 })
        print("DECLINED", declined)
        for t in times.sorted(by: { $0.0 > $1.0 }).prefix(60) { print("SLOW", t) }
    }

    @Test func theProcessorPasses() {
        let results = run(delegate: Self.cpu, reference: Self.cpu)
        for result in results { #expect(result.failure == nil, "\(result.name)") }
    }
}
