import EngineDelegation
import EngineGraph

/// How a kernel is made for each kind of op. A family of ops adds its rows in its own file.
enum KernelTable {
    typealias Factory = @Sendable (KernelRequest) throws(EngineError) -> Kernel

    static let rows: [OpKind: Factory] = {
        var rows: [OpKind: Factory] = [:]
        for family in [
            elementwiseKernels, matmulKernels, movementKernels, normalizationKernels, reductionKernels, shapeKernels,
            weightKernels,
        ] {
            rows.merge(family) { _, latest in latest }
        }
        return rows
    }()

    static func kernel(for request: KernelRequest) throws(EngineError) -> Kernel {
        guard let factory = rows[request.op.kind] else { throw request.declined("the CPU has no kernel for it") }
        return try factory(request)
    }
}
