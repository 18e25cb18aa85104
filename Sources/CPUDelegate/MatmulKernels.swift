import CPUKernels
import EngineDelegation
import EngineGraph

/// Matrix products: plain, broadcast over batches, and fused with what follows them.
let matmulKernels: [OpKind: KernelTable.Factory] = [
    .batchMatmul: productKernel, .broadcastingBatchMatmul: productKernel, .matmul: productKernel,
]

/// A weight in the order that the product's kernel reads it.
final class PackedMatrix: @unchecked Sendable {
    let buffer: HostBuffer
    /// The source, whose address is this layout's key.
    private let source: HostTensor

    init(_ buffer: HostBuffer, source: HostTensor) {
        self.buffer = buffer
        self.source = source
    }
}

private func productKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    var attributes = MatmulAttributes()
    if case .matmul(let given) = request.op.attributes { attributes = given }
    let shape = try ProductShape(request, attributes)
    let type = request.operands[0].elementType
    if type.isInteger { return try integerProductKernel(request, shape, attributes) }
    if let product = try WideProduct(request, shape, attributes) {
        return Kernel { arguments throws(EngineError) in product.run(arguments) }
    }
    guard [.float32, .float16, .bfloat16].contains(type) else {
        throw request.declined("products of \(type.dialectName)")
    }
    if let product = try BLASProduct(request, shape, attributes) {
        return Kernel { arguments throws(EngineError) in product.run(arguments) }
    }
    let xType = try type.ckType(request)
    let yType = try request.operands[1].elementType.ckType(request)
    let resultType = try request.results[0].elementType.ckType(request)

    var product = ck_gemm()
    product.m = shape.m
    product.n = shape.n
    product.k = shape.k
    product.batch = shape.inner.count
    product.a_type = xType
    product.a_transposed = attributes.transposesX
    product.lda = attributes.transposesX ? shape.m : shape.k
    product.a_stride = shape.inner.x
    product.b_type = yType
    product.b_transposed = attributes.transposesY
    product.ldb = attributes.transposesY ? shape.k : shape.n
    product.b_stride = shape.inner.y
    product.c_type = resultType
    product.ldc = shape.n
    product.c_stride = shape.m * shape.n
    product.epilogue.activation = attributes.activation.ckActivation
    if let bounds = attributes.activation.bounds {
        product.epilogue.clamps = true
        (product.epilogue.low, product.epilogue.high) = bounds
    }
    let biasIndex = attributes.hasBias ? 2 : nil
    let residualIndex = attributes.hasResidual ? (attributes.hasBias ? 3 : 2) : nil
    if residualIndex != nil {
        product.epilogue.residual_type = resultType
        product.epilogue.residual_ld = shape.n
        product.epilogue.residual_stride = shape.m * shape.n
    }
    let packed: PackedMatrix?
    if let weight = request.constants[1], shape.yBatch == 1 {
        packed = try packedRight(weight, yType, shape, attributes, request)
    } else {
        packed = nil
    }
    let bias = try biasIndex.map { (index) throws(EngineError) in try BiasSource(request, index) }

    let offsets = shape.outer
    let sizes = (
        x: request.operands[0].elementType.bitWidth / 8, y: request.operands[1].elementType.bitWidth / 8,
        result: request.results[0].elementType.bitWidth / 8
    )
    let resultStep = shape.inner.count * shape.m * shape.n
    let template = GemmTemplate(product)
    return Kernel(workspaceByteCount: bias?.workspaceByteCount ?? 0) { arguments throws(EngineError) in
        var product = template.value
        if let bias, let biasIndex { product.epilogue.bias = bias.pointer(arguments, biasIndex) }
        for (index, offset) in offsets.enumerated() {
            product.a = arguments.operand(0) + offset.x * sizes.x
            if let packed {
                product.packed_b = UnsafeRawPointer(packed.buffer.pointer)
            } else {
                product.b = arguments.operand(1) + offset.y * sizes.y
            }
            product.c = arguments.result() + index * resultStep * sizes.result
            if let residualIndex {
                product.epilogue.residual = arguments.operand(residualIndex) + index * resultStep * sizes.result
            }
            guard ck_gemm_run(&product) else { throw .outOfMemory(unit: "cpu", byteCount: product.m * product.n * 4) }
        }
    }
}

/// `@unchecked Sendable`: the pointers in it are filled by each run in a copy of its own.
private struct GemmTemplate: @unchecked Sendable {
    let value: ck_gemm
    init(_ value: ck_gemm) { self.value = value }
}

private func packedRight(
    _ weight: HostTensor, _ type: ck_type, _ shape: ProductShape, _ attributes: MatmulAttributes,
    _ request: KernelRequest
) throws(EngineError) -> PackedMatrix {
    let layout = "gemm.b \(type.rawValue) \(shape.k)x\(shape.n) \(attributes.transposesY) \(ck_cpu_level())"
    return try request.weights.value(for: weight, layout: layout) { () throws(EngineError) in
        let buffer = try HostBuffer(uninitializedByteCount: ck_gemm_packed_b_size(type, shape.k, shape.n))
        ck_gemm_pack_b(
            type, shape.k, shape.n, weight.pointer, attributes.transposesY ? shape.k : shape.n,
            attributes.transposesY, buffer.pointer)
        return PackedMatrix(buffer, source: weight)
    }
}

extension Activation {
    var ckActivation: ck_activation {
        switch self {
        case .none: CK_ACT_NONE
        case .relu: CK_ACT_RELU
        case .sigmoid: CK_ACT_SIGMOID
        case .silu: CK_ACT_SILU
        case .tanh: CK_ACT_TANH
        case .gelu(.none): CK_ACT_GELU_ERF
        case .gelu(.tanh): CK_ACT_GELU_TANH
        case .gelu(.sigmoid): CK_ACT_GELU_SIGMOID
        case .clamp: CK_ACT_NONE
        }
    }

    /// The bounds of a clamp.
    var bounds: (low: Float, high: Float)? {
        if case .clamp(let low, let high) = self { (low, high) } else { nil }
    }
}

/// A bias as the f32 vector that the kernels add: the operand itself, or a copy in f32.
struct BiasSource: Sendable {
    private let constant: HostTensor?
    private let type: ck_type
    private let count: Int
    let workspaceByteCount: Int

    init(_ request: KernelRequest, _ index: Int) throws(EngineError) {
        type = try request.operands[index].elementType.ckType(request)
        count = request.operands[index].elementCount ?? 0
        guard let given = request.constants[index], type != CK_F32 else {
            constant = nil
            workspaceByteCount = type == CK_F32 ? 0 : count * 4
            return
        }
        let converted = try HostTensor(allocating: TensorType([count], .float32))
        ck_cast(CK_F32, converted.pointer, type, given.pointer, count)
        constant = converted
        workspaceByteCount = 0
    }

    func pointer(_ arguments: KernelArguments, _ index: Int) -> UnsafePointer<Float> {
        if let constant { return UnsafePointer(constant.pointer.assumingMemoryBound(to: Float.self)) }
        if workspaceByteCount == 0 { return arguments.operand(index, as: Float.self) }
        ck_cast(CK_F32, arguments.workspace, type, arguments.operand(index), count)
        return UnsafePointer(arguments.workspace.assumingMemoryBound(to: Float.self))
    }
}

/// How a product over batches is cut into products of matrices.
struct ProductShape: Sendable {
    private(set) var m: Int
    let n: Int
    let k: Int
    /// How many matrices y has.
    let yBatch: Int
    /// The batch that one call of the kernel runs, with the elements from one matrix to the next.
    private(set) var inner = (count: 1, x: 0, y: 0)
    /// Where each call starts, in elements.
    private(set) var outer: [(x: Int, y: Int)] = [(0, 0)]

    init(_ request: KernelRequest, _ attributes: MatmulAttributes) throws(EngineError) {
        let x = request.operands[0].shape
        let y = request.operands[1].shape
        guard x.count >= 2, y.count >= 2 else { throw request.declined("operands of rank \(x.count) and \(y.count)") }
        let rows = x[x.count - (attributes.transposesX ? 1 : 2)]
        m = rows
        k = x[x.count - (attributes.transposesX ? 2 : 1)]
        n = y[y.count - (attributes.transposesY ? 2 : 1)]
        let inner = y[y.count - (attributes.transposesY ? 1 : 2)]
        guard inner == k else {
            throw .invalidValue(op: request.op.kind.rawValue, reason: "\(k) columns meet \(inner) rows")
        }
        let batch = Array(request.results[0].shape.dropLast(2))
        yBatch = y.dropLast(2).reduce(1, *)
        let xBatch = x.dropLast(2).reduce(1, *)
        let count = batch.reduce(1, *)
        if count == 0 || m == 0 || n == 0 {
            self.inner.count = 0
            return
        }
        if yBatch == 1, xBatch == count, !attributes.transposesX {
            // One weight for all: the batch is more rows.
            m = rows * count
            return
        }
        let layout = BroadcastLayout(result: batch, operands: [Array(x.dropLast(2)), Array(y.dropLast(2))])
        let last = layout.extents.count - 1
        self.inner = (
            Int(layout.extents[last]), Int(layout.strides[0][last]) * rows * k, Int(layout.strides[1][last]) * k * n
        )
        outer = [(0, 0)]
        for dimension in (0..<last).reversed() {
            var next: [(x: Int, y: Int)] = []
            for index in 0..<Int(layout.extents[dimension]) {
                let step = (
                    x: index * Int(layout.strides[0][dimension]) * rows * k,
                    y: index * Int(layout.strides[1][dimension]) * k * n
                )
                next += outer.map { (x: $0.x + step.x, y: $0.y + step.y) }
            }
            outer = next
        }
    }
}

/// Products of integers, which wrap. Nothing fast: no converter writes them where it matters.
private func integerProductKernel(
    _ request: KernelRequest, _ shape: ProductShape, _ attributes: MatmulAttributes
) throws(EngineError) -> Kernel {
    guard attributes == MatmulAttributes() else { throw request.declined("fused products of integers") }
    func make<T: FixedWidthInteger & Sendable>(_: T.Type) -> Kernel {
        Kernel { arguments throws(EngineError) in
            let x = arguments.operand(0, as: T.self)
            let y = arguments.operand(1, as: T.self)
            let result = arguments.result(as: T.self)
            for (call, offset) in shape.outer.enumerated() {
                for batch in 0..<shape.inner.count {
                    let left = x + offset.x + batch * shape.inner.x
                    let right = y + offset.y + batch * shape.inner.y
                    let target = result + (call * shape.inner.count + batch) * shape.m * shape.n
                    for row in 0..<shape.m {
                        for column in 0..<shape.n {
                            var sum: T = 0
                            for index in 0..<shape.k {
                                sum &+= left[row * shape.k + index] &* right[index * shape.n + column]
                            }
                            target[row * shape.n + column] = sum
                        }
                    }
                }
            }
        }
    }
    switch request.operands[0].elementType {
    case .int8: return make(Int8.self)
    case .int16: return make(Int16.self)
    case .int32: return make(Int32.self)
    case .int64: return make(Int64.self)
    case .uint8: return make(UInt8.self)
    case .uint16: return make(UInt16.self)
    case .uint32: return make(UInt32.self)
    case .uint64: return make(UInt64.self)
    default: throw request.declined("products of \(request.operands[0].elementType.dialectName)")
    }
}
