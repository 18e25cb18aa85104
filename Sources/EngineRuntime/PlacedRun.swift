import EngineCompiler
import EngineDelegation
import EngineGraph

/// One run of a segment whose parts are on several units: values go to where they are read, once, and work that waits
/// for them is submitted before they are there.
struct PlacedRun {
    /// A value on a unit, and when it is there.
    private struct Resident {
        let unit: DelegateID
        let type: TensorType
        let slice: BufferSlice
        let fence: Fence
    }

    private let segment: Segment
    private let units: UnitContexts
    private var environment: [Value: HostTensor]
    private let wanted: [Value: HostTensor]
    private let watch: SegmentWatch?
    private var residents: [Value: [Resident]] = [:]
    private var used: [(unit: DelegateID, buffer: any Buffer)] = []
    /// What must be reached before the run's memory may be used otherwise.
    private var pending: [(unit: DelegateID, fence: Fence)] = []

    init(
        _ segment: Segment, units: UnitContexts, environment: [Value: HostTensor], wanted: [Value: HostTensor],
        watch: SegmentWatch?
    ) {
        self.segment = segment
        self.units = units
        self.environment = environment
        self.wanted = wanted
        self.watch = watch
    }

    /// Runs all parts and returns what is on the host then: all that the segment gives.
    mutating func run(
        onHost: (Int, inout [Value: HostTensor]) throws(EngineError) -> Void
    ) throws(EngineError) -> [Value: HostTensor] {
        do throws(EngineError) {
            for (index, part) in segment.parts.enumerated() {
                if part.executable is any HostExecutable {
                    for value in part.inputs { try bring(value) }
                    try drainStates(of: part)
                    try onHost(index, &environment)
                } else {
                    try submit(part, index)
                }
            }
            for (value, _) in segment.outputs { try bring(value) }
            try drain()
        } catch {
            // The memory of work that is under way stays until that work is over.
            for (unit, fence) in pending {
                do throws(EngineError) { try fence.wait() } catch { note(error, on: unit) }
            }
            throw error
        }
        units.recycle(used)
        return environment
    }

    private func note(_ error: EngineError, on unit: DelegateID) {
        if case .deviceFailure(_, let reason) = error { units.lose(unit, reason: reason) }
    }

    private mutating func drain() throws(EngineError) {
        var failure: EngineError?
        let start = watch?.watch.recorder.map { _ in ClockInterval.now }
        defer { noteWait("wait for all", since: start) }
        for (unit, fence) in pending {
            do throws(EngineError) {
                try fence.wait()
            } catch {
                note(error, on: unit)
                failure = failure ?? error
            }
        }
        pending = []
        if let failure { throw failure }
    }

    private func noteWait(_ name: String, since start: UInt64?) {
        guard let start else { return }
        watch?.watch.recorder?.record(.wait, name, ClockInterval(start: start, end: ClockInterval.now))
    }

    /// Submits a copy to or from a unit, or between places of it.
    private func copy(
        _ source: BufferSlice, to target: BufferSlice, on unit: DelegateID, after fences: [Fence], _ direction: String
    ) throws(EngineError) -> Fence {
        let queue = try units.queue(unit)
        let start = watch?.watch.recorder?.start(after: fences)
        let fence = queue.copy(source, to: target, after: fences)
        if let start {
            watch?.watch.recorder?.record(
                .copy, "copy \(direction)", track: unit.name, from: start, until: fence,
                details: ["bytes": "\(target.byteCount)"])
        }
        return fence
    }

    /// States that a unit has written must be back before the CPU reads them.
    private mutating func drainStates(of part: PlacedPart) throws(EngineError) {
        if !part.states.isEmpty { try drain() }
    }

    private func host(_ value: Value) throws(EngineError) -> HostTensor {
        if let tensor = environment[value] { return tensor }
        throw .invalidGraph(function: "segment", op: "value", reason: "%\(value.index) was not computed")
    }

    /// Brings a value to the host, if it is not there.
    private mutating func bring(_ value: Value) throws(EngineError) {
        guard environment[value] == nil, let resident = residents[value]?.first else { return }
        let tensor: HostTensor
        if let destination = wanted[value] {
            tensor = destination
        } else {
            tensor = try HostTensor(allocating: resident.type)
        }
        let fence = try copy(
            resident.slice, to: BufferSlice(tensor), on: resident.unit, after: [resident.fence], "to the host")
        pending.append((resident.unit, fence))
        let start = watch?.watch.recorder.map { _ in ClockInterval.now }
        defer { noteWait("wait for \(resident.unit)", since: start) }
        do throws(EngineError) {
            try fence.wait()
        } catch {
            note(error, on: resident.unit)
            throw error
        }
        environment[value] = tensor
    }

    private mutating func buffer(_ unit: DelegateID, byteCount: Int) throws(EngineError) -> BufferSlice {
        let buffer = try units.buffer(unit, byteCount: byteCount)
        used.append((unit, buffer))
        return BufferSlice(buffer, byteCount: byteCount)
    }

    /// A value on a unit: where it was computed, or copied to by way of the host.
    private mutating func place(_ value: Value, on unit: DelegateID) throws(EngineError) -> Resident {
        if let resident = residents[value]?.first(where: { $0.unit == unit }) { return resident }
        try bring(value)
        let tensor = try host(value)
        let slice = try buffer(unit, byteCount: tensor.byteCount)
        let fence = try copy(BufferSlice(tensor), to: slice, on: unit, after: [], "to \(unit)")
        pending.append((unit, fence))
        let resident = Resident(unit: unit, type: tensor.type, slice: slice, fence: fence)
        residents[value, default: []].append(resident)
        return resident
    }

    private mutating func submit(_ part: PlacedPart, _ index: Int) throws(EngineError) {
        var slices = PartSlices(inputs: [], states: [], outputs: [])
        var fences: [Fence] = []
        for value in part.inputs {
            let resident = try place(value, on: part.unit)
            slices.inputs.append(resident.slice)
            fences.append(resident.fence)
        }
        // A state is the caller's memory: it goes to the unit and comes back with every part that touches it.
        if !part.states.isEmpty { try drain() }
        let queue = try units.queue(part.unit)
        var states: [(host: HostTensor, slice: BufferSlice)] = []
        for value in part.states {
            let tensor = try host(value)
            let slice = try buffer(part.unit, byteCount: tensor.byteCount)
            fences.append(
                try copy(BufferSlice(tensor), to: slice, on: part.unit, after: [], "a state to \(part.unit)"))
            slices.states.append(slice)
            states.append((tensor, slice))
        }
        for (_, type) in part.outputs {
            slices.outputs.append(try buffer(part.unit, byteCount: type.byteCount ?? 0))
        }
        let start = watch?.watch.timer?.start(after: fences)
        let done = queue.run(part.executable, on: slices, after: fences)
        pending.append((part.unit, done))
        if let start { observe(part, index, from: start, until: done) }
        for ((value, type), slice) in zip(part.outputs, slices.outputs) {
            residents[value, default: []].append(Resident(unit: part.unit, type: type, slice: slice, fence: done))
        }
        for (tensor, slice) in states {
            let fence = try copy(slice, to: BufferSlice(tensor), on: part.unit, after: [done], "a state to the host")
            pending.append((part.unit, fence))
        }
    }

    /// Has the part's time noted, once it has run.
    private func observe(_ part: PlacedPart, _ index: Int, from start: RecordedStart, until done: Fence) {
        guard let watch, let timer = watch.watch.timer else { return }
        timer.record(
            .part, part.title, track: part.unit.name, from: start, until: done, details: watch.details(of: part)
        ) { interval in
            watch.part(index, interval.seconds)
        }
    }
}

extension PlacedPart {
    /// What a trace calls the part.
    var title: String { "\(unit): \(ops.count) pattern\(ops.count == 1 ? "" : "s")" }
}

/// Copies of the states that a segment touches, for when it has to start over.
struct StateSnapshot {
    private var copies: [(state: HostTensor, copy: HostTensor)] = []

    init(_ segment: Segment, _ environment: [Value: HostTensor]) {
        for value in segment.states {
            guard let state = environment[value], let copy = try? HostTensor(allocating: state.type) else { continue }
            copy.pointer.copyMemory(from: state.pointer, byteCount: state.byteCount)
            copies.append((state, copy))
        }
    }

    func restore() {
        for (state, copy) in copies { state.pointer.copyMemory(from: copy.pointer, byteCount: copy.byteCount) }
    }
}
