package import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A point in some queue's work that is reached once: with success, or with the error of what failed there.
///
/// Failure travels: work that waits for a fence that failed fails too, with the same error, and is not run.
package final class Fence: Sendable {
    package typealias Outcome = Result<Void, EngineError>

    private struct State {
        var outcome: Outcome?
        var observers: [@Sendable (Outcome) -> Void] = []
    }
    private let state = Locked(State())
    /// What the delegate that made the fence knows it by (a semaphore and a value, an event): its queues can wait for it
    /// on the device. Nil for a fence that only the host signals.
    package let token: (any Sendable)?

    package init(token: (any Sendable)? = nil) { self.token = token }

    /// A fence that is reached already.
    package static func reached(_ outcome: Outcome = .success(())) -> Fence {
        let fence = Fence()
        fence.signal(outcome)
        return fence
    }

    /// The outcome, where the point is reached. Never waits.
    package var outcome: Outcome? { state.withLock { $0.outcome } }

    /// Marks the point as reached; only the first call counts.
    package func signal(_ outcome: Outcome = .success(())) {
        let observers = state.withLock { state -> [@Sendable (Outcome) -> Void] in
            guard state.outcome == nil else { return [] }
            state.outcome = outcome
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer(outcome) }
    }

    /// Calls `observer` when the point is reached: at once where it is, else on the thread that signals.
    package func whenReached(_ observer: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state -> Outcome? in
            if state.outcome == nil { state.observers.append(observer) }
            return state.outcome
        }
        if let outcome { observer(outcome) }
    }

    /// Blocks the thread until the point is reached. The only call of this module that blocks.
    package func wait() throws(EngineError) {
        if let outcome {
            try outcome.get()
            return
        }
        let gate = Gate()
        whenReached { _ in gate.open() }
        gate.pass()
        try outcome?.get()
    }

    /// Suspends until the point is reached.
    package func reached() async throws(EngineError) {
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
            whenReached { continuation.resume(returning: $0) }
        }
        try outcome.get()
    }

    /// A fence that is reached when all of `fences` are; with the first failure among them, if any.
    package static func all(_ fences: [Fence]) -> Fence {
        let pending = fences.filter { if case .success? = $0.outcome { false } else { true } }
        guard let last = pending.last else { return .reached() }
        if pending.count == 1 { return last }
        let joined = Fence()
        let rest = Locked((count: pending.count, failure: nil as EngineError?))
        for fence in pending {
            fence.whenReached { outcome in
                let answer = rest.withLock { rest -> Outcome? in
                    if case .failure(let error) = outcome, rest.failure == nil { rest.failure = error }
                    rest.count -= 1
                    guard rest.count == 0 else { return nil }
                    return rest.failure.map { .failure($0) } ?? .success(())
                }
                if let answer { joined.signal(answer) }
            }
        }
        return joined
    }
}

/// A gate that one thread waits at until another opens it.
///
/// `@unchecked Sendable`: the flag is read and written under the lock.
private final class Gate: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isOpen = false

    init() {
        pthread_mutex_init(lock, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(lock)
        condition.deallocate()
        lock.deallocate()
    }

    func open() {
        pthread_mutex_lock(lock)
        isOpen = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(lock)
    }

    func pass() {
        pthread_mutex_lock(lock)
        while !isOpen { pthread_cond_wait(condition, lock) }
        pthread_mutex_unlock(lock)
    }
}
