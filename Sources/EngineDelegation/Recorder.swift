#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A stretch of the monotonic clock, in nanoseconds.
package struct ClockInterval: Sendable, Hashable {
    package var start: UInt64
    package var end: UInt64

    package init(start: UInt64, end: UInt64) {
        self.start = start
        self.end = max(start, end)
    }

    package var nanoseconds: UInt64 { end - start }
    package var seconds: Double { Double(nanoseconds) * 1e-9 }

    /// Now, on the clock that all intervals are of.
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Something that took time: a phase, a part, a copy, a wait.
package struct RecordedEvent: Sendable, Hashable {
    /// What kind of work it is; the trace shows it as the event's category.
    package enum Kind: String, Sendable, Hashable {
        case load, specialize, setup, part, pattern, copy, wait, call
    }

    package var kind: Kind
    package var name: String
    /// `host` for the thread that calls, else the unit that works.
    package var track: String
    /// Tells apart what happens on one track at once.
    package var lane: Int
    package var interval: ClockInterval
    package var details: [String: String]
}

/// Collects what happens while it is current: in the task that it was made current for, and in what that starts.
///
/// Where none is current, nothing is measured.
package final class Recorder: Sendable {
    @TaskLocal package static var current: Recorder?

    private struct State {
        var events: [RecordedEvent] = []
        /// When the last event of a device's track ended: a queue does one thing at a time.
        var ends: [String: UInt64] = [:]
        var lanes: [pthread_t: Int] = [:]
    }
    private let state = Locked(State())
    /// A trace of a run that never ends must not take all memory.
    private static let eventLimit = 2_000_000

    package init() {}

    /// What was recorded, in the order of the starts; what holds others comes before them.
    package var events: [RecordedEvent] {
        var events = state.withLock { $0.events }.sorted {
            ($0.interval.start, $1.interval.end) < ($1.interval.start, $0.interval.end)
        }
        // A task goes from thread to thread: threads share a lane, unless they work at once. `open` are the events of
        // each lane that are not over yet, each inside the one before it.
        var open: [String: [[(end: UInt64, thread: Int)]]] = [:]
        for index in events.indices {
            let (thread, interval) = (events[index].lane, events[index].interval)
            var lanes = open[events[index].track] ?? []
            for lane in lanes.indices { lanes[lane].removeAll { $0.end <= interval.start } }
            let lane = lanes.firstIndex { lane in
                lane.last.map { $0.thread == thread && $0.end >= interval.end } ?? true
            }
            if lane == nil { lanes.append([]) }
            lanes[lane ?? lanes.count - 1].append((interval.end, thread))
            events[index].lane = lane ?? lanes.count - 1
            open[events[index].track] = lanes
        }
        return events
    }

    /// Records work of the thread that calls; `track` where it is the CPU's own.
    package func record(
        _ kind: RecordedEvent.Kind, _ name: String, track: String = "host", _ interval: ClockInterval,
        details: [String: String] = [:]
    ) {
        state.withLock { state in
            guard state.events.count < Self.eventLimit else { return }
            let lane = state.lanes[pthread_self()] ?? state.lanes.count
            state.lanes[pthread_self()] = lane
            state.events.append(
                RecordedEvent(
                    kind: kind, name: name, track: track, lane: lane, interval: interval, details: details))
        }
    }

    /// Notes when work that waits for `fences` can begin. To be called before the work is submitted: what is done by the
    /// time that this thread goes on began before.
    package func start(after fences: [Fence]) -> RecordedStart {
        let shared = RecordedStart()
        Fence.all(fences).whenReached { _ in shared.start.withLock { $0 = max($0, ClockInterval.now) } }
        return shared
    }

    /// Records work of a device once `done` is reached. It began at `shared` and when the work before it on the same
    /// track was done.
    package func record(
        _ kind: RecordedEvent.Kind, _ name: String, track: String, from shared: RecordedStart, until done: Fence,
        details: [String: String] = [:], ended: (@Sendable (ClockInterval) -> Void)? = nil
    ) {
        done.whenReached { [self] _ in
            let end = ClockInterval.now
            let interval = state.withLock { state -> ClockInterval in
                let begin = max(shared.start.withLock { $0 }, state.ends[track] ?? 0)
                state.ends[track] = max(end, state.ends[track] ?? 0)
                let interval = ClockInterval(start: min(begin, end), end: end)
                guard state.events.count < Self.eventLimit else { return interval }
                state.events.append(
                    RecordedEvent(
                        kind: kind, name: name, track: track, lane: 0, interval: interval, details: details))
                return interval
            }
            ended?(interval)
        }
    }
}

/// When a device's work began.
package final class RecordedStart: Sendable {
    fileprivate let start = Locked(ClockInterval.now)
}

/// Does `body`, and records how long it took where a recorder is current.
package func recording<R, E: Error>(
    _ kind: RecordedEvent.Kind, _ name: @autoclosure () -> String, _ body: () throws(E) -> R
) throws(E) -> R {
    guard let recorder = Recorder.current else { return try body() }
    let start = ClockInterval.now
    defer { recorder.record(kind, name(), ClockInterval(start: start, end: ClockInterval.now)) }
    return try body()
}
