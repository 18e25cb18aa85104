import COpenBLAS
import EngineDelegation
import EngineGraph

/// Products in f64 and of complex numbers, on OpenBLAS.
struct WideProduct: Sendable {
    private let shape: ProductShape
    private let type: ElementType
    private let transposesX: Bool
    private let transposesY: Bool

    /// Nil where the elements are neither.
    init?(_ request: KernelRequest, _ shape: ProductShape, _ attributes: MatmulAttributes) throws(EngineError) {
        let type = request.operands[0].elementType
        guard [.float64, .complexFloat32, .complexFloat64].contains(type) else { return nil }
        let hasEpilogue = attributes.hasBias || attributes.hasResidual || attributes.activation != .none
        guard !hasEpilogue, (request.operands + request.results).allSatisfy({ $0.elementType == type }) else {
            throw request.declined("fused products of \(type.dialectName)")
        }
        guard max(shape.m, shape.n, shape.k) <= Int(Int32.max) else {
            throw request.declined("products of more than \(Int32.max) rows or columns")
        }
        self.type = type
        self.shape = shape
        transposesX = attributes.transposesX
        transposesY = attributes.transposesY
    }

    func run(_ arguments: KernelArguments) {
        let size = type.bitWidth / 8
        let (m, n, k) = (Int32(shape.m), Int32(shape.n), Int32(shape.k))
        let (turnX, turnY) = (transposesX ? CblasTrans : CblasNoTrans, transposesY ? CblasTrans : CblasNoTrans)
        let (ldx, ldy) = (max(transposesX ? m : k, 1), max(transposesY ? k : n, 1))
        let ldz = max(n, 1)
        for (call, offset) in shape.outer.enumerated() {
            for matrix in 0..<shape.inner.count {
                let x = arguments.operand(0) + (offset.x + matrix * shape.inner.x) * size
                let y = arguments.operand(1) + (offset.y + matrix * shape.inner.y) * size
                let z = arguments.result() + (call * shape.inner.count + matrix) * shape.m * shape.n * size
                switch type {
                case .complexFloat32:
                    cblas_cgemm(
                        CblasRowMajor, turnX, turnY, m, n, k, [1, 0] as [Float], x, ldx, y, ldy, [0, 0] as [Float], z,
                        ldz)
                case .complexFloat64:
                    cblas_zgemm(
                        CblasRowMajor, turnX, turnY, m, n, k, [1, 0] as [Double], x, ldx, y, ldy, [0, 0] as [Double],
                        z, ldz)
                default:
                    cblas_dgemm(
                        CblasRowMajor, turnX, turnY, m, n, k, 1, x.assumingMemoryBound(to: Double.self), ldx,
                        y.assumingMemoryBound(to: Double.self), ldy, 0, z.assumingMemoryBound(to: Double.self), ldz)
                }
            }
        }
    }
}
