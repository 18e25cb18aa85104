import EngineDelegation
import EngineGraph

/// What the delegate, its buffers and its queues share.
final class TestDevice: Sendable {
    let options: TestOptions
    private let state: Locked<State>

    private struct State {
        var counters = TestCounters()
        var events: [TestEvent] = []
        var failures: [TestOptions.Failure]
        var works = 0
        var starts = 0
        var lostReason: String?
        /// Not reached while work is held.
        var gate: Fence?
        var queues: [WeakQueue] = []
        var active: [Int: [MemoryUse]] = [:]
    }

    private struct WeakQueue {
        weak var queue: TestQueue?
    }

    init(_ options: TestOptions) {
        self.options = options
        self.state = Locked(State(failures: options.failures))
    }

    var counters: TestCounters { state.withLock { $0.counters } }
    var events: [TestEvent] { state.withLock { $0.events } }

    func forget() {
        state.withLock { state in
            let (live, queues) = (state.counters.liveBytes, state.counters.queues)
            state.events = []
            state.counters = TestCounters()
            (state.counters.liveBytes, state.counters.peakBytes, state.counters.queues) = (live, live, queues)
        }
    }

    // MARK: Failures

    /// The error of a device that is lost.
    var loss: EngineError? { state.withLock { loss(in: $0) } }

    private func loss(in state: borrowing State) -> EngineError? {
        state.lostReason.map { .deviceFailure(unit: options.id.name, reason: $0) }
    }

    func lose(_ reason: String) {
        let queues = state.withLock { state -> [WeakQueue] in
            guard state.lostReason == nil else { return [] }
            state.lostReason = reason
            state.events.append(.lost(reason: reason))
            return state.queues
        }
        for entry in queues { entry.queue?.deviceWasLost() }
    }

    func recover() { state.withLock { $0.lostReason = nil } }

    func inject(_ failure: TestOptions.Failure) { state.withLock { $0.failures.append(failure) } }

    func failNext(_ action: TestOptions.Action, with error: EngineError) {
        state.withLock { state in
            var counters = state.counters
            let number = counters.count(action)
            state.failures.append(TestOptions.Failure(action, number, error))
        }
    }

    /// Counts an action that is no queue's work.
    func perform(_ action: TestOptions.Action, _ event: TestEvent) throws(EngineError) {
        let error = state.withLock { state -> EngineError? in
            if let loss = loss(in: state) { return loss }
            let number = state.counters.count(action)
            if let error = failure(action, number, in: state) { return error }
            state.events.append(event)
            return nil
        }
        if let error { throw error }
    }

    private func failure(_ action: TestOptions.Action, _ number: Int, in state: borrowing State) -> EngineError? {
        state.failures.first { $0.action == action && $0.numbers.contains(number) }?.error
    }

    // MARK: Memory

    func reserve(_ byteCount: Int) throws(EngineError) {
        let error = state.withLock { state -> EngineError? in
            if let loss = loss(in: state) { return loss }
            let number = state.counters.count(.allocate)
            if let error = failure(.allocate, number, in: state) { return error }
            let (live, overflow) = state.counters.liveBytes.addingReportingOverflow(byteCount)
            guard byteCount >= 0, !overflow, live <= options.memoryLimit ?? .max else {
                return .outOfMemory(unit: options.id.name, byteCount: byteCount)
            }
            state.counters.liveBytes = live
            state.counters.peakBytes = max(state.counters.peakBytes, live)
            state.events.append(.allocated(byteCount: byteCount))
            return nil
        }
        if let error { throw error }
    }

    func free(_ byteCount: Int, quietly: Bool = false) {
        state.withLock { state in
            state.counters.liveBytes -= byteCount
            if !quietly { state.events.append(.freed(byteCount: byteCount)) }
        }
    }

    // MARK: Queues

    func register(_ queue: TestQueue) {
        state.withLock { state in
            state.queues.removeAll { $0.queue == nil }
            state.queues.append(WeakQueue(queue: queue))
        }
    }

    func hold() { state.withLock { if $0.gate == nil { $0.gate = Fence() } } }

    func resume() {
        let gate = state.withLock { state -> Fence? in
            defer { state.gate = nil }
            return state.gate
        }
        gate?.signal()
    }

    var gate: Fence? { state.withLock { $0.gate } }

    /// A number for new work, and the fence that it reaches.
    func submit(_ what: TestWork, queue: Int, after fences: [Fence]) -> (number: Int, done: Fence) {
        let unit = ObjectIdentifier(self)
        let own = fences.compactMap { $0.token as? TestToken }.filter { $0.unit == unit }.map(\.work)
        let number = state.withLock { state -> Int in
            state.works += 1
            state.events.append(
                .submitted(
                    work: state.works, what: what, queue: queue, after: own, others: fences.count - own.count))
            return state.works
        }
        return (number, Fence(token: TestToken(unit: unit, work: number)))
    }

    /// Marks work as started. The error that it is to end with, if any.
    func start(_ number: Int, _ what: TestWork, using memory: [MemoryUse]) -> EngineError? {
        let (error, isLoss) = state.withLock { state -> (EngineError?, Bool) in
            state.starts += 1
            state.events.append(.started(work: number))
            for (other, uses) in state.active.sorted(by: { $0.key < $1.key })
            where uses.contains(where: { use in memory.contains { $0.conflicts(with: use) } }) {
                state.events.append(.conflict(work: number, with: other))
                state.counters.conflicts += 1
            }
            state.active[number] = memory
            let count = state.counters.count(what.action)
            if case .copy(let byteCount, let direction) = what {
                if direction == .toDevice { state.counters.bytesToDevice += byteCount }
                if direction == .toHost { state.counters.bytesToHost += byteCount }
            }
            if state.starts == options.losesAtWork { return (nil, true) }
            return (failure(what.action, count, in: state), false)
        }
        guard isLoss else { return error }
        lose("lost at work \(number)")
        return loss
    }

    func end(_ number: Int, _ outcome: Fence.Outcome) {
        state.withLock { state in
            state.active[number] = nil
            switch outcome {
            case .success: state.events.append(.finished(work: number))
            case .failure(let error):
                state.counters.failures += 1
                state.events.append(.failed(work: number, error))
            }
        }
    }
}

/// A stretch of memory that a work reads or writes.
struct MemoryUse: Sendable {
    let buffer: ObjectIdentifier
    let bytes: Range<Int>
    let writes: Bool

    init(_ slice: BufferSlice, writes: Bool) {
        buffer = ObjectIdentifier(slice.buffer)
        // A slice that is out of bounds is refused before it is used.
        let (end, overflow) = slice.byteOffset.addingReportingOverflow(slice.byteCount)
        bytes = overflow || end < slice.byteOffset ? 0..<0 : slice.byteOffset..<end
        self.writes = writes
    }

    func conflicts(with other: MemoryUse) -> Bool {
        (writes || other.writes) && buffer == other.buffer && bytes.overlaps(other.bytes)
    }
}
