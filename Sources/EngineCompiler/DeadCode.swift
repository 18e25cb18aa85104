package import EngineGraph

/// Removes ops whose results nobody reads.
package enum DeadCode {
    package static func run(_ compiled: inout CompiledGraph) {
        var isLive = [Bool](repeating: false, count: compiled.graph.types.count)
        for result in compiled.graph.body.results { isLive[result.index] = true }
        var kept: [Op] = []
        for op in compiled.graph.body.ops.reversed() {
            guard op.hasEffect || op.results.contains(where: { isLive[$0.index] }) else { continue }
            for value in op.reads { isLive[value.index] = true }
            kept.append(op)
        }
        compiled.graph.body.ops = kept.reversed()
        compiled.constants = compiled.constants.filter { isLive[$0.key.index] }
    }
}

extension Op {
    /// Whether the op changes something beside its results: a state, or what its regions do to one.
    package var hasEffect: Bool {
        kind == .storeState || regions.contains { region in region.ops.contains(where: \.hasEffect) }
    }
}
