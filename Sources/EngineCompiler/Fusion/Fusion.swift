package import EngineDelegation
import EngineGraph

/// Joins ops of a part into patterns that one kernel computes: norms, attention, products and convolutions with what
/// follows them, chains of elementwise ops.
package enum Fusion {
    package static func run(_ part: Subgraph, host: any HostEvaluator) -> Subgraph {
        var matcher = PatternMatcher(part)
        for phase in FusionTable.phases {
            var rows: [OpKind: [FusionPattern]] = [:]
            for pattern in phase { for kind in pattern.roots { rows[kind, default: []].append(pattern) } }
            for slot in matcher.slots { apply(rows, at: slot, &matcher, host) }
        }
        return matcher.finished()
    }

    /// Applies patterns to the op in a slot until none fits: what a pattern makes may be the root of the next.
    private static func apply(
        _ rows: [OpKind: [FusionPattern]], at slot: Int, _ matcher: inout PatternMatcher, _ host: any HostEvaluator
    ) {
        search: while let op = matcher[slot] {
            for pattern in rows[op.kind] ?? [] {
                guard var rewrite = pattern.fuse(op, matcher), rewrite.ops.allSatisfy({ host.runs($0) }) else {
                    continue
                }
                if rewrite.earlier == nil {
                    rewrite.root.pattern = rewrite.root.pattern ?? pattern.name
                    rewrite.root.fused = matcher.origins(of: op, from: Set(rewrite.root.operands))
                }
                matcher.apply(rewrite, at: slot)
                continue search
            }
            return
        }
    }
}

extension HostEvaluator {
    /// Whether the host has a kernel for what a pattern made.
    fileprivate func runs(_ op: Op) -> Bool {
        !op.kind.info.category.contains(.compilerMade) || hasKernel(for: op.kind)
    }
}
