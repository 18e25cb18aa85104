import CPUDelegate
import EngineDelegation
import EngineGraph
import EngineTestSupport
import TestDelegate
import Testing

@Suite struct FailureTests {
    static let broken = EngineError.invalidValue(op: "test", reason: "broken on purpose")

    @Test func injectedFailuresTravel() throws {
        var options = TestOptions()
        options.failures = [TestOptions.Failure(.run, 2, Self.broken)]
        let bench = try Bench(options)
        #expect(try bench.round() == [11, 22, 33, 44])
        #expect(throws: Self.broken) { try bench.round() }
        #expect(try bench.round() == [11, 22, 33, 44])
        // The download that waited for it failed too.
        #expect(bench.unit.counters.failures == 2)
    }

    @Test func everyActionCanFail() throws {
        let unit = TestDelegate(computing: CPUDelegate.shared)
        let part = try additionPart()
        unit.failNext(.compile, with: Self.broken)
        #expect(throws: Self.broken) { try unit.compile(part) }
        let compiled = try unit.compile(part)
        unit.failNext(.load, with: Self.broken)
        #expect(throws: Self.broken) { try unit.load(compiled) }
        _ = try unit.load(compiled)
        unit.failNext(.allocate, with: Self.broken)
        #expect(throws: Self.broken) { try unit.makeBuffer(byteCount: 1) }
        _ = try unit.makeBuffer(byteCount: 1)
        unit.failNext(.makeQueue, with: Self.broken)
        #expect(throws: Self.broken) { try unit.makeQueue() }
        let bench = try Bench()
        bench.unit.failNext(.copy, with: Self.broken)
        #expect(throws: Self.broken) { try bench.round() }
        #expect(try bench.round() == [11, 22, 33, 44])
    }

    @Test func aLostDeviceFailsAllThatIsLeft() throws {
        let bench = try Bench()
        bench.unit.hold()
        let (first, never) = (bench.add(), bench.add(after: [Fence()]))
        bench.unit.lose("pulled out")
        let loss = EngineError.deviceFailure(unit: "test", reason: "pulled out")
        #expect(throws: loss) { try first.wait() }
        #expect(throws: loss) { try never.wait() }
        #expect(throws: loss) { try bench.add().wait() }
        #expect(throws: loss) { try bench.unit.makeBuffer(byteCount: 1) }
        #expect(throws: loss) { try bench.unit.makeQueue() }
        #expect(throws: loss) { try bench.unit.compile(try additionPart()) }
        bench.unit.recover()
        bench.unit.resume()
        #expect(try bench.round() == [11, 22, 33, 44])
    }

    @Test func losesTheDeviceAtWork() throws {
        var options = TestOptions()
        options.losesAtWork = 3
        let bench = try Bench(options)
        #expect(throws: EngineError.deviceFailure(unit: "test", reason: "lost at work 3")) { try bench.round() }
        #expect(throws: EngineError.self) { try bench.add().wait() }
    }

    @Test func submittingNeverWaits() throws {
        let bench = try Bench()
        bench.unit.hold()
        let fences = (0..<100).map { _ in bench.add() }
        #expect(fences.allSatisfy { $0.outcome == nil })
        #expect(bench.unit.counters.runs == 0)
        bench.unit.resume()
        try Fence.all(fences).wait()
        #expect(bench.unit.counters.runs == 100)
    }

    @Test func manyFailuresInARow() throws {
        let bench = try Bench()
        let first = Fence()
        var last = first
        for _ in 0..<5_000 { last = bench.add(after: [last]) }
        first.signal(.failure(Self.broken))
        #expect(throws: Self.broken) { try last.wait() }
        #expect(try bench.round() == [11, 22, 33, 44])
    }

    @Test func delaysKeepTheOrder() throws {
        var options = TestOptions()
        options.delays = TestOptions.Delays(run: 0.002, copy: 0.001, ops: [.add: 0.001], jitter: 0.002)
        let bench = try Bench(options)
        let order = Locked<[Int]>([])
        let clock = ContinuousClock()
        let start = clock.now
        let fences = (0..<8).map { number -> Fence in
            let fence = bench.add()
            fence.whenReached { _ in order.withLock { $0.append(number) } }
            return fence
        }
        try Fence.all(fences).wait()
        #expect(order.withLock { $0 } == Array(0..<8))
        #expect(clock.now - start >= .milliseconds(8 * 3))
    }

    @Test func tellsUnorderedUses() throws {
        var options = TestOptions()
        options.delays = TestOptions.Delays(copy: 0.05)
        let bench = try Bench(options)
        let other = try bench.unit.makeQueue()
        let host = BufferSlice(try HostTensor([1.0, 2, 3, 4], [4]))
        let first = bench.queue.copy(host, to: BufferSlice(bench.x), after: [])
        let second = other.copy(BufferSlice(bench.x), to: BufferSlice(bench.y), after: [])
        try Fence.all([first, second]).wait()
        #expect(bench.unit.counters.conflicts == 1)
        // Ordered by a fence, they are no conflict; nor are reads.
        let third = bench.queue.copy(BufferSlice(bench.x), to: BufferSlice(bench.y), after: [second])
        let fourth = other.copy(BufferSlice(bench.y), to: BufferSlice(bench.sum), after: [third])
        let fifth = bench.queue.copy(
            BufferSlice(bench.x), to: BufferSlice(try HostTensor([0.0, 0, 0, 0], [4])), after: [])
        try Fence.all([fourth, fifth]).wait()
        #expect(bench.unit.counters.conflicts == 1)
    }

    @Test func manyThreadsSubmit() async throws {
        let bench = try Bench()
        _ = try bench.round()
        let results = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var last = Fence.reached()
                    for _ in 0..<25 { last = bench.add(after: [last]) }
                    do { try await last.reached() } catch { return false }
                    return true
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == Array(repeating: true, count: 8))
        #expect(bench.unit.counters.runs == 201 && bench.unit.counters.conflicts == 0)
    }
}
