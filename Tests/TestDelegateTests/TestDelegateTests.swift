import CPUDelegate
import EngineDelegation
import EngineGraph
import EngineTestSupport
import TestDelegate
import Testing

@Suite struct TestDelegateTests {
    @Test func computesOverPrivateMemory() throws {
        let bench = try Bench()
        #expect(bench.x.hostPointer == nil)
        #expect(try bench.round() == [11, 22, 33, 44])
        let counters = bench.unit.counters
        #expect(counters.runs == 1 && counters.copies == 3 && counters.failures == 0 && counters.conflicts == 0)
        #expect(counters.bytesToDevice == 32 && counters.bytesToHost == 16)
        #expect(counters.liveBytes == 48 && counters.peakBytes == 48)
    }

    @Test func logsWhatWaitedForWhat() throws {
        let bench = try Bench()
        bench.unit.forget()
        _ = try bench.round()
        let submitted = bench.unit.events.filter { if case .submitted = $0 { true } else { false } }
        #expect(
            submitted == [
                .submitted(work: 1, what: .copy(byteCount: 16, .toDevice), queue: 1, after: [], others: 0),
                .submitted(work: 2, what: .copy(byteCount: 16, .toDevice), queue: 1, after: [], others: 0),
                .submitted(work: 3, what: .run(part: "addition"), queue: 1, after: [1, 2], others: 0),
                .submitted(work: 4, what: .copy(byteCount: 16, .toHost), queue: 1, after: [3], others: 0),
            ])
        let order = bench.unit.events.compactMap { event -> Int? in
            if case .finished(let work) = event { work } else { nil }
        }
        #expect(order == [1, 2, 3, 4])
    }

    @Test func privateMemoryIsNotTheHosts() throws {
        let bench = try Bench()
        let host = BufferSlice(try HostTensor([0.0, 0, 0, 0], [4]))
        let slices = PartSlices(inputs: [host, host], states: [], outputs: [BufferSlice(bench.sum)])
        #expect(throws: EngineError.self) { try bench.queue.run(bench.executable, on: slices, after: []).wait() }
        let other = try TestDelegate(computing: CPUDelegate.shared).makeBuffer(byteCount: 16)
        #expect(throws: EngineError.self) {
            try bench.queue.copy(BufferSlice(other), to: host, after: []).wait()
        }
        #expect(throws: EngineError.self) {
            try CPUDelegate.shared.makeQueue().copy(BufferSlice(other), to: host, after: []).wait()
        }
        #expect(bench.unit.counters.failures == 2)
    }

    @Test func sharedMemoryIs() throws {
        var options = TestOptions()
        options.memory = .shared
        let bench = try Bench(options)
        #expect(bench.x.hostPointer != nil)
        let host = try HostTensor([1.0, 2, 3, 4], [4])
        let result = try HostTensor([0.0, 0, 0, 0], [4])
        let slices = PartSlices(
            inputs: [BufferSlice(host), BufferSlice(host)], states: [], outputs: [BufferSlice(result)])
        try bench.queue.run(bench.executable, on: slices, after: []).wait()
        #expect(result.floats == [2, 4, 6, 8])
    }

    @Test func declinesWithReasons() throws {
        var options = TestOptions(ops: [.mul])
        let part = try additionPart()
        let unit = TestDelegate(computing: CPUDelegate.shared, options)
        #expect(unit.support(for: part.ops[0], in: part) == .declined(reason: "test does not take add"))
        #expect(throws: EngineError.unsupportedOp(op: "add", reason: "test does not take add")) {
            try unit.compile(part)
        }
        options.ops = nil
        options.elements = [.float16]
        #expect(
            TestDelegate(computing: CPUDelegate.shared, options).support(for: part.ops[0], in: part)
                == .declined(reason: "test does not take f32"))
        options.elements = nil
        options.declines = { op, _ in op.operands.count == 2 ? "two operands" : nil }
        #expect(
            TestDelegate(computing: CPUDelegate.shared, options).support(for: part.ops[0], in: part)
                == .declined(reason: "two operands"))
    }

    @Test func takesOnlyPartsOfItsOwn() throws {
        let part = try CPUDelegate.shared.compile(try additionPart())
        #expect(throws: EngineError.self) { try TestDelegate(computing: CPUDelegate.shared).load(part) }
        let bench = try Bench()
        let foreign = try CPUDelegate.shared.load(part)
        #expect(throws: EngineError.self) {
            try bench.queue.run(foreign, on: PartSlices(inputs: [], states: [], outputs: []), after: []).wait()
        }
    }

    @Test func refusesSlicesThatDoNotFit() throws {
        let bench = try Bench()
        let slices = PartSlices(
            inputs: [BufferSlice(bench.x), BufferSlice(bench.y, byteOffset: 8, byteCount: 16)], states: [],
            outputs: [BufferSlice(bench.sum)])
        #expect(throws: EngineError.self) { try bench.queue.run(bench.executable, on: slices, after: []).wait() }
        for (offset, count) in [(0, 17), (-1, 4), (8, Int.max), (4, -4)] {
            let slice = BufferSlice(bench.x, byteOffset: offset, byteCount: count)
            #expect(throws: EngineError.self) {
                try bench.queue.copy(slice, to: slice, after: []).wait()
            }
        }
    }

    @Test func runsOutOfMemory() throws {
        var options = TestOptions()
        options.memoryLimit = 100
        let bench = try Bench(options)
        #expect(throws: EngineError.outOfMemory(unit: "test", byteCount: 60)) {
            try bench.unit.makeBuffer(byteCount: 60)
        }
        // What is given back can be taken again.
        do { #expect(try bench.unit.makeBuffer(byteCount: 52).byteCount == 52) }
        do { #expect(try bench.unit.makeBuffer(byteCount: 52).byteCount == 52) }
        #expect(bench.unit.counters.liveBytes == 48 && bench.unit.counters.peakBytes == 100)
    }
}
