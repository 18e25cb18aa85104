import EngineDelegation
import EngineGraph

/// Memory of the fake device, over memory of the delegate that computes.
final class TestBuffer: Buffer {
    let memory: any Buffer
    let device: TestDevice

    /// What new memory holds: reading it before it is written shows.
    static let junk: UInt8 = 0xA5

    init(_ memory: any Buffer, on device: TestDevice) {
        self.memory = memory
        self.device = device
        if let pointer = memory.hostPointer, memory.byteCount > 0 {
            UnsafeMutableRawBufferPointer(start: pointer, count: memory.byteCount)
                .initializeMemory(as: UInt8.self, repeating: Self.junk)
        }
    }

    deinit { device.free(memory.byteCount) }

    var byteCount: Int { memory.byteCount }

    var hostPointer: UnsafeMutableRawPointer? {
        switch device.options.memory {
        case .private: nil
        case .shared: memory.hostPointer
        }
    }
}

/// A part as the delegate that computes loaded it.
struct TestExecutable: Executable {
    let inner: any Executable
    let part: Subgraph
    let device: TestDevice

    var workspaceByteCount: Int { inner.workspaceByteCount }
}

extension TestDevice {
    func failure(_ reason: String) -> EngineError { .deviceFailure(unit: options.id.name, reason: reason) }

    func owns(_ slice: BufferSlice) -> Bool { (slice.buffer as? TestBuffer)?.device === self }

    /// The slice in the memory of the delegate that computes. `isRun`: for a run, which takes the device's memory only
    /// unless memory is shared.
    func translate(_ slice: BufferSlice, isRun: Bool) throws(EngineError) -> BufferSlice {
        let (end, overflow) = slice.byteOffset.addingReportingOverflow(slice.byteCount)
        guard slice.byteOffset >= 0, slice.byteCount >= 0, !overflow, end <= slice.buffer.byteCount else {
            throw .invalidValue(
                op: isRun ? "run" : "copy",
                reason: "\(slice.byteCount) bytes at \(slice.byteOffset) of a buffer of \(slice.buffer.byteCount)")
        }
        if owns(slice), let buffer = slice.buffer as? TestBuffer {
            return BufferSlice(buffer.memory, byteOffset: slice.byteOffset, byteCount: slice.byteCount)
        }
        if isRun, case .private = options.memory {
            throw failure("a run takes the device's buffers only: copy to one first")
        }
        guard slice.buffer.hostPointer != nil else {
            throw failure("another device's buffer can't be reached: copy to the host first")
        }
        return slice
    }

    /// The slices of a run, of which there must be as many, and as large, as the part says.
    func translate(_ slices: PartSlices, for part: Subgraph) throws(EngineError) -> PartSlices {
        PartSlices(
            inputs: try translate(slices.inputs, part.inputs, "input", in: part),
            states: try translate(slices.states, part.states, "state", in: part),
            outputs: try translate(slices.outputs, part.outputs, "output", in: part))
    }

    private func translate(
        _ slices: [BufferSlice], _ values: [Value], _ what: String, in part: Subgraph
    ) throws(EngineError) -> [BufferSlice] {
        guard slices.count == values.count else {
            throw .invalidValue(
                op: part.name, reason: "\(slices.count) \(what)s for a part of \(values.count)")
        }
        var result: [BufferSlice] = []
        for (index, (slice, value)) in zip(slices, values).enumerated() {
            let type = part[type: value]
            guard type.byteCount == slice.byteCount else {
                throw .invalidValue(
                    op: part.name, reason: "\(what) \(index) of type \(type) lies in \(slice.byteCount) bytes")
            }
            result.append(try translate(slice, isRun: true))
        }
        return result
    }
}
