import EngineDelegation
import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Ops that only move bytes.
let movementKernels: [OpKind: KernelTable.Factory] = [
    .reshape: copyKernel, .expandDims: copyKernel, .shrinkDims: copyKernel, .copy: copyKernel,
    .loadState: copyKernel, .copyWithConstraints: copyKernel, .copyDiscardingConstraints: copyKernel,
]

/// The bytes of operand 0 under the result's shape. Where the plan lets the result share them, it is never run.
private func copyKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard let byteCount = request.results[0].byteCount, byteCount == request.operands[0].byteCount else {
        throw .invalidValue(
            op: request.op.kind.rawValue, reason: "\(request.operands[0]) does not fill \(request.results[0])")
    }
    return Kernel { arguments throws(EngineError) in
        memcpy(arguments.result(), arguments.operand(0), byteCount)
    }
}
