import EngineDelegation
import EngineGraph

private let broken = EngineError.invalidValue(op: "conformance", reason: "broken on purpose")

extension QueueCase {
    static let orderCases: [QueueCase] = [
        QueueCase(name: "order.in.one.queue") { bench throws(EngineError) in
            // No fences between them: the queue's order is enough.
            let (total, ready) = try bench.filled(0)
            let one = try bench.filled(1)
            try Fence.all([ready, one.ready]).wait()
            let other = try bench.buffer()
            for _ in 0..<20 {
                _ = bench.add(total, one.buffer, into: other)
                _ = bench.queue.copy(BufferSlice(other), to: BufferSlice(total), after: [])
            }
            try bench.expect(total, 20)
        },
        QueueCase(name: "order.across.queues") { bench throws(EngineError) in
            let other = try bench.delegate.makeQueue()
            let one = try bench.filled(1)
            let (first, second) = (try bench.filled(0), try bench.buffer())
            var last = Fence.all([one.ready, first.ready])
            for step in 0..<20 {
                let (from, to) = step % 2 == 0 ? (first.buffer, second) : (second, first.buffer)
                last = bench.add(from, one.buffer, into: to, after: [last], on: step % 2 == 0 ? other : bench.queue)
            }
            try bench.expect(first.buffer, 20, after: [last])
        },
        QueueCase(name: "order.waits.for.the.host") { bench throws(EngineError) in
            let gate = Fence()
            let (x, y) = (try bench.filled(1), try bench.filled(2))
            let sum = try bench.buffer()
            let done = bench.add(x.buffer, y.buffer, into: sum, after: [x.ready, y.ready, gate])
            try require(done.outcome == nil, "the work did not wait for its fence")
            gate.signal()
            try bench.expect(sum, 3, after: [done])
        },
        QueueCase(name: "order.keeps.waiting.work.in.place") { bench throws(EngineError) in
            // What is submitted after waiting work runs after it.
            let gate = Fence()
            let (total, ready) = try bench.filled(1)
            let late = try bench.host(5)
            _ = bench.queue.copy(BufferSlice(late), to: BufferSlice(total), after: [ready, gate])
            let copy = try bench.buffer()
            let copied = bench.queue.copy(BufferSlice(total), to: BufferSlice(copy), after: [])
            gate.signal()
            try bench.expect(copy, 5, after: [copied])
        },
        QueueCase(name: "order.another.queue.goes.on") { bench throws(EngineError) in
            let gate = Fence()
            let (x, ready) = try bench.filled(1)
            let waiting = bench.add(x, x, into: try bench.buffer(), after: [ready, gate])
            let other = try bench.delegate.makeQueue()
            let sum = try bench.buffer()
            try bench.add(x, x, into: sum, after: [ready], on: other).wait()
            try require(waiting.outcome == nil, "the work did not wait for its fence")
            gate.signal()
            try bench.expect(sum, 2, after: [waiting])
        },
    ]

    static let fenceCases: [QueueCase] = [
        QueueCase(name: "fence.failure.travels") { bench throws(EngineError) in
            let (x, ready) = try bench.filled(1)
            let sum = try bench.filled(7)
            let failed = bench.add(x, x, into: sum.buffer, after: [ready, sum.ready, .reached(.failure(broken))])
            let dependent = bench.queue.copy(BufferSlice(x), to: BufferSlice(sum.buffer), after: [failed])
            let elsewhere = try bench.delegate.makeQueue().copy(
                BufferSlice(x), to: BufferSlice(sum.buffer), after: [failed])
            for fence in [failed, dependent, elsewhere] { try bench.expectFailure(fence, broken) }
            // None of it ran.
            try bench.expect(sum.buffer, 7)
        },
        QueueCase(name: "fence.failure.stays.with.its.dependents") { bench throws(EngineError) in
            let (x, ready) = try bench.filled(1)
            let sum = try bench.buffer()
            let failed = bench.add(x, x, into: sum, after: [ready, .reached(.failure(broken))])
            let next = bench.add(x, x, into: sum, after: [ready])
            try bench.expectFailure(failed, broken)
            try bench.expect(sum, 2, after: [next])
        },
        QueueCase(name: "fence.failure.late") { bench throws(EngineError) in
            let gate = Fence()
            let (x, ready) = try bench.filled(1)
            var last = bench.add(x, x, into: try bench.buffer(), after: [ready, gate])
            for _ in 0..<2000 {
                last = bench.queue.copy(BufferSlice(x), to: BufferSlice(try bench.host(0, count: 1)), after: [last])
            }
            gate.signal(.failure(broken))
            try bench.expectFailure(last, broken)
            try bench.expect(x, 1)
        },
        QueueCase(name: "fence.many.before") { bench throws(EngineError) in
            let (x, ready) = try bench.filled(1)
            let gates = (0..<64).map { _ in Fence() }
            let sum = try bench.buffer()
            let done = bench.add(x, x, into: sum, after: [ready] + gates)
            for gate in gates.dropLast() { gate.signal() }
            try require(done.outcome == nil, "the work did not wait for its last fence")
            gates[63].signal()
            try bench.expect(sum, 2, after: [done])
        },
        QueueCase(name: "fence.outlives.its.queue") { bench throws(EngineError) in
            let (x, ready) = try bench.filled(1)
            let sum = try bench.buffer()
            let done: Fence
            do {
                let queue = try bench.delegate.makeQueue()
                done = bench.add(x, x, into: sum, after: [ready], on: queue)
            }
            try bench.expect(sum, 2, after: [done])
        },
        QueueCase(name: "fence.foreign.executable") { bench throws(EngineError) in
            struct Stranger: Executable {
                let workspaceByteCount = 0
            }
            let slices = PartSlices(inputs: [], states: [], outputs: [])
            try bench.expectFailure(bench.queue.run(Stranger(), on: slices, after: []))
            let (x, ready) = try bench.filled(1)
            try bench.expect(x, 1, after: [ready])
        },
    ]
}
