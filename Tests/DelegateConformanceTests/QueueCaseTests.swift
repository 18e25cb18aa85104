import CPUDelegate
import DelegateConformance
import EngineDelegation
import EngineGraph
import TestDelegate
import Testing

@Suite struct QueueCaseTests {
    @Test func theProcessorPasses() {
        for result in QueueCase.run(on: CPUDelegate.shared) {
            #expect(result.outcome == .passed, "\(result.name)")
        }
    }

    @Test func theTestDelegatePasses() {
        let unit = TestDelegate(computing: CPUDelegate.shared)
        for result in QueueCase.run(on: unit) { #expect(result.outcome == .passed, "\(result.name)") }
        #expect(unit.counters.conflicts == 0)
    }

    @Test func delaysChangeNothing() {
        var options = TestOptions()
        options.memory = .shared
        options.delays = TestOptions.Delays(jitter: 0.0002)
        let unit = TestDelegate(computing: CPUDelegate.shared, options)
        for result in QueueCase.run(on: unit) { #expect(result.outcome == .passed, "\(result.name)") }
    }

    @Test func aUnitWithoutAdditionIsNoFailure() {
        let unit = TestDelegate(computing: CPUDelegate.shared, TestOptions(ops: [.mul]))
        for result in QueueCase.run(on: unit) { #expect(result.isDeclined, "\(result.name)") }
    }
}
