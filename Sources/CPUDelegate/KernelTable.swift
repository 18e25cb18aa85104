import EngineDelegation
import EngineGraph

/// How a kernel is made for each kind of op. A family of ops adds its rows in its own file.
enum KernelTable {
    typealias Factory = @Sendable (KernelRequest) throws(EngineError) -> Kernel

    static let rows: [OpKind: Factory] = {
        var rows: [OpKind: Factory] = [:]
        for family in [
            attentionKernels, complexKernels, convolutionKernels, elementwiseKernels, indexKernels, matmulKernels,
            movementKernels, normalizationKernels, orderKernels, poolKernels, reductionKernels, shapeKernels,
            weightKernels,
        ] {
            rows.merge(family) { _, latest in latest }
        }
        return rows
    }()

    static func kernel(for request: KernelRequest) throws(EngineError) -> Kernel {
        // Nothing to compute: kernels need not care for empty results, whose other extents may be of any size.
        if !request.results.isEmpty, request.results.allSatisfy({ $0.elementCount == 0 }) {
            return Kernel { _ throws(EngineError) in }
        }
        // Beyond any machine's memory; below it, kernels may count bytes without care.
        for type in request.operands + request.results {
            guard let byteCount = type.byteCount, byteCount <= 1 << 46 else {
                throw .outOfMemory(unit: "cpu", byteCount: type.byteCount ?? .max)
            }
        }
        guard let factory = rows[request.op.kind] else { throw request.declined("the CPU has no kernel for it") }
        return try factory(request)
    }
}
