package import EngineDelegation
import EngineGraph

/// Runs every case, or those given, on `delegate`. What cases don't know the results of, `reference` computes.
package func run(
    _ cases: [OpCase] = OpCase.all, delegate: any Delegate, reference: any Delegate
) -> [ConformanceResult] {
    let runner = CaseRunner(delegate: delegate, reference: reference)
    return cases.map { ConformanceResult(name: $0.name, outcome: runner.run($0)) }
}

/// Runs cases on one delegate, over buffers of its own.
struct CaseRunner {
    let delegate: any Delegate
    let reference: any Delegate

    func run(_ row: OpCase) -> ConformanceResult.Outcome {
        do throws(EngineError) {
            let built = try row.build()
            if let reason = delegate.refusal(of: built.part) { return .declined(reason: reason) }
            let results = try DeviceRun(built, on: delegate).results()
            let expected: [Elements]
            if let known = built.expected {
                expected = known
            } else if let reason = reference.refusal(of: built.part) {
                return .failed(reason: "the reference declines it: \(reason)")
            } else {
                expected = try DeviceRun(built, on: reference).results()
            }
            guard results.count == expected.count else {
                return .failed(reason: "\(results.count) results, expected \(expected.count)")
            }
            for (index, (result, wanted)) in zip(results, expected).enumerated() {
                let tolerance = Tolerance(result.type.elementType, row.precision, onCPU: delegate.id == .cpu)
                if let reason = result.difference(from: wanted, tolerance, row.precision) {
                    return .failed(reason: "result \(index): \(reason)")
                }
            }
            return .passed
        } catch {
            return .failed(reason: error.description)
        }
    }
}

extension Delegate {
    /// Why the unit does not run the part; nil where it runs all of it.
    func refusal(of part: Subgraph) -> String? {
        for op in part.ops {
            if op.kind == .loadState || op.kind == .storeState { continue }
            if case .declined(let reason) = support(for: op, in: part) { return reason }
        }
        return nil
    }
}

/// One run of a case on a delegate: its slices lie between bytes that no run may touch.
struct DeviceRun {
    private static let guardByteCount = 256
    private static let guardByte: UInt8 = 0x5C

    let executable: any Executable
    let queue: any CommandQueue
    let slices: PartSlices
    private let part: Subgraph
    private let uploads: [Fence]

    init(_ built: BuiltCase, on delegate: any Delegate) throws(EngineError) {
        part = built.part
        let queue = try delegate.makeQueue()
        self.queue = queue
        executable = try delegate.load(try delegate.compile(built.part))
        var fences: [Fence] = []
        var inputs: [BufferSlice] = []
        var states: [BufferSlice] = []
        var outputs: [BufferSlice] = []
        for elements in built.inputs {
            inputs.append(try Self.place(elements.tensor(), on: delegate, queue, &fences))
        }
        for elements in built.states {
            states.append(try Self.place(elements.tensor(), on: delegate, queue, &fences))
        }
        for output in built.part.outputs {
            let junk = try HostTensor(allocating: built.part[type: output])
            junk.fill(0xA5)
            outputs.append(try Self.place(junk, on: delegate, queue, &fences))
        }
        slices = PartSlices(inputs: inputs, states: states, outputs: outputs)
        uploads = fences
    }

    private static func place(
        _ tensor: HostTensor, on delegate: any Delegate, _ queue: any CommandQueue, _ fences: inout [Fence]
    ) throws(EngineError) -> BufferSlice {
        let byteCount = tensor.byteCount + 2 * guardByteCount
        let buffer = try delegate.makeBuffer(byteCount: byteCount)
        let whole = try HostTensor(allocating: TensorType([byteCount], .uint8))
        whole.fill(guardByte)
        (whole.pointer + guardByteCount).copyMemory(from: tensor.pointer, byteCount: tensor.byteCount)
        fences.append(queue.copy(BufferSlice(whole), to: BufferSlice(buffer), after: []))
        return BufferSlice(buffer, byteOffset: guardByteCount, byteCount: tensor.byteCount)
    }

    func submit() -> Fence { queue.run(executable, on: slices, after: uploads) }

    /// Runs once and reads what came out: outputs, then states.
    func results() throws(EngineError) -> [Elements] {
        let done = submit()
        var results: [Elements] = []
        for (slice, value) in zip(slices.outputs + slices.states, part.outputs + part.states) {
            results.append(try read(slice, part[type: value], after: done))
        }
        return results
    }

    private func read(_ slice: BufferSlice, _ type: TensorType, after fence: Fence) throws(EngineError) -> Elements {
        let whole = try HostTensor(allocating: TensorType([slice.buffer.byteCount], .uint8))
        try queue.copy(BufferSlice(slice.buffer), to: BufferSlice(whole), after: [fence]).wait()
        let bytes = UnsafeRawBufferPointer(start: whole.pointer, count: whole.byteCount)
        let isIntact =
            bytes.prefix(slice.byteOffset).allSatisfy { $0 == Self.guardByte }
            && bytes.dropFirst(slice.byteOffset + slice.byteCount).allSatisfy { $0 == Self.guardByte }
        guard isIntact else { throw .invalidValue(op: part.name, reason: "memory around a result was written") }
        return Elements(HostTensor(type: type, buffer: whole.buffer, byteOffset: whole.byteOffset + slice.byteOffset))
    }
}

extension HostTensor {
    func fill(_ byte: UInt8) {
        UnsafeMutableRawBufferPointer(start: pointer, count: byteCount).initializeMemory(
            as: UInt8.self, repeating: byte)
    }
}
