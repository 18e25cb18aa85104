import EngineDelegation
import EngineGraph

/// A host that says which kinds of op it has kernels for, and computes nothing.
struct ClaimingHost: HostEvaluator {
    /// Nil: all.
    var kinds: Set<OpKind>?

    func hasKernel(for kind: OpKind) -> Bool { kinds?.contains(kind) ?? true }

    func evaluate(_ op: Op, operands: [HostTensor], results: [TensorType]) throws(EngineError) -> [HostTensor] {
        throw .unsupportedOp(op: op.kind.rawValue, reason: "this host computes nothing")
    }

    func evaluateDynamic(_ op: Op, operands: [HostTensor], declared: [ValueType]) throws(EngineError) -> [HostTensor] {
        throw .unsupportedOp(op: op.kind.rawValue, reason: "this host computes nothing")
    }
}

extension EngineError {
    var isUnsupported: Bool { if case .unsupportedOp = self { true } else { false } }
    var isInvalidGraph: Bool { if case .invalidGraph = self { true } else { false } }
    var isOutOfMemory: Bool { if case .outOfMemory = self { true } else { false } }
}
