import CPUKernels
import EngineDelegation
import EngineGraph

/// Softmax, and the norms that fusion finds.
let normalizationKernels: [OpKind: KernelTable.Factory] = [
    .softmax: softmaxKernel, .layerNorm: normKernel, .rmsNorm: normKernel,
]

private func softmaxKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let type = try request.operands[0].elementType.ckType(request)
    guard request.operands[0].elementType.isFloat else {
        throw request.declined("elements of type \(request.operands[0].elementType.dialectName)")
    }
    let rank = request.operands[0].rank
    let axis = try request.integer(1, "axis")
    // A scalar is a slice of one.
    let layout =
        rank == 0
        ? AxisLayout([1], axis: 0)
        : AxisLayout(request.operands[0].shape, axis: try ShapeMath(.softmax).axis(axis, rank: rank))
    return Kernel(inPlaceOperands: [0]) { arguments throws(EngineError) in
        guard
            ck_softmax(
                type, arguments.result(), arguments.operand(0), layout.outer, layout.count, layout.inner)
        else { throw .invalidValue(op: "softmax", reason: "the CPU has no softmax of this type, or memory is short") }
    }
}

private func normKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard case .norm(let attributes) = request.op.attributes else { throw request.declined("it has no attributes") }
    let shape = request.operands[0].shape
    guard (1...max(shape.count, 1)).contains(attributes.axisCount), shape.count >= attributes.axisCount else {
        throw request.declined("a norm over \(attributes.axisCount) of \(shape.count) dimensions")
    }
    var norm = ck_row_norm()
    norm.type = try request.operands[0].elementType.ckType(request)
    norm.length = shape.suffix(attributes.axisCount).reduce(1, *)
    norm.rows = shape.dropLast(attributes.axisCount).reduce(1, *)
    norm.epsilon = Float(attributes.epsilon)
    norm.root_mean_square = request.op.kind == .rmsNorm
    let weightIndex = attributes.hasGamma ? 1 : nil
    let biasIndex = attributes.hasBeta ? (attributes.hasGamma ? 2 : 1) : nil
    if let weightIndex { norm.weight_type = try request.operands[weightIndex].elementType.ckType(request) }
    if let biasIndex { norm.bias_type = try request.operands[biasIndex].elementType.ckType(request) }
    let template = NormTemplate(norm)
    return Kernel(inPlaceOperands: [0]) { arguments throws(EngineError) in
        var norm = template.value
        norm.input = arguments.operand(0)
        norm.output = arguments.result()
        if let weightIndex { norm.weight = arguments.operand(weightIndex) }
        if let biasIndex { norm.bias = arguments.operand(biasIndex) }
        guard ck_normalize_rows(&norm) else {
            throw .invalidValue(op: "layer_norm", reason: "the CPU has no norm of this type, or memory is short")
        }
    }
}

/// `@unchecked Sendable`: the pointers in it are filled by each run in a copy of its own.
private struct NormTemplate: @unchecked Sendable {
    let value: ck_row_norm

    init(_ value: ck_row_norm) { self.value = value }
}
