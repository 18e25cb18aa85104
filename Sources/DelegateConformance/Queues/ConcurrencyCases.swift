import Dispatch
import EngineDelegation
import EngineGraph
import Synchronization

/// Runs `body` on threads of its own, and throws the first error.
private func onThreads(
    _ count: Int, _ body: @escaping @Sendable (Int) throws(EngineError) -> Void
) throws(EngineError) {
    let failure = Locked<EngineError?>(nil)
    DispatchQueue.concurrentPerform(iterations: count) { number in
        do throws(EngineError) {
            try body(number)
        } catch {
            failure.withLock { if $0 == nil { $0 = error } }
        }
    }
    if let error = failure.withLock({ $0 }) { throw error }
}

extension QueueCase {
    static let concurrencyCases: [QueueCase] = [
        QueueCase(name: "threads.one.queue") { bench throws(EngineError) in
            try onThreads(8) { number throws(EngineError) in
                let (x, y) = (try bench.filled(Float(number)), try bench.filled(1))
                let sum = try bench.buffer()
                for _ in 0..<10 {
                    let done = bench.add(x.buffer, y.buffer, into: sum, after: [x.ready, y.ready])
                    try bench.expect(sum, Float(number + 1), after: [done])
                }
            }
        },
        QueueCase(name: "threads.a.queue.each") { bench throws(EngineError) in
            try onThreads(8) { number throws(EngineError) in
                let queue = try bench.delegate.makeQueue()
                let (x, y) = (try bench.filled(Float(number)), try bench.filled(2))
                let sum = try bench.buffer()
                for _ in 0..<10 {
                    let done = bench.add(x.buffer, y.buffer, into: sum, after: [x.ready, y.ready], on: queue)
                    try bench.expect(sum, Float(number + 2), after: [done])
                }
            }
        },
        QueueCase(name: "threads.load") { bench throws(EngineError) in
            try onThreads(8) { number throws(EngineError) in
                let own = try QueueBench(bench.delegate)
                let (x, ready) = try own.filled(Float(number))
                let sum = try own.buffer()
                try own.expect(sum, Float(2 * number), after: [own.add(x, x, into: sum, after: [ready])])
            }
        },
        QueueCase(name: "threads.wait.for.one.fence") { bench throws(EngineError) in
            let gate = Fence()
            let (x, ready) = try bench.filled(1)
            let done = bench.add(x, x, into: try bench.buffer(), after: [ready, gate])
            let arrived = Atomic(0)
            try onThreads(8) { number throws(EngineError) in
                // The last to come opens the gate, however few threads there are.
                if arrived.add(1, ordering: .relaxed).newValue == 1 { gate.signal() }
                try done.wait()
            }
        },
        QueueCase(name: "threads.submit.without.waiting") { bench throws(EngineError) in
            // More than any queue has slots for.
            let (total, ready) = try bench.filled(0)
            let one = try bench.filled(1)
            let other = try bench.buffer()
            try Fence.all([ready, one.ready]).wait()
            var last = Fence.reached()
            for _ in 0..<500 {
                last = bench.add(total, one.buffer, into: other)
                last = bench.queue.copy(BufferSlice(other), to: BufferSlice(total), after: [last])
            }
            try bench.expect(total, 500, after: [last])
        },
    ]
}
