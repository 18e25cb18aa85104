package import EngineDelegation
import EngineGraph

/// Joins ops of a part into patterns that one kernel computes: norms, attention, products and convolutions with what
/// follows them, chains of elementwise ops.
package enum Fusion {
    private static let patterns = NormPatterns.all + AttentionPatterns.all

    package static func run(_ part: Subgraph, host: any HostEvaluator) -> Subgraph {
        var fused = part
        applyPatterns(&fused, host: host)
        var epilogues = EpilogueFusion(fused, host: host)
        fused = epilogues.run()
        var chains = ElementwiseFusion(fused)
        return chains.run()
    }

    private static func applyPatterns(_ part: inout Subgraph, host: any HostEvaluator) {
        let matcher = PatternMatcher(part)
        var isChanged = false
        for (index, op) in part.ops.enumerated() {
            for pattern in patterns where pattern.roots.contains(op.kind) {
                guard var fused = pattern.fuse(op, matcher), host.hasKernel(for: fused.kind) else { continue }
                fused.fused = matcher.origins(of: op, from: Set(fused.operands))
                part.ops[index] = fused
                isChanged = true
                break
            }
        }
        if isChanged { removeDead(&part) }
    }

    /// Drops the ops that a pattern has made unnecessary.
    static func removeDead(_ part: inout Subgraph) {
        var isLive = part.types.map { _ in false }
        for output in part.outputs { isLive[output.index] = true }
        var kept: [Op] = []
        for op in part.ops.reversed() {
            guard op.hasEffect || op.results.contains(where: { isLive[$0.index] }) else { continue }
            for operand in op.operands { isLive[operand.index] = true }
            kept.append(op)
        }
        part.ops = kept.reversed()
        part.constants = part.constants.filter { isLive[$0.key.index] }
    }
}
