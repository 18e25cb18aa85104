package import EngineGraph

/// The name of a compute unit's engine: `cpu`, `gpu`, `accelerator`.
package struct DelegateID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let name: String

    package init(_ name: String) { self.name = name }

    package static let cpu = DelegateID("cpu")
    package static let gpu = DelegateID("gpu")
    package static let accelerator = DelegateID("accelerator")

    package static func < (left: DelegateID, right: DelegateID) -> Bool { left.name < right.name }

    package var description: String { name }
}

/// Whether a unit runs a pattern; if not, why not.
package enum Support: Sendable, Equatable {
    case supported
    case declined(reason: String)
}

/// How fast a unit is, for the partitioner: measured once per device.
package struct UnitProfile: Sendable, Hashable, Codable {
    /// Floating-point operations a second in products and convolutions.
    package var operationsPerSecond: Double
    /// Bytes a second that an elementwise kernel moves.
    package var bytesPerSecond: Double
    /// Seconds that starting one kernel takes.
    package var launchSeconds: Double
    /// Bytes a second between the host's memory and the unit's; infinite where they are one.
    package var transferBytesPerSecond: Double
    /// Seconds that starting a transfer, and waiting for it, takes.
    package var transferSeconds: Double

    package init(
        operationsPerSecond: Double, bytesPerSecond: Double, launchSeconds: Double, transferBytesPerSecond: Double,
        transferSeconds: Double
    ) {
        self.operationsPerSecond = operationsPerSecond
        self.bytesPerSecond = bytesPerSecond
        self.launchSeconds = launchSeconds
        self.transferBytesPerSecond = transferBytesPerSecond
        self.transferSeconds = transferSeconds
    }
}

/// A part as a delegate compiled it: what a cache may keep and `load` needs.
package struct CompiledPart: Sendable {
    package let part: Subgraph
    /// The delegate's own bytes: kernels, say. Empty where compiling makes nothing.
    package let code: [UInt8]

    package init(part: Subgraph, code: [UInt8] = []) {
        self.part = part
        self.code = code
    }
}

/// An engine that runs parts of a graph on one kind of compute unit.
package protocol Delegate: Sendable {
    var id: DelegateID { get }

    /// How fast the unit is. The first call may measure.
    var profile: UnitProfile { get }

    /// Whether this unit runs `pattern`, an op of `part` that may stand for many; if not, why not.
    func support(for pattern: Op, in part: Subgraph) -> Support

    /// Compiles a part. Takes no memory of the device.
    func compile(_ part: Subgraph) throws(EngineError) -> CompiledPart

    /// Readies a compiled part to run on this device: kernels made, weights in the layout that they want.
    func load(_ part: CompiledPart) throws(EngineError) -> any Executable

    /// Memory of the device.
    func makeBuffer(byteCount: Int) throws(EngineError) -> any Buffer

    func makeQueue() throws(EngineError) -> any CommandQueue
}

/// A part that is ready to run. Runs at the same time are safe: each takes working memory of its own.
package protocol Executable: Sendable {
    /// The working memory that one run takes, in bytes.
    var workspaceByteCount: Int { get }
}

/// An executable of the processor, which can run on the thread that asks.
package protocol HostExecutable: Executable {
    /// Runs the part on contiguous tensors in host memory and returns when its outputs are written.
    ///
    /// The pointers are in the order of the part's `inputs`, `states` and `outputs`. An output may be written before
    /// all inputs are read: they must not share memory.
    func run(_ arguments: ExecutionArguments) throws(EngineError)

    /// As `run`, and tells when each op of the part, by its index, began and ended on the monotonic clock.
    func run(
        _ arguments: ExecutionArguments, timing: (_ op: Int, _ interval: ClockInterval) -> Void
    ) throws(EngineError)
}

extension HostExecutable {
    /// Tells nothing: for executables that don't know their ops apart.
    package func run(
        _ arguments: ExecutionArguments, timing: (_ op: Int, _ interval: ClockInterval) -> Void
    ) throws(EngineError) {
        try run(arguments)
    }
}

/// Where the tensors of one run are.
package struct ExecutionArguments {
    package let inputs: [UnsafeRawPointer]
    package let states: [UnsafeMutableRawPointer]
    package let outputs: [UnsafeMutableRawPointer]

    package init(
        inputs: [UnsafeRawPointer], states: [UnsafeMutableRawPointer] = [], outputs: [UnsafeMutableRawPointer]
    ) {
        self.inputs = inputs
        self.states = states
        self.outputs = outputs
    }
}

/// What the compiler asks of the host: to compute single ops while it folds constants and evaluates shapes.
package protocol HostEvaluator: Sendable {
    /// Computes `op` on `operands`; `results` are the static types of its results.
    func evaluate(_ op: Op, operands: [HostTensor], results: [TensorType]) throws(EngineError) -> [HostTensor]

    /// Computes an op whose results' shapes only its operands' contents tell (`non_zero`).
    /// `declared` are the results' types as far as the program says them.
    func evaluateDynamic(
        _ op: Op, operands: [HostTensor], declared: [ValueType]
    ) throws(EngineError) -> [HostTensor]

    /// Whether the host has a kernel for ops of this kind; one that it has none for runs by its decomposition.
    func hasKernel(for kind: OpKind) -> Bool
}
