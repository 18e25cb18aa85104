import CPUKernels
import EngineDelegation
import EngineGraph

/// Reductions along dimensions, which stay with an extent of one.
let reductionKernels: [OpKind: KernelTable.Factory] = [
    .reduceSum: namedKernel(CK_REDUCE_SUM), .reduceMean: namedKernel(CK_REDUCE_MEAN),
    .reduceProduct: namedKernel(CK_REDUCE_PRODUCT), .reduceMax: namedKernel(CK_REDUCE_MAX),
    .reduceMin: namedKernel(CK_REDUCE_MIN), .any: namedKernel(CK_REDUCE_ANY), .all: namedKernel(CK_REDUCE_ALL),
    .argmax: argmaxKernel, .reduce: combinerKernel, .reduceIndex: indexKernel,
]

/// The dimensions that operand 1 names, as bits.
private func axisMask(_ request: KernelRequest, _ operand: Int) throws(EngineError) -> UInt32 {
    let axes = try ShapeMath(request.op.kind).axes(
        try request.integers(operand, "axes"), rank: request.operands[0].rank)
    return axes.reduce(0) { $0 | 1 << UInt32($1) }
}

private func namedKernel(_ op: ck_reduce_op) -> KernelTable.Factory {
    { request throws(EngineError) in try reductionKernel(op, request) }
}

private func reductionKernel(_ op: ck_reduce_op, _ request: KernelRequest) throws(EngineError) -> Kernel {
    // Sums of complex numbers are those of their parts, which are one more dimension.
    let isSum = op == CK_REDUCE_SUM || op == CK_REDUCE_MEAN
    let part = isSum ? request.operands[0].elementType.complexPart : nil
    let type = try (part ?? request.operands[0].elementType).ckType(request)
    let mask = try axisMask(request, 1)
    let extents = request.operands[0].shape.map(Int64.init) + (part == nil ? [] : [2])
    let rank = Int32(extents.count)
    // The kernels keep bool to its own reductions.
    let op = type == CK_BOOL ? op.forBools : op
    let isFloat = part != nil || request.operands[0].elementType.isFloat
    guard type == CK_BOOL || (op != CK_REDUCE_ANY && op != CK_REDUCE_ALL), op != CK_REDUCE_MEAN || isFloat else {
        throw request.declined("elements of type \(request.operands[0].elementType.dialectName)")
    }
    let name = request.op.kind.rawValue
    return Kernel { arguments throws(EngineError) in
        guard ck_reduce_axes(op, type, arguments.result(), arguments.operand(0), rank, extents, mask) else {
            throw .invalidValue(op: name, reason: "the CPU can't reduce this type, or memory is short")
        }
    }
}

extension ck_reduce_op {
    /// What the op is on bools: sum and maximum are or, product and minimum are and.
    fileprivate var forBools: ck_reduce_op {
        switch self {
        case CK_REDUCE_SUM, CK_REDUCE_MAX: CK_REDUCE_ANY
        case CK_REDUCE_PRODUCT, CK_REDUCE_MIN: CK_REDUCE_ALL
        default: self
        }
    }
}

/// A tensor seen as [outer, count, inner] around one of its dimensions.
struct AxisLayout: Sendable {
    let outer: Int
    let count: Int
    let inner: Int

    init(_ shape: [Int], axis: Int) {
        outer = shape[..<axis].reduce(1, *)
        count = shape[axis]
        inner = shape[(axis + 1)...].reduce(1, *)
    }
}

private func argmaxKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let type = try request.operands[0].elementType.ckType(request)
    let axis = try ShapeMath(request.op.kind).axis(try request.integer(1, "axis"), rank: request.operands[0].rank)
    let layout = AxisLayout(request.operands[0].shape, axis: axis)
    return Kernel { arguments throws(EngineError) in
        guard
            ck_arg_reduce(
                true, type, arguments.result(as: UInt32.self), arguments.operand(0), layout.outer, layout.count,
                layout.inner, nil, 0)
        else { throw .invalidValue(op: "argmax", reason: "the CPU can't compare this type") }
    }
}

// MARK: - Reductions by a combiner

private func combinerKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard let body = request.op.bodies.first else { throw request.declined("it has no combiner") }
    guard let combiner = Combiner(body), let op = combiner.reduction(of: request.operands[0].elementType) else {
        return try generalCombinerKernel(body, request)
    }
    let type = try request.operands[0].elementType.ckType(request)
    let mask = try axisMask(request, 1)
    let extents = request.operands[0].shape.map(Int64.init)
    let count = request.results[0].elementCount ?? 0
    // What starts the reduction is one more element of each.
    let merge = try MergeProgram(combiner.op, request)
    return Kernel { arguments throws(EngineError) in
        guard
            ck_reduce_axes(
                op, type, arguments.result(), arguments.operand(0), Int32(extents.count), extents, mask)
        else { throw .invalidValue(op: "reduce", reason: "the CPU can't reduce this type, or memory is short") }
        merge.run(arguments.result(), count, with: arguments.operand(2))
    }
}

/// `x = op(initial, x)` for every element. The initial value may be of a wider type than the elements.
private struct MergeProgram: Sendable {
    private let program: MachineProgram

    init(_ op: ck_ew_op, _ request: KernelRequest) throws(EngineError) {
        let type = try request.operands[0].elementType.ckType(request)
        let initial = try request.operands[2].elementType.ckType(request)
        func machine(_ type: ck_type) -> ck_type { type == CK_F16 || type == CK_BF16 ? CK_F32 : type }
        var instructions: [ck_ew_instruction] = []
        var start: UInt16 = 1
        if machine(initial) != machine(type) {
            instructions.append(
                ck_ew_instruction(op: CK_EW_CAST, type: machine(initial), to: machine(type), a: 1, b: 0, c: 0))
            start = 2
        }
        instructions.append(
            ck_ew_instruction(op: op, type: machine(type), to: machine(type), a: start, b: 0, c: 0))
        let output = ck_ew_output(value: UInt16(1 + instructions.count), type: type)
        guard
            let made = ck_ew_create(
                [type, initial], 2, nil, 0, instructions, Int32(instructions.count), [output], 1)
        else { throw request.declined("its combiner on \(request.operands[0].elementType.dialectName)") }
        program = MachineProgram(made)
    }

    func run(_ values: UnsafeMutableRawPointer, _ count: Int, with initial: UnsafeRawPointer) {
        var extent = Int64(count)
        var inputs: (UnsafeRawPointer?, UnsafeRawPointer?) = (UnsafeRawPointer(values), initial)
        let strides: [Int64] = [1, 0]
        var output: UnsafeMutableRawPointer? = values
        withUnsafePointer(to: &inputs) { pair in
            pair.withMemoryRebound(to: UnsafeRawPointer?.self, capacity: 2) {
                _ = ck_ew_run(program.pointer, 1, &extent, $0, strides, &output)
            }
        }
    }
}

/// A combiner of one op, `(accumulator, element) → op(accumulator, element)`.
struct Combiner {
    let op: ck_ew_op

    init?(_ body: Graph) {
        guard body.body.ops.count == 1, let only = body.body.ops.first, only.operands.count == 2,
            Set(only.operands) == Set(body.body.arguments), body.body.results == only.results,
            let op = ElementwiseOp.binary[only.kind]
        else { return nil }
        self.op = op
    }

    /// The reduction that combines all elements of this type so; nil where there is none, or where order matters.
    func reduction(of type: ElementType) -> ck_reduce_op? {
        let reduction: ck_reduce_op
        switch op {
        case CK_EW_ADD: reduction = CK_REDUCE_SUM
        case CK_EW_MUL: reduction = CK_REDUCE_PRODUCT
        case CK_EW_MAXIMUM: reduction = CK_REDUCE_MAX
        case CK_EW_MINIMUM: reduction = CK_REDUCE_MIN
        case CK_EW_AND where type == .bool: reduction = CK_REDUCE_ALL
        case CK_EW_OR where type == .bool: reduction = CK_REDUCE_ANY
        default: return nil
        }
        return type == .bool ? reduction.forBools : reduction
    }
}

/// A body of rank-0 values, run on whole slices at once.
final class SliceBody: Sendable {
    private let executable: CPUExecutable

    init(_ body: Graph, shape: [Int], _ request: KernelRequest) throws(EngineError) {
        var part = Subgraph(name: request.op.kind.rawValue)
        for type in body.types {
            guard case .tensor(let tensor) = type else { throw request.declined("its body has values of type \(type)") }
            part.types.append(TensorType(shape, tensor.elementType))
        }
        for op in body.body.ops {
            if op.kind == .constant, case .constant(let constant) = op.attributes,
                case .tensor(let type) = body[type: op.results[0]]
            {
                part.types[op.results[0].index] = type
                part.constants[op.results[0]] = try HostTensor(constant: constant, type: type)
            } else {
                part.ops.append(op)
            }
        }
        // What is yielded may be an argument itself.
        for result in body.body.results {
            part.types.append(part.types[result.index])
            let copy = Value(part.types.count - 1)
            part.ops.append(Op(.copy, operands: [result], results: [copy]))
            part.outputs.append(copy)
        }
        part.inputs = body.body.arguments
        executable = try CPUExecutable(part, weights: request.weights)
    }

    func run(_ inputs: [UnsafeRawPointer], _ output: UnsafeMutableRawPointer) throws(EngineError) {
        try executable.run(ExecutionArguments(inputs: inputs, outputs: [output]))
    }
}

/// Any combiner: element after element along the reduced dimensions, all results at once.
private func generalCombinerKernel(_ body: Graph, _ request: KernelRequest) throws(EngineError) -> Kernel {
    let shape = request.operands[0].shape
    let rank = shape.count
    let mask = try axisMask(request, 1)
    let size = request.operands[0].elementType.bitWidth / 8
    guard size > 0, request.operands[2].elementType == request.operands[0].elementType else {
        throw request.declined("elements of type \(request.operands[0].elementType.dialectName)")
    }
    let slice = try SliceBody(body, shape: request.results[0].shape, request)
    let sliceByteCount = request.results[0].byteCount ?? 0
    let strides = try ShapeMath(.reduce).rowMajorStrides(shape)
    let reduced = (0..<rank).filter { mask & (1 << UInt32($0)) != 0 }
    let kept = (0..<rank).filter { mask & (1 << UInt32($0)) == 0 }
    let starts = offsets(reduced.map { shape[$0] }, reduced.map { strides[$0] })
    let elements = offsets(kept.map { shape[$0] }, kept.map { strides[$0] })
    // Accumulator, element, and the body's result.
    return Kernel(workspaceByteCount: 2 * sliceByteCount) { arguments throws(EngineError) in
        let element = arguments.workspace
        let next = arguments.workspace + sliceByteCount
        let accumulator = arguments.result()
        for index in elements.indices {
            (accumulator + index * size).copyMemory(from: arguments.operand(2), byteCount: size)
        }
        for start in starts {
            for (index, offset) in elements.enumerated() {
                (element + index * size).copyMemory(
                    from: arguments.operand(0) + (start + offset) * size, byteCount: size)
            }
            try slice.run([UnsafeRawPointer(accumulator), UnsafeRawPointer(element)], next)
            accumulator.copyMemory(from: next, byteCount: elements.count * size)
        }
    }
}

/// Where each element of a strided box lies, in row-major order.
private func offsets(_ extents: [Int], _ strides: [Int]) -> [Int] {
    var all = [0]
    for (extent, stride) in zip(extents, strides) {
        all = all.flatMap { base in (0..<extent).map { base + $0 * stride } }
    }
    return all
}

// MARK: - Index reductions

private func indexKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard let body = request.op.bodies.first else { throw request.declined("it has no comparison") }
    let type = try request.operands[0].elementType.ckType(request)
    guard request.results[0].elementType.bitWidth == 32 else {
        throw request.declined("indices of type \(request.results[0].elementType.dialectName)")
    }
    let axis = try ShapeMath(request.op.kind).axis(try request.integer(1, "axis"), rank: request.operands[0].rank)
    let layout = AxisLayout(request.operands[0].shape, axis: axis)
    guard let isGreatest = greatestWins(body) else { return try generalIndexKernel(body, layout, request) }
    return Kernel { arguments throws(EngineError) in
        let initialIndex = arguments.operand(3, as: UInt32.self).pointee
        guard
            ck_arg_reduce(
                isGreatest, type, arguments.result(as: UInt32.self), arguments.operand(0), layout.outer,
                layout.count, layout.inner, arguments.operand(2), initialIndex)
        else { throw .invalidValue(op: "reduce_index", reason: "the CPU can't compare this type") }
    }
}

/// Whether the comparison of an index reduction is `element > best`, or `best > element`; nil for another.
private func greatestWins(_ body: Graph) -> Bool? {
    guard body.body.ops.count == 1, let only = body.body.ops.first,
        only.kind == .greater || only.kind == .broadcastingGreater, body.body.results == only.results
    else { return nil }
    if only.operands == body.body.arguments.reversed() { return true }
    return only.operands == body.body.arguments ? false : nil
}

private func generalIndexKernel(
    _ body: Graph, _ layout: AxisLayout, _ request: KernelRequest
) throws(EngineError) -> Kernel {
    let size = request.operands[0].elementType.bitWidth / 8
    let slice = try SliceBody(body, shape: request.results[0].shape, request)
    let count = layout.outer * layout.inner
    // Best elements, candidates, and whether each candidate wins.
    return Kernel(workspaceByteCount: 2 * count * size + count) { arguments throws(EngineError) in
        let best = arguments.workspace
        let candidate = best + count * size
        let wins = candidate + count * size
        let result = arguments.result(as: UInt32.self)
        for index in 0..<count {
            (best + index * size).copyMemory(from: arguments.operand(2), byteCount: size)
            result[index] = arguments.operand(3, as: UInt32.self).pointee
        }
        for position in 0..<layout.count {
            for outer in 0..<layout.outer {
                (candidate + outer * layout.inner * size).copyMemory(
                    from: arguments.operand(0) + (outer * layout.count + position) * layout.inner * size,
                    byteCount: layout.inner * size)
            }
            try slice.run([UnsafeRawPointer(best), UnsafeRawPointer(candidate)], wins)
            for index in 0..<count where wins.load(fromByteOffset: index, as: UInt8.self) != 0 {
                (best + index * size).copyMemory(from: candidate + index * size, byteCount: size)
                result[index] = UInt32(position)
            }
        }
    }
}
