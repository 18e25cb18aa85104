import EngineGraph

/// Memory that a unit's executables read and write.
package protocol Buffer: AnyObject, Sendable {
    var byteCount: Int { get }
    /// Where the host sees the memory; nil for memory that only the device sees.
    var hostPointer: UnsafeMutableRawPointer? { get }
}

extension HostBuffer: Buffer {
    package var hostPointer: UnsafeMutableRawPointer? { pointer }
}

/// A stretch of a buffer.
package struct BufferSlice: Sendable {
    package let buffer: any Buffer
    package let byteOffset: Int
    package let byteCount: Int

    package init(_ buffer: any Buffer, byteOffset: Int = 0, byteCount: Int? = nil) {
        self.buffer = buffer
        self.byteOffset = byteOffset
        self.byteCount = byteCount ?? buffer.byteCount - byteOffset
    }

    package init(_ tensor: HostTensor) {
        self.init(tensor.buffer, byteOffset: tensor.byteOffset, byteCount: tensor.byteCount)
    }

    /// Where the host sees the slice.
    package var hostPointer: UnsafeMutableRawPointer? { buffer.hostPointer.map { $0 + byteOffset } }
}

/// Work in order on one device. Submitting never waits: `after` and the result are fences.
package protocol CommandQueue: AnyObject, Sendable {
    /// Runs a loaded part on slices in the order of its inputs, states and outputs, once all of `after` are reached.
    func run(_ executable: any Executable, on slices: PartSlices, after fences: [Fence]) -> Fence

    /// Copies as many bytes as `destination` has, once all of `after` are reached. Either side may be the host's memory.
    func copy(_ source: BufferSlice, to destination: BufferSlice, after fences: [Fence]) -> Fence
}

/// The memory of one run of a part.
package struct PartSlices: Sendable {
    package var inputs: [BufferSlice]
    package var states: [BufferSlice]
    package var outputs: [BufferSlice]

    package init(inputs: [BufferSlice], states: [BufferSlice], outputs: [BufferSlice]) {
        self.inputs = inputs
        self.states = states
        self.outputs = outputs
    }
}
