import EngineDelegation

/// Lets a bounded number of calls through at once; the others wait in the order they came.
final class CallGate: Sendable {
    private struct State {
        var free: Int
        var nextTicket = 0
        /// In the order of their tickets.
        var waiting: [(ticket: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }
    private let state: Locked<State>

    /// - Parameter limit: How many calls may be in flight, at least one.
    init(limit: Int) { state = Locked(State(free: max(1, limit))) }

    /// How many calls wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for a place; throws `CancellationError` where the task is cancelled before it has one.
    func enter() async throws {
        try Task.checkCancellation()
        let ticket: Int? = state.withLock { state in
            if state.free > 0, state.waiting.isEmpty {
                state.free -= 1
                return nil
            }
            state.nextTicket += 1
            return state.nextTicket
        }
        guard let ticket else { return }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
                let answer: Bool? = state.withLock { state in
                    // A place may have come free, or the task been cancelled, since the ticket was drawn.
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    // Who drew a later ticket may have come here first.
                    let place = state.waiting.lastIndex { $0.ticket < ticket }.map { $0 + 1 } ?? 0
                    state.waiting.insert((ticket, continuation), at: place)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let cancelled = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
                return state.waiting.remove(at: index).continuation
            }
            cancelled?.resume(returning: false)
        }
        if !isAdmitted { throw CancellationError() }
    }

    /// Gives the place to who waits longest.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
