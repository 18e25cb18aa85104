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

    /// What runs, in order; empty where everything was known when the segment was bound.
    package let parts: [PlacedPart]
    /// What the whole segment reads, its states and its outputs.
    package let inputs: [Value]
    package let states: [Value]
    package let outputs: [(value: Value, type: TensorType)]
    /// Where each pattern went, and why.
    package let placements: [PatternPlacement]
    /// What `placements` are of: the segment after fusion, and the values of the function that its values are.
    package let part: Subgraph
    package let globals: [Value]
    /// The whole segment, for when a unit fails: the CPU runs it all.
    let whole: PlacedSubgraph?
    private let fallback = Locked<PlacedPart?>(nil)
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
        parts: [PlacedPart], placements: [PatternPlacement], part: Subgraph, globals: [Value], whole: PlacedSubgraph?,
        inputs: [Value], states: [Value],
        outputs: [(value: Value, type: TensorType)], known: [(value: Value, tensor: HostTensor)], end: End,
        nextOp: Int, state: BindState, planLimit: Int
    ) {
        self.parts = parts
        self.placements = placements
        self.part = part
        self.globals = globals
        self.whole = whole
        self.inputs = inputs
        self.states = states
        self.outputs = outputs
        self.known = known
        self.end = end
        self.following = PlanCache(limit: planLimit)
        self.nextOp = nextOp
        self.state = state
        self.planLimit = planLimit
    }

    /// The whole segment as one part of the CPU's, loaded at the first need.
    package func hostPart(_ host: any Delegate) throws(EngineError) -> PlacedPart? {
        guard let whole else { return nil }
        if let made = fallback.withLock({ $0 }) { return made }
        let made = try PlacedPart(whole, unit: host.id, on: host)
        fallback.withLock { $0 = made }
        return made
    }
}

/// A part that is loaded on its unit, with the names that its values have in the function.
package struct PlacedPart: Sendable {
    package let unit: DelegateID
    package let executable: any Executable
    package let inputs: [Value]
    package let states: [Value]
    package let outputs: [(value: Value, type: TensorType)]
    /// The index in the segment's placements of each op.
    package let ops: [Int]
    /// The bytes of each input and state.
    package let inputByteCounts: [Int]
    package let stateByteCounts: [Int]

    init(_ placed: PlacedSubgraph, unit: DelegateID, on delegate: any Delegate) throws(EngineError) {
        self.unit = unit
        executable = try recording(.specialize, "ready \(placed.part.ops.count) patterns for \(unit)") {
            () throws(EngineError) in try delegate.load(delegate.compile(placed.part))
        }
        inputs = placed.inputs
        states = placed.states
        outputs = zip(placed.outputs, placed.part.outputs).map { ($0, placed.part[type: $1]) }
        ops = placed.ops
        inputByteCounts = placed.part.inputs.map { placed.part[type: $0].byteCount ?? 0 }
        stateByteCounts = placed.part.states.map { placed.part[type: $0].byteCount ?? 0 }
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
