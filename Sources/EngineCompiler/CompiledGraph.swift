package import EngineDelegation
package import EngineGraph

/// A function after the passes: no calls, no tokens, no constant ops; what is constant stands in a table.
package struct CompiledGraph: Sendable {
    package var graph: Graph
    /// The values that no run changes.
    package var constants: [Value: HostTensor]

    /// Where in the source model ops come from: `Op.location` is an index into it.
    package var locations: [SourceLocation]

    package init(graph: Graph, constants: [Value: HostTensor] = [:], locations: [SourceLocation] = []) {
        self.graph = graph
        self.constants = constants
        self.locations = locations
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
