import Dispatch
import EngineDelegation
import EngineGraph

/// Runs parts and copies one after the other, off the thread that submits them.
final class CPUQueue: CommandQueue {
    private let worker = DispatchQueue(label: "coreai-engine.cpu", qos: .userInitiated)
    /// The fence of what was submitted last: the next work waits for it, so that waiting work keeps its place.
    private let last = Locked(Fence.reached())

    func run(_ executable: any Executable, on slices: PartSlices, after fences: [Fence]) -> Fence {
        submit(after: fences) { () throws(EngineError) in
            guard let executable = executable as? any HostExecutable else {
                throw .deviceFailure(unit: "cpu", reason: "the executable is another unit's")
            }
            try executable.run(
                ExecutionArguments(
                    inputs: try slices.inputs.map { (slice) throws(EngineError) in
                        UnsafeRawPointer(try address(slice))
                    }, states: try slices.states.map(address), outputs: try slices.outputs.map(address)))
        }
    }

    func copy(_ source: BufferSlice, to destination: BufferSlice, after fences: [Fence]) -> Fence {
        submit(after: fences) { () throws(EngineError) in
            guard source.byteCount >= destination.byteCount else {
                throw .invalidValue(
                    op: "copy", reason: "\(source.byteCount) bytes to a place for \(destination.byteCount)")
            }
            try address(destination).copyMemory(from: address(source), byteCount: destination.byteCount)
        }
    }

    /// A failed fence fails the work that waits for it; the work before it in the queue does not.
    private func submit(
        after fences: [Fence], _ body: @escaping @Sendable () throws(EngineError) -> Void
    ) -> Fence {
        let done = Fence()
        let previous = last.withLock { last in
            defer { last = done }
            return last
        }
        let required = Fence.all(fences)
        previous.whenReached { [worker] _ in
            required.whenReached { outcome in
                guard case .success = outcome else { return done.signal(outcome) }
                worker.async {
                    do throws(EngineError) {
                        try body()
                        done.signal()
                    } catch {
                        done.signal(.failure(error))
                    }
                }
            }
        }
        return done
    }
}

private func address(_ slice: BufferSlice) throws(EngineError) -> UnsafeMutableRawPointer {
    guard let pointer = slice.hostPointer else {
        throw .deviceFailure(unit: "cpu", reason: "a buffer of another device can't be reached from the host")
    }
    return pointer
}
