package import EngineDelegation
package import EngineGraph

/// A function after the passes: no calls, no tokens, no constant ops; what is constant stands in a table.
package struct CompiledGraph: Sendable {
    package var graph: Graph
    /// The values that no run changes.
    package var constants: [Value: HostTensor]

    package init(graph: Graph, constants: [Value: HostTensor] = [:]) {
        self.graph = graph
        self.constants = constants
    }
}

extension Op {
    /// Every value that this op reads, those that its regions capture with it.
    package var reads: [Value] {
        guard !regions.isEmpty else { return operands }
        var reads = operands
        for region in regions {
            for op in region.ops { reads += op.reads }
            reads += region.results
        }
        return reads
    }
}
