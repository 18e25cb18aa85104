import CPUKernels
import EngineDelegation
import EngineGraph

/// Pools, and the resampling of a grid.
let poolKernels: [OpKind: KernelTable.Factory] = [
    .maxPool2d: poolKernel, .maxPool3d: poolKernel, .sumPool2d: poolKernel, .sumPool3d: poolKernel,
    .interpolate: interpolateKernel, .interpolateCoordinates: interpolateCoordinatesKernel,
]

private func poolKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let kind = request.op.kind
    let input = request.operands[0]
    let isMaximum = kind == .maxPool2d || kind == .maxPool3d
    let spatial = kind == .maxPool2d || kind == .sumPool2d ? 2 : 3
    let kernel = try request.integers(1, "kernel_size")
    let stride = try request.integers(2, "stride")
    let dilation = try request.integers(3, "dilation")
    let ceiling = isMaximum ? try request.integer(4, "ceil_mode") != 0 : false
    let shape = request.results[0].shape
    // The windows lie as this says: the types that came with the op must agree with it.
    let expected = try ShapeMath(kind).pool(
        input: input.shape, kernel: kernel, stride: stride, dilation: dilation, ceiling: ceiling)
    guard input.rank == spatial + 2, shape == expected else {
        throw .invalidValue(
            op: kind.rawValue, reason: "the result is \(request.results[0]), expected \(ShapeMath.text(expected))")
    }
    var pool = ck_pool()
    pool.op = isMaximum ? CK_POOL_MAX : CK_POOL_SUM
    let elements = try poolElements(request)
    // The parts of complex numbers are one more dimension.
    let parts = elements.parts == 1 ? [] : [elements.parts]
    let one = parts.map { _ in 1 }
    guard spatial + parts.count <= 3 else {
        throw request.declined("elements of type \(input.elementType.dialectName)")
    }
    pool.type = elements.type
    pool.planes = try ShapeMath(kind).product(input.shape[0], input.shape[1])
    pool.input_extents = triple(input.shape.suffix(spatial) + parts)
    pool.output_extents = triple(shape.suffix(spatial) + parts)
    pool.kernel = triple(kernel + one)
    pool.stride = triple(stride + one)
    pool.dilation = triple(dilation + one)
    let template = PoolTemplate(pool)
    return Kernel { arguments throws(EngineError) in
        var pool = template.value
        pool.input = arguments.operand(0)
        pool.output = arguments.result()
        guard ck_pool_run(&pool) else {
            throw .invalidValue(op: kind.rawValue, reason: "the CPU has no pool of this type, or it is too large")
        }
    }
}

/// `@unchecked Sendable`: the pointers in it are filled by each run in a copy of its own.
private struct PoolTemplate: @unchecked Sendable {
    let value: ck_pool

    init(_ value: ck_pool) { self.value = value }
}

/// The numbers that elements are made of, and how many.
private func poolElements(_ request: KernelRequest) throws(EngineError) -> (type: ck_type, parts: Int) {
    let type = request.operands[0].elementType
    switch (type, request.op.kind) {
    // True is the greatest.
    case (.bool, .maxPool2d), (.bool, .maxPool3d): return (CK_U8, 1)
    case (.bool, _): throw request.declined("bool elements")
    case (.complexFloat16, .sumPool2d), (.complexFloat16, .sumPool3d): return (CK_F16, 2)
    case (.complexBFloat16, .sumPool2d), (.complexBFloat16, .sumPool3d): return (CK_BF16, 2)
    case (.complexFloat32, .sumPool2d), (.complexFloat32, .sumPool3d): return (CK_F32, 2)
    case (.complexFloat64, .sumPool2d), (.complexFloat64, .sumPool3d): return (CK_F64, 2)
    default: return (try type.ckType(request), 1)
    }
}

/// Depth, height and width, with a depth of one where there is none.
private func triple(_ values: some BidirectionalCollection<Int>) -> (Int64, Int64, Int64) {
    let padded = [Int64](repeating: 1, count: max(3 - values.count, 0)) + values.map(Int64.init)
    return (padded[0], padded[1], padded[2])
}
