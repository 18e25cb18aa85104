package import EngineDelegation
import EngineGraph

/// Something that queues, fences and buffers of every delegate do.
package struct QueueCase: Sendable {
    package let name: String
    /// Throws what is wrong.
    let body: @Sendable (QueueBench) throws(EngineError) -> Void

    package static let all: [QueueCase] = copyCases + orderCases + fenceCases + concurrencyCases + bufferCases

    /// Runs every case on `delegate`.
    package static func run(on delegate: any Delegate) -> [ConformanceResult] {
        all.map { $0.run(on: delegate) }
    }

    package func run(on delegate: any Delegate) -> ConformanceResult {
        do throws(EngineError) {
            let bench = try QueueBench(delegate)
            if let reason = bench.refusal { return ConformanceResult(name: name, outcome: .declined(reason: reason)) }
            try body(bench)
            return ConformanceResult(name: name, outcome: .passed)
        } catch {
            return ConformanceResult(name: name, outcome: .failed(reason: error.description))
        }
    }
}

/// A delegate with a loaded part that adds two vectors.
package struct QueueBench: Sendable {
    static let count = 1000

    let delegate: any Delegate
    let queue: any CommandQueue
    let executable: any Executable
    /// Why the delegate can't be tried; nil where it can.
    let refusal: String?

    private struct Nothing: Executable {
        let workspaceByteCount = 0
    }

    init(_ delegate: any Delegate) throws(EngineError) {
        self.delegate = delegate
        queue = try delegate.makeQueue()
        var builder = CaseBuilder()
        let zeros = Elements([Self.count], .float32, .values([0]))
        let operands = [builder.input(zeros), builder.input(zeros)]
        builder.output(builder.op(.add, operands, [Self.count], .float32))
        if let failure = builder.failure { throw failure }
        refusal = delegate.refusal(of: builder.part)
        executable =
            refusal == nil ? try delegate.load(try delegate.compile(builder.part)) : Nothing()
    }

    static var byteCount: Int { count * 4 }

    func buffer(_ byteCount: Int = QueueBench.byteCount) throws(EngineError) -> any Buffer {
        try delegate.makeBuffer(byteCount: byteCount)
    }

    func host(_ value: Float, count: Int = QueueBench.count) throws(EngineError) -> HostTensor {
        try Elements([count], .float32, .values([Double(value)])).tensor()
    }

    /// A buffer that holds `value` throughout when the fence is reached.
    func filled(_ value: Float) throws(EngineError) -> (buffer: any Buffer, ready: Fence) {
        let buffer = try buffer()
        return (buffer, queue.copy(BufferSlice(try host(value)), to: BufferSlice(buffer), after: []))
    }

    func add(
        _ x: any Buffer, _ y: any Buffer, into sum: any Buffer, after fences: [Fence] = [],
        on other: (any CommandQueue)? = nil
    ) -> Fence {
        (other ?? queue).run(
            executable,
            on: PartSlices(inputs: [BufferSlice(x), BufferSlice(y)], states: [], outputs: [BufferSlice(sum)]),
            after: fences)
    }

    /// The buffer's value, which must be the same throughout.
    func value(of buffer: any Buffer, after fences: [Fence] = []) throws(EngineError) -> Float {
        let result = try host(-1)
        try queue.copy(BufferSlice(buffer), to: BufferSlice(result), after: fences).wait()
        let values = Elements(result).reals
        guard values.allSatisfy({ $0 == values[0] }) else { throw wrong("the buffer holds different values") }
        return Float(values[0])
    }

    func expect(_ buffer: any Buffer, _ value: Float, after fences: [Fence] = []) throws(EngineError) {
        let found = try self.value(of: buffer, after: fences)
        guard found == value else { throw wrong("the buffer holds \(found), expected \(value)") }
    }

    /// The outcome must be a failure with this error.
    func expectFailure(_ fence: Fence, _ error: EngineError? = nil) throws(EngineError) {
        do throws(EngineError) {
            try fence.wait()
        } catch let found {
            guard error == nil || error == found else { throw wrong("failed with \(found)") }
            return
        }
        throw wrong("succeeded, expected a failure")
    }
}

func wrong(_ reason: String) -> EngineError { .invalidValue(op: "conformance", reason: reason) }

func require(_ condition: Bool, _ reason: String) throws(EngineError) {
    if !condition { throw wrong(reason) }
}
