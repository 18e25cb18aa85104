import CPUDelegate
import EngineDelegation
import EngineGraph
import EngineTestSupport
import TestDelegate

/// A part that adds two vectors of four.
func additionPart() throws -> Subgraph {
    var builder = FunctionBuilder("addition")
    let (x, y) = (builder.input([4]), builder.input([4]))
    builder.output(builder.op(.add, x, y))
    return try builder.part()
}

/// A test delegate over the processor, with an addition that is loaded and buffers for it.
struct Bench {
    let unit: TestDelegate
    let queue: any CommandQueue
    let executable: any Executable
    let x: any Buffer
    let y: any Buffer
    let sum: any Buffer

    init(_ options: TestOptions = TestOptions()) throws {
        unit = TestDelegate(computing: CPUDelegate.shared, options)
        queue = try unit.makeQueue()
        executable = try unit.load(try unit.compile(try additionPart()))
        x = try unit.makeBuffer(byteCount: 16)
        y = try unit.makeBuffer(byteCount: 16)
        sum = try unit.makeBuffer(byteCount: 16)
    }

    func upload(_ values: [Float], to buffer: any Buffer, after fences: [Fence] = []) throws -> Fence {
        queue.copy(BufferSlice(try HostTensor(values, [values.count])), to: BufferSlice(buffer), after: fences)
    }

    func add(after fences: [Fence] = []) -> Fence {
        queue.run(
            executable,
            on: PartSlices(inputs: [BufferSlice(x), BufferSlice(y)], states: [], outputs: [BufferSlice(sum)]),
            after: fences)
    }

    func download(after fences: [Fence] = []) throws -> [Float] {
        let result = try HostTensor([0.0, 0, 0, 0], [4])
        try queue.copy(BufferSlice(sum), to: BufferSlice(result), after: fences).wait()
        return result.floats
    }

    /// Uploads, adds and downloads.
    func round() throws -> [Float] {
        let both = [try upload([1, 2, 3, 4], to: x), try upload([10, 20, 30, 40], to: y)]
        return try download(after: [add(after: both)])
    }
}
