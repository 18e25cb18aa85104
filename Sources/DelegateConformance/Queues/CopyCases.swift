import EngineDelegation
import EngineGraph

extension QueueCase {
    static let copyCases: [QueueCase] =
        sizes + [
            QueueCase(name: "copy.stretch") { bench throws(EngineError) in
                // Twenty bytes from the middle to elsewhere; what is around them stays.
                let bytes = (0..<100).map { $0 }
                let source = try Elements([100], .uint8, bytes).tensor()
                let (first, second) = (try bench.buffer(100), try bench.buffer(100))
                let zeros = try Elements([100], .uint8, .values([0])).tensor()
                let steps = [
                    bench.queue.copy(BufferSlice(source), to: BufferSlice(first), after: []),
                    bench.queue.copy(BufferSlice(zeros), to: BufferSlice(second), after: []),
                ]
                let moved = bench.queue.copy(
                    BufferSlice(first, byteOffset: 32, byteCount: 20),
                    to: BufferSlice(second, byteOffset: 64, byteCount: 20),
                    after: steps)
                let result = try Elements([100], .uint8, .values([7])).tensor()
                try bench.queue.copy(BufferSlice(second), to: BufferSlice(result), after: [moved]).wait()
                let expected = bytes.map { (64..<84).contains($0) ? $0 - 32 : 0 }
                try require(Elements(result).integers == expected, "other bytes than those asked for were copied")
            },
            QueueCase(name: "copy.host.to.host") { bench throws(EngineError) in
                let (source, target) = (try bench.host(3), try bench.host(0))
                try bench.queue.copy(BufferSlice(source), to: BufferSlice(target), after: []).wait()
                try require(Elements(target).bits == Elements(source).bits, "the bytes differ")
            },
            QueueCase(name: "copy.as.much.as.fits") { bench throws(EngineError) in
                // The destination says how much.
                let buffer = try bench.buffer(64)
                let source = try Elements([64], .uint8, (0..<64).map { $0 }).tensor()
                let target = try Elements([16], .uint8, .values([0])).tensor()
                let up = bench.queue.copy(BufferSlice(source), to: BufferSlice(buffer), after: [])
                try bench.queue.copy(BufferSlice(buffer), to: BufferSlice(target), after: [up]).wait()
                try require(Elements(target).integers == Array(0..<16), "the bytes differ")
            },
            QueueCase(name: "copy.too.little") { bench throws(EngineError) in
                let buffer = try bench.buffer(64)
                let source = try Elements([16], .uint8, .values([1])).tensor()
                try bench.expectFailure(bench.queue.copy(BufferSlice(source), to: BufferSlice(buffer), after: []))
                // The queue goes on.
                let (other, ready) = try bench.filled(4)
                try bench.expect(other, 4, after: [ready])
            },
        ]

    private static let sizes: [QueueCase] = [0, 1, 3, 4, 255, 4096, 3 << 20].map { byteCount in
        QueueCase(name: "copy.\(byteCount).bytes") { bench throws(EngineError) in
            let (first, second) = (try bench.buffer(byteCount), try bench.buffer(byteCount))
            try require(first.byteCount == byteCount, "the buffer has \(first.byteCount) bytes")
            let source = try HostTensor(allocating: TensorType([byteCount], .uint8))
            let target = try HostTensor(allocating: TensorType([byteCount], .uint8))
            for index in 0..<byteCount {
                source.pointer.storeBytes(
                    of: UInt8(truncatingIfNeeded: index &* 37), toByteOffset: index, as: UInt8.self)
            }
            target.fill(0)
            let up = bench.queue.copy(BufferSlice(source), to: BufferSlice(first), after: [])
            let across = bench.queue.copy(BufferSlice(first), to: BufferSlice(second), after: [up])
            try bench.queue.copy(BufferSlice(second), to: BufferSlice(target), after: [across]).wait()
            let pair = [source, target].map { UnsafeRawBufferPointer(start: $0.pointer, count: byteCount) }
            try require(pair[0].elementsEqual(pair[1]), "the bytes differ")
        }
    }

    static let bufferCases: [QueueCase] = [
        QueueCase(name: "buffer.negative") { bench throws(EngineError) in
            do throws(EngineError) { _ = try bench.delegate.makeBuffer(byteCount: -1) } catch { return }
            throw wrong("a buffer of −1 bytes was made")
        },
        QueueCase(name: "buffer.beyond.memory") { bench throws(EngineError) in
            do throws(EngineError) { _ = try bench.delegate.makeBuffer(byteCount: .max) } catch { return }
            throw wrong("a buffer of all addresses was made")
        },
        QueueCase(name: "buffer.many") { bench throws(EngineError) in
            var buffers: [(any Buffer, Fence)] = []
            for number in 0..<100 { buffers.append(try bench.filled(Float(number))) }
            for (number, (buffer, ready)) in buffers.enumerated() {
                try bench.expect(buffer, Float(number), after: [ready])
            }
        },
        QueueCase(name: "buffer.in.use.is.kept") { bench throws(EngineError) in
            // Nothing but the queued work holds the buffers.
            let gate = Fence()
            let sum = try bench.buffer()
            var last = Fence.reached()
            do {
                let (x, y) = (try bench.filled(1), try bench.filled(2))
                last = bench.add(x.buffer, y.buffer, into: sum, after: [x.ready, y.ready, gate])
            }
            gate.signal()
            try bench.expect(sum, 3, after: [last])
        },
    ]
}
