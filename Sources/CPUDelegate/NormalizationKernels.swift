import CPUKernels
import EngineDelegation
import EngineGraph

/// Softmax, and the norms and the rotary embedding that fusion finds.
let normalizationKernels: [OpKind: KernelTable.Factory] = [
    .softmax: softmaxKernel, .layerNorm: normKernel, .rmsNorm: normKernel, .groupNorm: groupNormKernel,
    .rotary: rotaryKernel,
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

/// The operands of a norm beside the input.
private struct NormOperands {
    let weight: Int?
    let bias: Int?
    let residual: Int?

    init(_ attributes: NormAttributes) {
        var next = 1
        func take(_ isThere: Bool) -> Int? {
            guard isThere else { return nil }
            defer { next += 1 }
            return next
        }
        weight = take(attributes.hasGamma)
        bias = take(attributes.hasBeta)
        residual = take(attributes.hasResidual)
    }
}

private func normKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard case .norm(let attributes) = request.op.attributes else { throw request.declined("it has no attributes") }
    let shape = request.operands[0].shape
    guard (1...max(shape.count, 1)).contains(attributes.axisCount), shape.count >= attributes.axisCount else {
        throw request.declined("a norm over \(attributes.axisCount) of \(shape.count) dimensions")
    }
    let operands = NormOperands(attributes)
    var norm = ck_row_norm()
    norm.type = try request.operands[0].elementType.ckType(request)
    norm.length = shape.suffix(attributes.axisCount).reduce(1, *)
    norm.rows = shape.dropLast(attributes.axisCount).reduce(1, *)
    norm.epsilon = Float(attributes.epsilon)
    norm.root_mean_square = request.op.kind == .rmsNorm
    if let weight = operands.weight { norm.weight_type = try request.operands[weight].elementType.ckType(request) }
    if let bias = operands.bias { norm.bias_type = try request.operands[bias].elementType.ckType(request) }
    let template = NormTemplate(norm)
    return Kernel(inPlaceOperands: [0] + (operands.residual.map { [$0] } ?? [])) { arguments throws(EngineError) in
        var norm = template.value
        norm.input = arguments.operand(0)
        norm.output = arguments.result()
        if let weight = operands.weight { norm.weight = arguments.operand(weight) }
        if let bias = operands.bias { norm.bias = arguments.operand(bias) }
        if let residual = operands.residual { norm.residual = arguments.operand(residual) }
        guard ck_normalize_rows(&norm) else {
            throw .invalidValue(op: "layer_norm", reason: "the CPU has no norm of this type, or memory is short")
        }
    }
}

/// `@unchecked Sendable`: the pointers in it are filled by each run in a copy of its own.
private struct NormTemplate<Norm>: @unchecked Sendable {
    let value: Norm

    init(_ value: Norm) { self.value = value }
}

private func groupNormKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard case .norm(let attributes) = request.op.attributes else { throw request.declined("it has no attributes") }
    let shape = request.operands[0].shape
    guard shape.count >= 2, attributes.groups > 0, shape[1] % attributes.groups == 0, !attributes.hasResidual else {
        throw request.declined("\(attributes.groups) groups of the channels of \(request.operands[0])")
    }
    let operands = NormOperands(attributes)
    var norm = ck_group_norm()
    norm.type = try request.operands[0].elementType.ckType(request)
    norm.batch = shape[0]
    norm.groups = attributes.groups
    norm.channels = shape[1] / attributes.groups
    norm.length = shape.dropFirst(2).reduce(1, *)
    norm.epsilon = Float(attributes.epsilon)
    for (index, path) in [(operands.weight, \ck_group_norm.weight_type), (operands.bias, \ck_group_norm.bias_type)] {
        guard let index else { continue }
        guard request.operands[index].elementCount == shape[1] else {
            throw request.declined("\(request.operands[index]) for \(shape[1]) channels")
        }
        norm[keyPath: path] = try request.operands[index].elementType.ckType(request)
    }
    let template = NormTemplate(norm)
    return Kernel(inPlaceOperands: [0]) { arguments throws(EngineError) in
        var norm = template.value
        norm.input = arguments.operand(0)
        norm.output = arguments.result()
        if let weight = operands.weight { norm.weight = arguments.operand(weight) }
        if let bias = operands.bias { norm.bias = arguments.operand(bias) }
        guard ck_normalize_groups(&norm) else {
            throw .invalidValue(op: "group_norm", reason: "the CPU has no norm of this type")
        }
    }
}

private func rotaryKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let shape = request.operands[0].shape
    guard let width = shape.last, request.operands.count == 3,
        let table = request.operands[1].shape.last, request.operands[2].shape.last == table,
        table == width || 2 * table == width
    else { throw request.declined("tables \(request.operands.dropFirst()) for \(request.operands[0])") }
    let leading = Array(shape.dropLast())
    let layout = BroadcastLayout(
        result: leading, operands: request.operands[1...].map { Array($0.shape.dropLast()) })
    var rotary = ck_rotary()
    guard layout.extents.count <= Int(CK_ROTARY_MAX_RANK), width <= Int(CK_ROTARY_MAX_WIDTH) else {
        throw request.declined("\(layout.extents.count + 1) dimensions, the last of \(width)")
    }
    rotary.type = try request.operands[0].elementType.ckType(request)
    rotary.width = width
    rotary.half_tables = table != width
    rotary.rank = Int32(layout.extents.count)
    withUnsafeMutableBytes(of: &rotary.extents) { $0.copyBytes(from: layout.extents.withUnsafeBytes(Array.init)) }
    withUnsafeMutableBytes(of: &rotary.cos_strides) {
        $0.copyBytes(from: layout.strides[0].map { $0 * Int64(table) }.withUnsafeBytes(Array.init))
    }
    withUnsafeMutableBytes(of: &rotary.sin_strides) {
        $0.copyBytes(from: layout.strides[1].map { $0 * Int64(table) }.withUnsafeBytes(Array.init))
    }
    let template = NormTemplate(rotary)
    return Kernel(inPlaceOperands: [0]) { arguments throws(EngineError) in
        var rotary = template.value
        rotary.input = arguments.operand(0)
        rotary.cos = arguments.operand(1)
        rotary.sin = arguments.operand(2)
        rotary.output = arguments.result()
        guard ck_rotary_run(&rotary) else {
            throw .invalidValue(op: "rotary", reason: "the CPU has no rotary embedding of this type")
        }
    }
}
