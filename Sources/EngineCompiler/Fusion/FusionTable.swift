import EngineDelegation
import EngineGraph

/// A pattern of ops that one op stands for.
package struct FusionPattern: Sendable {
    /// The name that reports give. What a product takes in stands behind its name: `matmul+bias+gelu`.
    package let name: String
    /// What it matches, in a line.
    package let summary: String
    /// The kinds of the last op of the pattern.
    let roots: Set<OpKind>
    /// What replaces the pattern's last op; nil where the pattern is not there.
    let fuse: @Sendable (Op, PatternMatcher) -> Rewrite?

    init(
        _ name: String, _ summary: String, roots: Set<OpKind>,
        fuse: @escaping @Sendable (Op, PatternMatcher) -> Rewrite?
    ) {
        self.name = name
        self.summary = summary
        self.roots = roots
        self.fuse = fuse
    }
}

/// What a pattern puts in the place of its ops. What nobody reads any more goes by itself.
struct Rewrite {
    /// In the place of the pattern's last op, with its results.
    var root: Op
    /// In the place of an op before it.
    var earlier: (slot: Int, op: Op)?

    init(_ root: Op, earlier: (slot: Int, op: Op)? = nil) {
        self.root = root
        self.earlier = earlier
    }

    var ops: [Op] { [root] + (earlier.map { [$0.op] } ?? []) }
}

/// Every pattern, in the order in which a part is searched for them: each phase goes over all ops.
///
/// What is not here has no kernel that would do it better than its ops one by one:
/// - gather + add, convolution + pool, log-softmax, a scale before softmax: the second op reads what the first has
///   just left in the cache, and either occurs a few times in a model.
/// - reductions with their producers and consumers: kernels reduce arrays, and the elementwise machine writes arrays.
///   The reductions that matter are those of softmax, norms and attention, which are here.
/// - dequantize + matmul: weights that are constant are unpacked once, when the function is compiled.
/// - windows of attention: a mask says it, and the kernel takes masks.
/// - the three products of an attention's input as one: each of them alone keeps the cores as busy as one three times as
///   wide, and its parts would have to be taken out of the joint result.
package enum FusionTable {
    static let phases: [[FusionPattern]] = [
        ActivationPatterns.all + NormPatterns.all + AttentionPatterns.all + RotaryPatterns.all,
        EpiloguePatterns.all,
        [NormPatterns.residual],
        [ElementwiseFusion.pattern],
    ]

    package static var patterns: [FusionPattern] { phases.flatMap { $0 } }
}
