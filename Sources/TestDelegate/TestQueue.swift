import Dispatch
import EngineDelegation
import EngineGraph

/// Work in order, each at its delay after what it waits for, computed by a queue of the delegate underneath.
final class TestQueue: CommandQueue {
    private let device: TestDevice
    private let inner: any CommandQueue
    private let number: Int
    private let worker: DispatchQueue
    private let state = Locked(State())

    private struct Work: Sendable {
        let number: Int
        let what: TestWork
        let required: Fence
        let done: Fence
        let delay: Double
        let memory: [MemoryUse]
        let body: @Sendable () throws(EngineError) -> Fence
    }

    private enum Phase {
        case idle
        /// The first of `pending` waits for this fence.
        case waiting(Fence)
        /// A work taken from `pending` is not done yet.
        case busy
    }

    private struct State {
        var phase = Phase.idle
        var pending: [Work] = []
        /// Where the first of `pending` is.
        var first = 0

        mutating func take() -> Work {
            let work = pending[first]
            first += 1
            if first == pending.count || first > 256 {
                pending.removeFirst(first)
                first = 0
            }
            return work
        }
    }

    init(_ inner: any CommandQueue, number: Int, on device: TestDevice) {
        self.inner = inner
        self.number = number
        self.device = device
        self.worker = DispatchQueue(label: "coreai-engine.test.\(number)")
    }

    func run(_ executable: any Executable, on slices: PartSlices, after fences: [Fence]) -> Fence {
        let own = (executable as? TestExecutable).flatMap { $0.device === device ? $0 : nil }
        let uses =
            slices.inputs.map { MemoryUse($0, writes: false) }
            + (slices.states + slices.outputs).map { MemoryUse($0, writes: true) }
        return submit(
            .run(part: own?.part.name ?? "?"), after: fences,
            delay: own.map { device.options.delays.base(of: $0.part) } ?? 0, using: uses
        ) { [device, inner] () throws(EngineError) in
            guard let own else { throw device.failure("the executable is another unit's") }
            return inner.run(own.inner, on: try device.translate(slices, for: own.part), after: [])
        }
    }

    func copy(_ source: BufferSlice, to destination: BufferSlice, after fences: [Fence]) -> Fence {
        let direction: TestWork.Direction =
            switch (device.owns(source), device.owns(destination)) {
            case (true, true): .onDevice
            case (true, false): .toHost
            case (false, true): .toDevice
            case (false, false): .onHost
            }
        return submit(
            .copy(byteCount: destination.byteCount, direction), after: fences, delay: device.options.delays.copy,
            using: [MemoryUse(source, writes: false), MemoryUse(destination, writes: true)]
        ) { [device, inner] () throws(EngineError) in
            inner.copy(
                try device.translate(source, isRun: false), to: try device.translate(destination, isRun: false),
                after: [])
        }
    }

    private func submit(
        _ what: TestWork, after fences: [Fence], delay: Double, using memory: [MemoryUse],
        _ body: @escaping @Sendable () throws(EngineError) -> Fence
    ) -> Fence {
        // Taking the number and the place in the queue is one step, so that the log's order is the queue's.
        let done = state.withLock { state -> Fence in
            let (number, done) = device.submit(what, queue: self.number, after: fences)
            state.pending.append(
                Work(
                    number: number, what: what, required: .all(fences), done: done,
                    delay: device.options.delays.seconds(for: number, base: delay), memory: memory, body: body))
            return done
        }
        worker.async { self.advance() }
        return done
    }

    // MARK: Running

    private enum Step {
        case none
        case wait(Fence)
        case finish(Work, EngineError)
        case start(Work)
    }

    /// Takes work until one runs or waits. Never calls itself, however many fail in a row.
    private func advance() {
        while true {
            let (loss, gate) = (device.loss, device.gate)
            switch state.withLock({ nextStep(&$0, loss: loss, gate: gate) }) {
            case .none: return
            case .wait(let fence):
                fence.whenReached { [self] _ in worker.async { self.reached(fence) } }
                return
            case .finish(let work, let error):
                device.end(work.number, .failure(error))
                work.done.signal(.failure(error))
                state.withLock { $0.phase = .idle }
            case .start(let work):
                start(work)
                return
            }
        }
    }

    private func nextStep(_ state: inout State, loss: EngineError?, gate: Fence?) -> Step {
        guard case .idle = state.phase, state.first < state.pending.count else { return .none }
        let head = state.pending[state.first]
        if let loss {
            state.phase = .busy
            return .finish(state.take(), loss)
        }
        switch head.required.outcome {
        case nil:
            state.phase = .waiting(head.required)
            return .wait(head.required)
        case .failure(let error):
            state.phase = .busy
            return .finish(state.take(), error)
        case .success:
            if let gate, gate.outcome == nil {
                state.phase = .waiting(gate)
                return .wait(gate)
            }
            state.phase = .busy
            return .start(state.take())
        }
    }

    private func reached(_ fence: Fence) {
        let isMine = state.withLock { state -> Bool in
            guard case .waiting(let expected) = state.phase, expected === fence else { return false }
            state.phase = .idle
            return true
        }
        if isMine { advance() }
    }

    func deviceWasLost() {
        worker.async { [self] in
            state.withLock { if case .waiting = $0.phase { $0.phase = .idle } }
            advance()
        }
    }

    private func start(_ work: Work) {
        let error = device.start(work.number, work.what, using: work.memory)
        let finish: @Sendable (Fence.Outcome) -> Void = { [self] outcome in
            // What the device was doing when it was lost is lost too.
            let outcome = device.loss.map { .failure($0) } ?? outcome
            device.end(work.number, outcome)
            work.done.signal(outcome)
            state.withLock { $0.phase = .idle }
            worker.async { self.advance() }
        }
        let body: @Sendable () -> Void = {
            if let error { return finish(.failure(error)) }
            do throws(EngineError) {
                try work.body().whenReached(finish)
            } catch {
                finish(.failure(error))
            }
        }
        if work.delay > 0 {
            worker.asyncAfter(deadline: .now() + work.delay, execute: body)
        } else {
            worker.async(execute: body)
        }
    }
}
