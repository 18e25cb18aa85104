import CPUKernels
package import EngineDelegation
package import EngineGraph

/// Runs parts on the processor: OpenBLAS and the C kernels, over one pool of threads.
package final class CPUDelegate: Delegate, HostEvaluator {
    package let id = DelegateID("cpu")
    private let weights = WeightCache()

    package init() {}

    package var profile: UnitProfile { Self.measuredProfile }

    package func support(for pattern: Op, in part: Subgraph) -> Support {
        do throws(EngineError) {
            _ = try KernelTable.kernel(for: KernelRequest(pattern, in: part, weights: weights))
            return .supported
        } catch {
            return .declined(reason: error.description)
        }
    }

    package func compile(_ part: Subgraph) throws(EngineError) -> CompiledPart { CompiledPart(part: part) }

    package func load(_ part: CompiledPart) throws(EngineError) -> any Executable {
        try CPUExecutable(part.part, weights: weights)
    }

    /// Readies a part without keeping what was compiled.
    package func load(_ part: Subgraph) throws(EngineError) -> any HostExecutable {
        try CPUExecutable(part, weights: weights)
    }

    package func makeBuffer(byteCount: Int) throws(EngineError) -> any Buffer { try HostBuffer(byteCount: byteCount) }

    package func makeQueue() throws(EngineError) -> any CommandQueue { CPUQueue() }

    package func hasKernel(for kind: OpKind) -> Bool { KernelTable.rows[kind] != nil }

    package func evaluate(
        _ op: Op, operands: [HostTensor], results: [TensorType]
    ) throws(EngineError) -> [HostTensor] {
        let request = KernelRequest(
            op: op, operands: operands.map(\.type), results: results, constants: operands, weights: weights)
        let kernel = try KernelTable.kernel(for: request)
        var outputs: [HostTensor] = []
        for type in results { outputs.append(try HostTensor(allocating: type)) }
        let workspace = try HostBuffer(uninitializedByteCount: kernel.workspaceByteCount)
        let pointers = operands.map(\.pointer) + outputs.map(\.pointer) + [workspace.pointer]
        try pointers.withUnsafeBufferPointerTyped { (buffer) throws(EngineError) in
            guard let base = buffer.baseAddress else { return }
            try kernel.body(
                KernelArguments(pointers: base, operandCount: operands.count, resultCount: outputs.count))
        }
        return outputs
    }
}

extension CPUDelegate {
    package func evaluateDynamic(
        _ op: Op, operands: [HostTensor], declared: [ValueType]
    ) throws(EngineError) -> [HostTensor] {
        guard op.kind == .nonZero, operands.count == 1, case .tensor(let type)? = declared.first else {
            throw .unsupportedOp(op: op.kind.rawValue, reason: "its result's shape can't be computed on the host")
        }
        return [try nonZero(operands[0], indexType: type.elementType)]
    }
}

extension Array {
    /// `withUnsafeBufferPointer` that keeps the type of what its body throws.
    func withUnsafeBufferPointerTyped<R, E: Error>(
        _ body: (UnsafeBufferPointer<Element>) throws(E) -> R
    ) throws(E) -> R {
        let result: Result<R, E> = withUnsafeBufferPointer { buffer in
            do throws(E) { return .success(try body(buffer)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

extension CPUDelegate {
    /// The processor of this machine.
    package static let shared = CPUDelegate()
}
