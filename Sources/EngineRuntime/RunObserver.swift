package import EngineCompiler
package import EngineDelegation
package import EngineGraph

/// Notes what runs: which segments, on which units, how long their patterns took, what their values were.
///
/// Where none is current, nothing is noted.
package final class RunObserver: Sendable {
    @TaskLocal package static var current: RunObserver?

    /// A segment that ran, and what was measured of it.
    package struct Visit: Sendable {
        package let path: String
        package let segment: Segment
        package var runCount = 0
        /// Why the segment ran on the CPU after all; nil where it ran as it was placed.
        package var fallback: String?
        /// The least seconds that each pattern took, by its index in the segment's placements.
        package var patternSeconds: [Int: Double] = [:]
        /// The least seconds that each part took, by its index in the segment's parts.
        package var partSeconds: [Int: Double] = [:]
    }

    /// Takes every result of every op, where the function keeps them.
    package typealias Probe = @Sendable (_ value: Value, _ tensor: HostTensor) -> Void

    private struct State {
        var visits: [Visit] = []
        var indices: [ObjectIdentifier: Int] = [:]
        var dynamicOps: [OpOrigin] = []
    }
    private let state = Locked(State())
    let measures: Bool
    let probe: Probe?

    /// - Parameter measures: Whether patterns are timed; where they are not, only what ran is noted.
    package init(measures: Bool = false, probe: Probe? = nil) {
        self.measures = measures
        self.probe = probe
    }

    /// The segments that ran, in the order of their first runs.
    package var visits: [Visit] { state.withLock { $0.visits } }

    /// The ops that the host computed because only that tells the shapes of their results.
    package var dynamicOps: [OpOrigin] { state.withLock { $0.dynamicOps } }

    func note(dynamic op: Op) {
        state.withLock { state in
            for origin in op.origins where !state.dynamicOps.contains(origin) { state.dynamicOps.append(origin) }
        }
    }

    func change(_ segment: Segment, path: String, _ body: (inout Visit) -> Void) {
        state.withLock { state in
            let key = ObjectIdentifier(segment)
            let index = state.indices[key] ?? state.visits.count
            if index == state.visits.count {
                state.indices[key] = index
                state.visits.append(Visit(path: path, segment: segment))
            }
            body(&state.visits[index])
        }
    }
}

/// What watches one call: a recorder, an observer, or both.
struct RunWatch: Sendable {
    let recorder: Recorder?
    let observer: RunObserver?
    /// What measures the work of devices: the recorder, or one whose events nobody asks for.
    let timer: Recorder?
    let locations: [SourceLocation]

    /// The watch of the current task; nil where nobody looks.
    init?(_ locations: [SourceLocation]) {
        recorder = Recorder.current
        observer = RunObserver.current
        self.locations = locations
        timer = recorder ?? (observer?.measures == true ? Recorder() : nil)
        if recorder == nil, observer == nil { return nil }
    }

    var measures: Bool { timer != nil }
}

/// A watch over one run of a segment.
struct SegmentWatch: Sendable {
    let watch: RunWatch
    let segment: Segment
    let path: String

    func began() { observe { $0.runCount += 1 } }

    func fellBack(_ reason: String) { observe { $0.fallback = reason } }

    private func observe(_ body: (inout RunObserver.Visit) -> Void) {
        watch.observer?.change(segment, path: path, body)
    }

    /// A pattern took this long. `pattern` is its index in the segment's placements.
    func pattern(_ pattern: Int, _ interval: ClockInterval, track: String) {
        if let recorder = watch.recorder, segment.placements.indices.contains(pattern) {
            let op = segment.placements[pattern].op
            recorder.record(.pattern, op.kind.name, track: track, interval, details: details(of: op))
        }
        observe { $0.patternSeconds[pattern] = min($0.patternSeconds[pattern] ?? .infinity, interval.seconds) }
    }

    /// A part took this long; nil for the whole segment on the CPU.
    func part(_ index: Int?, _ seconds: Double) {
        guard let index else { return }
        observe { $0.partSeconds[index] = min($0.partSeconds[index] ?? .infinity, seconds) }
    }

    func details(of op: Op) -> [String: String] {
        ["ops": op.origins.map(watch.locations.describe).joined(separator: ", ")]
    }

    func details(of part: PlacedPart) -> [String: String] {
        [
            "patterns": part.ops.prefix(64).map { segment.placements[$0].op.kind.name }.joined(separator: ", "),
            "region": path.isEmpty ? "function" : path,
        ]
    }
}
