package import EngineDelegation
package import EngineGraph

/// A fake unit for tests: it takes the ops that it is told to, keeps buffers of its own, delays, fails and runs out of
/// memory on command, and tells what it did. Another delegate computes for it.
package final class TestDelegate: Delegate {
    private let inner: any Delegate
    private let device: TestDevice
    private let queueCount = Locked(0)

    package init(computing inner: any Delegate, _ options: TestOptions = TestOptions()) {
        self.inner = inner
        self.device = TestDevice(options)
    }

    package var id: DelegateID { device.options.id }
    package var profile: UnitProfile { device.options.profile }

    package func support(for pattern: Op, in part: Subgraph) -> Support {
        let isState = pattern.kind == .loadState || pattern.kind == .storeState
        if let ops = device.options.ops, !isState, !ops.contains(pattern.kind) {
            return .declined(reason: "\(id) does not take \(pattern.kind.name)")
        }
        if let elements = device.options.elements {
            for value in pattern.operands + pattern.results where !elements.contains(part[type: value].elementType) {
                return .declined(reason: "\(id) does not take \(part[type: value].elementType.dialectName)")
            }
        }
        if let reason = device.options.declines?(pattern, part) { return .declined(reason: reason) }
        return isState ? .supported : inner.support(for: pattern, in: part)
    }

    /// What compiled code starts with: a part of another unit is told apart.
    private var mark: [UInt8] { Array("test:\(id.name)\n".utf8) }

    package func compile(_ part: Subgraph) throws(EngineError) -> CompiledPart {
        for op in part.ops {
            if case .declined(let reason) = support(for: op, in: part) {
                throw .unsupportedOp(op: op.kind.name, reason: reason)
            }
        }
        try device.perform(.compile, .compiled(part: part.name))
        return CompiledPart(part: part, code: mark + (try inner.compile(part).code))
    }

    package func load(_ part: CompiledPart) throws(EngineError) -> any Executable {
        guard part.code.starts(with: mark) else {
            throw .deviceFailure(unit: id.name, reason: "the part was compiled for another unit")
        }
        try device.perform(.load, .loaded(part: part.part.name))
        let code = Array(part.code.dropFirst(mark.count))
        return TestExecutable(
            inner: try inner.load(CompiledPart(part: part.part, code: code)), part: part.part, device: device)
    }

    package func makeBuffer(byteCount: Int) throws(EngineError) -> any Buffer {
        try device.reserve(byteCount)
        do throws(EngineError) {
            return TestBuffer(try inner.makeBuffer(byteCount: byteCount), on: device)
        } catch {
            device.free(byteCount, quietly: true)
            throw error
        }
    }

    package func makeQueue() throws(EngineError) -> any CommandQueue {
        let number = queueCount.withLock { count -> Int in
            count += 1
            return count
        }
        try device.perform(.makeQueue, .madeQueue(number))
        let queue = TestQueue(try inner.makeQueue(), number: number, on: device)
        device.register(queue)
        return queue
    }
}

// MARK: For the test

extension TestDelegate {
    package var counters: TestCounters { device.counters }

    /// What happened since the start, or since `forget`.
    package var events: [TestEvent] { device.events }

    /// Empties the log and the counters, but for memory that is in use.
    package func forget() { device.forget() }

    /// From now on, work that is submitted waits; what runs goes on.
    package func hold() { device.hold() }

    /// Lets work that `hold` stopped go on.
    package func resume() { device.resume() }

    /// The device is gone: every fence that is not reached yet fails, and all that is asked of it throws.
    package func lose(_ reason: String = "the device was lost") { device.lose(reason) }

    /// The device is back.
    package func recover() { device.recover() }

    /// The next action of this kind fails with `error`.
    package func failNext(_ action: TestOptions.Action, with error: EngineError) {
        device.failNext(action, with: error)
    }

    package func inject(_ failure: TestOptions.Failure) { device.inject(failure) }
}
