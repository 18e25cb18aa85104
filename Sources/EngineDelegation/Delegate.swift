package import EngineGraph

/// The name of a compute unit's engine: `cpu`, `gpu`, `accelerator`.
package struct DelegateID: Hashable, Sendable, CustomStringConvertible {
    package let name: String

    package init(_ name: String) { self.name = name }

    package var description: String { name }
}

/// Whether a unit runs an op; if not, why not.
package enum Support: Sendable, Equatable {
    case supported
    case declined(reason: String)
}

/// An engine that runs parts of a graph on one kind of compute unit.
package protocol Delegate: Sendable {
    var id: DelegateID { get }

    /// Whether this unit runs `op` on operands of these types; if not, why not.
    func support(for op: Op, operands: [TensorType], results: [TensorType]) -> Support

    /// Readies a part to run on this device: kernels chosen, weights in the layout that they want.
    func load(_ part: Subgraph) throws(EngineError) -> any Executable
}

/// A part that is ready to run. Runs at the same time are safe: each takes working memory of its own.
package protocol Executable: Sendable {
    /// The working memory that one run takes, in bytes.
    var workspaceByteCount: Int { get }

    /// Runs the part on contiguous tensors in host memory and returns when its outputs are written.
    ///
    /// The pointers are in the order of the part's `inputs`, `states` and `outputs`. An output may be written before
    /// all inputs are read: they must not share memory.
    func run(_ arguments: ExecutionArguments) throws(EngineError)
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
