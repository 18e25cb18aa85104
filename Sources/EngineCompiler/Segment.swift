package import EngineDelegation
package import EngineGraph

/// A stretch of a region that runs without the host: shapes bound, kernels ready. Where it ends, the host decides how
/// to go on.
package final class Segment: Sendable {
    /// How a segment ends.
    package enum End: Sendable {
        /// The region's results are there.
        case finished
        /// Shapes further on depend on the contents of these values: read them, then bind on.
        case contents([Value])
        /// An `if` or a `while`: `bodies` are its regions, bound to what they capture.
        case control(Op, bodies: [RegionBinding])
        /// An op whose result's shape only computing it tells.
        case dynamic(Op)
    }

    package let executable: (any Executable)?
    /// What the executable reads, states and outputs, in its order.
    package let inputs: [Value]
    package let states: [Value]
    package let outputs: [(value: Value, type: TensorType)]
    /// Values that shape arithmetic made, which a later segment or the result needs.
    package let known: [(value: Value, tensor: HostTensor)]
    package let end: End
    /// The segments that follow, by what the host found out.
    package let following: PlanCache<Segment>
    /// Where the region goes on, and what is known there.
    let nextOp: Int
    let state: BindState
    /// How many plans each cache below this segment keeps.
    let planLimit: Int

    init(
        executable: (any Executable)?, inputs: [Value], states: [Value], outputs: [(value: Value, type: TensorType)],
        known: [(value: Value, tensor: HostTensor)], end: End, nextOp: Int, state: BindState, planLimit: Int
    ) {
        self.executable = executable
        self.inputs = inputs
        self.states = states
        self.outputs = outputs
        self.known = known
        self.end = end
        self.following = PlanCache(limit: planLimit)
        self.planLimit = planLimit
        self.nextOp = nextOp
        self.state = state
    }
}

/// What is known of a graph's values at one place of it: static types, and the contents of small shape tensors.
struct BindState: Sendable {
    var types: [ValueType?]
    var known: [Value: HostTensor]

    init(valueCount: Int) {
        types = Array(repeating: nil, count: valueCount)
        known = [:]
    }
}
