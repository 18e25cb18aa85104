package import EngineDelegation
import EngineGraph

/// The units beside the CPU that a function runs on: a queue each, and buffers that are used again.
package final class UnitContexts: Sendable {
    private struct State {
        var queues: [DelegateID: any CommandQueue] = [:]
        var lost: [DelegateID: String] = [:]
        var buffers: [DelegateID: [Int: [any Buffer]]] = [:]
        var keptByteCount = 0
        var fallbackCount = 0
    }
    private let delegates: [DelegateID: any Delegate]
    private let state = Locked(State())
    /// Idle buffers beyond this many bytes are freed.
    private static let keptByteLimit = 256 << 20

    init(_ delegates: [any Delegate]) {
        self.delegates = Dictionary(delegates.map { ($0.id, $0) }) { first, _ in first }
    }

    func queue(_ unit: DelegateID) throws(EngineError) -> any CommandQueue {
        if let queue = state.withLock({ $0.queues[unit] }) { return queue }
        let queue = try recording(.setup, "make a queue of \(unit)") { () throws(EngineError) in
            try delegate(unit).makeQueue()
        }
        return state.withLock { state in
            // Another run may have been first.
            if let made = state.queues[unit] { return made }
            state.queues[unit] = queue
            return queue
        }
    }

    private func delegate(_ unit: DelegateID) throws(EngineError) -> any Delegate {
        guard let delegate = delegates[unit] else {
            throw .deviceFailure(unit: unit.name, reason: "there is no such unit")
        }
        return delegate
    }

    /// Memory of a unit, of at least `byteCount` bytes.
    func buffer(_ unit: DelegateID, byteCount: Int) throws(EngineError) -> any Buffer {
        let size = Self.rounded(byteCount)
        let kept = state.withLock { state -> (any Buffer)? in
            guard let buffer = state.buffers[unit]?[size]?.popLast() else { return nil }
            state.keptByteCount -= size
            return buffer
        }
        if let kept { return kept }
        return try recording(.setup, "allocate \(size) bytes of \(unit)") { () throws(EngineError) in
            try delegate(unit).makeBuffer(byteCount: size)
        }
    }

    /// Takes back buffers that nothing uses any more.
    func recycle(_ buffers: [(unit: DelegateID, buffer: any Buffer)]) {
        state.withLock { state in
            for (unit, buffer) in buffers where state.lost[unit] == nil {
                guard state.keptByteCount + buffer.byteCount <= Self.keptByteLimit else { continue }
                state.buffers[unit, default: [:]][buffer.byteCount, default: []].append(buffer)
                state.keptByteCount += buffer.byteCount
            }
        }
    }

    /// Sizes that differ little share buffers: an eighth of a power of two at most is wasted.
    private static func rounded(_ byteCount: Int) -> Int {
        guard byteCount > 256 else { return 256 }
        let step = max(256, 1 << (Int.bitWidth - 1 - byteCount.leadingZeroBitCount - 3))
        return (byteCount + step - 1) / step * step
    }

    // MARK: - Failure

    func isLost(_ unit: DelegateID) -> Bool { state.withLock { $0.lost[unit] != nil } }

    /// Notes that a unit failed for good: its queue and buffers are not used again.
    func lose(_ unit: DelegateID, reason: String) {
        state.withLock { state in
            state.lost[unit] = reason
            state.queues[unit] = nil
            state.buffers[unit] = nil
        }
    }

    func noteFallback() { state.withLock { $0.fallbackCount += 1 } }

    /// How often a segment ran on the CPU because its unit had failed.
    package var fallbackCount: Int { state.withLock { $0.fallbackCount } }

    /// The units that are not used any more, each with its reason.
    package var lostUnits: [DelegateID: String] { state.withLock { $0.lost } }
}

extension EngineError {
    /// Whether a unit gave up, rather than the program or its inputs being wrong: another unit may do it.
    var isUnitFailure: Bool {
        switch self {
        case .deviceFailure, .outOfMemory, .unsupportedOp: true
        default: false
        }
    }
}
