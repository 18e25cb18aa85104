import CPUKernels
import EngineDelegation
import EngineGraph

/// Gathers, scatters and paddings.
let indexKernels: [OpKind: KernelTable.Factory] = [
    .gatherND: gatherNDKernel, .gatherAlongAxis: gatherAlongAxisKernel, .scatterND: scatterNDKernel,
    .scatterAlongAxis: scatterAlongAxisKernel, .pad: padKernel,
]

/// The size of an element in bytes; an error for elements that share bytes.
private func elementSize(_ type: ElementType, _ request: KernelRequest) throws(EngineError) -> Int {
    guard type.bitWidth % 8 == 0 else { throw request.declined("elements of type \(type.dialectName)") }
    return type.bitWidth / 8
}

/// The error of a C kernel that reads indices; nothing where all was well.
private func check(_ status: Int64, _ name: String, _ shape: [Int]) throws(EngineError) {
    if status == Int64(CK_INDEX_OK) { return }
    guard status >= 0 else { throw .invalidValue(op: name, reason: "the CPU can't index with or combine these types") }
    throw .invalidValue(op: name, reason: "index \(status) is outside of the shape \(ShapeMath.text(shape))")
}

private func gatherNDKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let shape = request.operands[0].shape
    let indices = request.operands[1]
    let depth = indices.shape.last ?? 0
    let size = try elementSize(request.operands[0].elementType, request)
    guard depth <= shape.count else { throw request.declined("\(depth) indices into rank \(shape.count)") }
    let count = indices.shape.dropLast().reduce(1, *)
    let slice = shape.dropFirst(depth).reduce(1, *) * size
    let extents = shape.prefix(depth).map(Int64.init)
    let indexType = try indices.elementType.ckType(request)
    return Kernel { arguments throws(EngineError) in
        try check(
            ck_gather_nd(
                arguments.result(), arguments.operand(0), Int32(depth), extents, slice, indexType,
                arguments.operand(1), count), "gather_nd", shape)
    }
}

private func gatherAlongAxisKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let shape = request.operands[0].shape
    let indices = request.operands[1]
    let size = try elementSize(request.operands[0].elementType, request)
    let axis = try ShapeMath(.gatherAlongAxis).axis(try request.integer(2, "axis"), rank: shape.count)
    let source = AxisLayout(shape, axis: axis)
    let target = AxisLayout(indices.shape, axis: axis)
    let indexType = try indices.elementType.ckType(request)
    return Kernel { arguments throws(EngineError) in
        try check(
            ck_gather_along(
                size, arguments.result(), arguments.operand(0), source.outer, source.count, source.inner, indexType,
                arguments.operand(1), target.count), "gather_along_axis", shape)
    }
}

private func scatterNDKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let shape = request.operands[0].shape
    let indices = request.operands[1]
    let depth = indices.shape.last ?? 0
    guard depth <= shape.count else { throw request.declined("\(depth) indices into rank \(shape.count)") }
    let type = request.operands[0].elementType
    let size = try elementSize(type, request)
    let mode = try scatterMode(request.op.bodies.first, request)
    let valueType = mode == CK_SCATTER_UPDATE ? CK_U8 : try type.ckType(request)
    let count = indices.shape.dropLast().reduce(1, *)
    let slice = shape.dropFirst(depth).reduce(1, *)
    let extents = shape.prefix(depth).map(Int64.init)
    let indexType = try indices.elementType.ckType(request)
    let byteCount = request.results[0].byteCount ?? 0
    return Kernel { arguments throws(EngineError) in
        arguments.startUpdate(byteCount)
        try check(
            ck_scatter_nd(
                mode, valueType, size, arguments.result(), Int32(depth), extents, slice, indexType,
                arguments.operand(1), count, arguments.operand(2)), "scatter_nd", shape)
    }
}

/// What a scatter's body does with the old and the new element.
private func scatterMode(_ body: Graph?, _ request: KernelRequest) throws(EngineError) -> ck_scatter_mode {
    guard let body, body.body.arguments.count == 2 else { return CK_SCATTER_UPDATE }
    let (old, new) = (body.body.arguments[0], body.body.arguments[1])
    if body.body.ops.isEmpty, body.body.results == [new] { return CK_SCATTER_UPDATE }
    if let op = body.body.ops.first, body.body.ops.count == 1, body.body.results == op.results {
        switch op.kind {
        case .add, .broadcastingAdd: return CK_SCATTER_ADD
        case .mul, .broadcastingMul: return CK_SCATTER_MUL
        case .maximum, .broadcastingMaximum: return CK_SCATTER_MAX
        case .minimum, .broadcastingMinimum: return CK_SCATTER_MIN
        case .sub where op.operands == [old, new]: return CK_SCATTER_SUB
        case .divide where op.operands == [old, new]: return CK_SCATTER_DIV
        default: break
        }
    }
    throw request.declined("its body combines elements in a way that the CPU has no scatter for")
}

private func scatterAlongAxisKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    var mode = CK_SCATTER_UPDATE
    if case .scatter(let given) = request.op.attributes {
        mode =
            switch given {
            case .update: CK_SCATTER_UPDATE
            case .add: CK_SCATTER_ADD
            case .sub: CK_SCATTER_SUB
            case .mul: CK_SCATTER_MUL
            case .div: CK_SCATTER_DIV
            case .max: CK_SCATTER_MAX
            case .min: CK_SCATTER_MIN
            }
    }
    let chosen = mode
    let shape = request.operands[0].shape
    let indices = request.operands[1]
    let type = request.operands[0].elementType
    let size = try elementSize(type, request)
    let valueType = mode == CK_SCATTER_UPDATE ? CK_U8 : try type.ckType(request)
    let axis = try ShapeMath(.scatterAlongAxis).axis(try request.integer(3, "axis"), rank: shape.count)
    let target = AxisLayout(shape, axis: axis)
    let count = indices.shape[axis]
    let indexType = try indices.elementType.ckType(request)
    let byteCount = request.results[0].byteCount ?? 0
    return Kernel { arguments throws(EngineError) in
        arguments.startUpdate(byteCount)
        try check(
            ck_scatter_along(
                chosen, valueType, size, arguments.result(), target.outer, target.count, target.inner, indexType,
                arguments.operand(1), count, arguments.operand(2)), "scatter_along_axis", shape)
    }
}

extension KernelArguments {
    /// Copies operand 0 to the result, unless the plan put the result where it is.
    func startUpdate(_ byteCount: Int) {
        if operand(0) != UnsafeRawPointer(result()) {
            result().copyMemory(from: operand(0), byteCount: byteCount)
        }
    }
}

private func padKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    var mode = CK_PAD_CONSTANT
    if case .padding(let given) = request.op.attributes {
        mode =
            switch given {
            case .constant: CK_PAD_CONSTANT
            case .reflect: CK_PAD_REFLECT
            case .replicate: CK_PAD_REPLICATE
            case .symmetric: CK_PAD_SYMMETRIC
            case .circular: CK_PAD_CIRCULAR
            }
    }
    let chosen = mode
    let shape = request.operands[0].shape
    let size = try elementSize(request.operands[0].elementType, request)
    let amounts = try request.integers(1, "padding")
    guard amounts.count == 2 * shape.count else {
        throw .invalidValue(op: "pad", reason: "\(amounts.count) amounts for rank \(shape.count)")
    }
    let extents = shape.map(Int64.init)
    let before = shape.indices.map { Int64(amounts[2 * $0]) }
    let after = shape.indices.map { Int64(amounts[2 * $0 + 1]) }
    return Kernel { arguments throws(EngineError) in
        guard
            ck_pad(
                chosen, size, Int32(extents.count), extents, before, after, arguments.result(), arguments.operand(0),
                arguments.operand(2))
        else { throw .invalidValue(op: "pad", reason: "the mode can't reach that far, or memory is short") }
    }
}
