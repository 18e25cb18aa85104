import EngineDelegation
public import Foundation

/// A timeline of what the engine does: loading, specializing, every part on its unit, copies, waits.
///
/// ```swift
/// let trace = ExecutionTrace()
/// try await trace.record {
///     let model = try await AIModel(contentsOf: url)
///     _ = try await model.loadFunction(named: "main")!.run(inputs: ["x": x])
/// }
/// try trace.write(to: URL(filePath: "trace.json"))
/// ```
///
/// The file is in the Chrome trace event format: Perfetto and other viewers open it. Traces are not a part of Apple's
/// API. Where nothing records, nothing is measured.
public final class ExecutionTrace: Sendable {
    private let recorder = Recorder()

    /// Makes an empty trace.
    public init() {}

    /// Does `body`, and records what the engine does in it and in the tasks that it starts.
    public func record<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await Recorder.$current.withValue(recorder, operation: body)
    }

    /// Does `body`, and records what the engine does in it.
    public func record<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Recorder.$current.withValue(recorder, operation: body)
    }

    /// Something that took time.
    public struct Event: Hashable, Sendable {
        /// `load`, `specialize`, `setup`, `call`, `part`, `pattern`, `copy` or `wait`.
        public let kind: String
        /// What it was, for a person.
        public let name: String
        /// `host`, or the unit that worked: `cpu`, `gpu`, `accelerator`. With a number where several threads did.
        public let track: String
        /// When it began, in seconds of a clock that only differences have a meaning of.
        public let start: Double
        /// How long it took, in seconds.
        public let duration: Double
        /// What else is known: the operations with their source lines, the bytes of a copy.
        public let details: [String: String]
    }

    /// What was recorded, in the order of the starts.
    public var events: [Event] {
        recorder.events.map { event in
            Event(
                kind: event.kind.rawValue, name: event.name, track: event.trackName,
                start: Double(event.interval.start) * 1e-9, duration: event.interval.seconds, details: event.details)
        }
    }

    /// The trace in the Chrome trace event format.
    public func chromeTrace() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(ChromeTrace(recorder.events))
    }

    /// Writes ``chromeTrace()`` to a file, which is replaced in one step.
    public func write(to url: URL) throws { try chromeTrace().write(to: url, options: .atomic) }
}

extension RecordedEvent {
    fileprivate var trackName: String { lane == 0 ? track : "\(track) \(lane + 1)" }
}

/// The file's contents.
private struct ChromeTrace: Encodable {
    struct Event: Encodable {
        var ph: String
        var name: String
        var cat: String?
        var pid = 1
        var tid = 0
        /// In microseconds.
        var ts: Double?
        var dur: Double?
        var args: [String: String] = [:]
    }

    var displayTimeUnit = "ms"
    var traceEvents: [Event]

    init(_ events: [RecordedEvent]) {
        let first = events.map(\.interval.start).min() ?? 0
        // The host on top, then the units in the order of the API.
        let order = ["host", "cpu", "gpu", "accelerator"]
        let tracks = Set(events.map { Track(name: $0.track, lane: $0.lane, title: $0.trackName) }).sorted {
            (order.firstIndex(of: $0.name) ?? order.count, $0.name, $0.lane)
                < (order.firstIndex(of: $1.name) ?? order.count, $1.name, $1.lane)
        }
        traceEvents = [Event(ph: "M", name: "process_name", args: ["name": "engine"])]
        var numbers: [String: Int] = [:]
        for (index, track) in tracks.enumerated() {
            numbers[track.title] = index + 1
            traceEvents.append(Event(ph: "M", name: "thread_name", tid: index + 1, args: ["name": track.title]))
            traceEvents.append(
                Event(ph: "M", name: "thread_sort_index", tid: index + 1, args: ["sort_index": "\(index)"]))
        }
        for event in events {
            traceEvents.append(
                Event(
                    ph: "X", name: event.name, cat: event.kind.rawValue, tid: numbers[event.trackName] ?? 0,
                    ts: Double(event.interval.start - first) / 1e3, dur: Double(event.interval.nanoseconds) / 1e3,
                    args: event.details))
        }
    }

    private struct Track: Hashable {
        let name: String
        let lane: Int
        let title: String
    }
}
