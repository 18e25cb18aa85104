import CPUKernels
import EngineDelegation
import EngineGraph

/// Sorts and prefix scans along one dimension.
let orderKernels: [OpKind: KernelTable.Factory] = [
    .argsort: argsortKernel, .sort: sortKernel, .scan: scanKernel,
]

/// The dimension that operand `index` names; a scalar is a slice of one.
private func layout(_ request: KernelRequest, _ index: Int) throws(EngineError) -> AxisLayout {
    let shape = request.operands[0].shape
    let axis = try request.integer(index, "dim")
    if shape.isEmpty { return AxisLayout([1], axis: 0) }
    return AxisLayout(shape, axis: try ShapeMath(request.op.kind).axis(axis, rank: shape.count))
}

private func argsortKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let type = try request.operands[0].elementType.ckType(request)
    let layout = try layout(request, 1)
    let isDescending = try request.integer(2, "descending") != 0
    guard request.results[0].elementType.bitWidth == 32 else {
        throw request.declined("indices of type \(request.results[0].elementType.dialectName)")
    }
    // Stable whether or not the program asks for it: a stable order is a right one.
    return Kernel { arguments throws(EngineError) in
        guard
            ck_argsort(
                type, arguments.result(as: UInt32.self), arguments.operand(0), layout.outer, layout.count,
                layout.inner, isDescending)
        else { throw .invalidValue(op: "argsort", reason: "the CPU can't order this type, or memory is short") }
    }
}

private func sortKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let type = try request.operands[0].elementType.ckType(request)
    let layout = try layout(request, 1)
    let isDescending = try request.integer(2, "descending") != 0
    return Kernel(inPlaceOperands: [0]) { arguments throws(EngineError) in
        guard
            ck_sort(
                type, arguments.result(), arguments.operand(0), layout.outer, layout.count, layout.inner,
                isDescending)
        else { throw .invalidValue(op: "sort", reason: "the CPU can't order this type, or memory is short") }
    }
}

private func scanKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard case .combiner(let combiner) = request.op.attributes else { throw request.declined("it has no combiner") }
    let op =
        switch combiner {
        case .sum: CK_SCAN_SUM
        case .product: CK_SCAN_PRODUCT
        case .minimum: CK_SCAN_MIN
        case .maximum: CK_SCAN_MAX
        }
    let type = try request.operands[0].elementType.ckType(request)
    let layout = try layout(request, 1)
    let isReversed = try request.integer(2, "reverse") != 0
    return Kernel(inPlaceOperands: [0]) { arguments throws(EngineError) in
        guard
            ck_scan(
                op, type, arguments.result(), arguments.operand(0), layout.outer, layout.count, layout.inner,
                isReversed)
        else { throw .invalidValue(op: "scan", reason: "the CPU can't scan this type") }
    }
}
