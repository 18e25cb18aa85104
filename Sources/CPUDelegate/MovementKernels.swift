import CPUKernels
import EngineDelegation
import EngineGraph

/// Ops that only move elements.
let movementKernels: [OpKind: KernelTable.Factory] = [
    .reshape: copyKernel, .expandDims: copyKernel, .shrinkDims: copyKernel, .copy: copyKernel,
    .loadState: copyKernel, .copyWithConstraints: copyKernel, .copyDiscardingConstraints: copyKernel,
    .transpose: transposeKernel, .broadcastTo: broadcastKernel, .broadcastInDims: broadcastKernel,
    .slice: sliceKernel, .sliceUpdate: sliceUpdateKernel, .concat: concatKernel, .split: splitKernel,
    .reverse: reverseKernel, .tile: tileKernel,
]

/// The bytes of operand 0 under the result's shape. Where the plan lets the result share them, it is never run.
private func copyKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard let byteCount = request.results[0].byteCount, byteCount == request.operands[0].byteCount else {
        throw .invalidValue(
            op: request.op.kind.rawValue, reason: "\(request.operands[0]) does not fill \(request.results[0])")
    }
    return .copy(byteCount: byteCount)
}

/// A copy between two strided boxes of one shape.
struct StridedCopy: Sendable {
    private let elementSize: Int
    private let extents: [Int64]
    private let sourceStrides: [Int64]
    private let targetStrides: [Int64]
    private let rank: Int32

    /// Strides are in elements; they may be zero or negative.
    init(
        _ type: ElementType, extents: [Int], source: [Int], target: [Int], _ request: KernelRequest
    ) throws(EngineError) {
        guard type.bitWidth % 8 == 0 else { throw request.declined("elements of type \(type.dialectName)") }
        self.elementSize = type.bitWidth / 8
        self.extents = extents.map(Int64.init)
        self.sourceStrides = source.map(Int64.init)
        self.targetStrides = target.map(Int64.init)
        self.rank = Int32(extents.count)
    }

    /// Offsets are in elements.
    func run(
        _ source: UnsafeRawPointer, offset: Int = 0, to target: UnsafeMutableRawPointer, targetOffset: Int = 0
    ) {
        // Rank and element size were checked when the copy was made.
        _ = ck_copy(
            elementSize, rank, extents, target + targetOffset * elementSize, targetStrides,
            source + offset * elementSize, sourceStrides)
    }
}

private func transposeKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let math = ShapeMath(.transpose)
    let shape = request.operands[0].shape
    let permutation = try math.permutation(try request.integers(1, "permutation"), rank: shape.count)
    let strides = try math.rowMajorStrides(shape)
    let result = request.results[0]
    let copy = try StridedCopy(
        result.elementType, extents: result.shape, source: permutation.map { strides[$0] },
        target: try math.rowMajorStrides(result.shape), request)
    return Kernel { arguments throws(EngineError) in copy.run(arguments.operand(0), to: arguments.result()) }
}

private func broadcastKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let math = ShapeMath(request.op.kind)
    let result = request.results[0]
    let copy = try StridedCopy(
        result.elementType, extents: result.shape,
        source: try math.broadcastStrides(request.operands[0].shape, to: result.shape),
        target: try math.rowMajorStrides(result.shape), request)
    return Kernel { arguments throws(EngineError) in copy.run(arguments.operand(0), to: arguments.result()) }
}

/// A tiled tensor is a broadcast one: each dimension is read as (repetitions, extent), the repetitions with stride 0.
private func tileKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let math = ShapeMath(.tile)
    let shape = request.operands[0].shape
    let given = try request.integers(1, "dims")
    guard given.count <= shape.count else { throw math.failure("\(given.count) repetitions for rank \(shape.count)") }
    let repetitions = Array(repeating: 1, count: shape.count - given.count) + given
    let strides = try math.rowMajorStrides(shape)
    let target = try math.rowMajorStrides(request.results[0].shape)
    var extents: [Int] = []
    var read: [Int] = []
    var written: [Int] = []
    for dimension in shape.indices {
        extents += [repetitions[dimension], shape[dimension]]
        read += [0, strides[dimension]]
        written += [shape[dimension] * target[dimension], target[dimension]]
    }
    let copy = try StridedCopy(
        request.results[0].elementType, extents: extents, source: read, target: written, request)
    return Kernel { arguments throws(EngineError) in copy.run(arguments.operand(0), to: arguments.result()) }
}

private func reverseKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let math = ShapeMath(.reverse)
    let shape = request.operands[0].shape
    var strides = try math.rowMajorStrides(shape)
    let target = strides
    var start = 0
    for axis in try math.axes(try request.integers(1, "dims"), rank: shape.count) {
        start += (shape[axis] - 1) * strides[axis]
        strides[axis] = -strides[axis]
    }
    let offset = max(start, 0)
    let copy = try StridedCopy(
        request.results[0].elementType, extents: shape, source: strides, target: target, request)
    return Kernel { arguments throws(EngineError) in
        copy.run(arguments.operand(0), offset: offset, to: arguments.result())
    }
}

// MARK: - Slices

/// The box that a slice reads or writes: fixed when the kernel is made, or read at each run.
private struct SliceBox: Sendable {
    private let shape: [Int]
    private let strides: [Int]
    private let counts: [Int]
    private let parameterTypes: [TensorType]
    private let math: ShapeMath
    /// Where the start, end and stride operands are.
    private static let first = 1

    /// - Parameter counts: The extents that the box must have.
    init(_ request: KernelRequest, counts: [Int]) throws(EngineError) {
        math = ShapeMath(request.op.kind)
        shape = request.operands[0].shape
        strides = try math.rowMajorStrides(shape)
        self.counts = counts
        parameterTypes = Array(request.operands[Self.first..<(Self.first + 3)])
    }

    /// The box's first element and its strides, in elements.
    func resolve(
        starts: [Int], ends: [Int], steps: [Int]
    ) throws(EngineError) -> (offset: Int, strides: [Int]) {
        let extents = try math.slices(shape, starts: starts, ends: ends, steps: steps)
        guard extents.map(\.count) == counts else {
            throw math.failure(
                "the slice has the shape \(ShapeMath.text(extents.map(\.count))), expected \(ShapeMath.text(counts))")
        }
        var offset = 0
        for (index, extent) in extents.enumerated() where extent.count > 0 { offset += extent.start * strides[index] }
        return (offset, zip(extents, strides).map { $0.step * $1 })
    }

    func resolve(_ arguments: KernelArguments) throws(EngineError) -> (offset: Int, strides: [Int]) {
        var parameters: [[Int]] = []
        for (index, type) in parameterTypes.enumerated() {
            let address = UnsafeMutableRawPointer(mutating: arguments.operand(Self.first + index))
            let buffer = HostBuffer(lending: address, byteCount: type.byteCount ?? 0, owner: nil)
            guard let values = HostTensor(type: type, buffer: buffer).integers() else {
                throw math.failure("its indices are \(type)")
            }
            parameters.append(values)
        }
        return try resolve(starts: parameters[0], ends: parameters[1], steps: parameters[2])
    }

    /// The box, where all three operands are known.
    func known(_ request: KernelRequest) throws(EngineError) -> (offset: Int, strides: [Int])? {
        guard (Self.first..<(Self.first + 3)).allSatisfy(request.isConstant) else { return nil }
        return try resolve(
            starts: try request.integers(1, "start_indices"), ends: try request.integers(2, "end_indices"),
            steps: try request.integers(3, "strides"))
    }
}

private func sliceKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let result = request.results[0]
    let box = try SliceBox(request, counts: result.shape)
    let target = try ShapeMath(.slice).rowMajorStrides(result.shape)
    if let known = try box.known(request) {
        let copy = try StridedCopy(
            result.elementType, extents: result.shape, source: known.strides, target: target, request)
        return Kernel { arguments throws(EngineError) in
            copy.run(arguments.operand(0), offset: known.offset, to: arguments.result())
        }
    }
    return Kernel { arguments throws(EngineError) in
        let place = try box.resolve(arguments)
        let copy = try StridedCopy(
            result.elementType, extents: result.shape, source: place.strides, target: target, request)
        copy.run(arguments.operand(0), offset: place.offset, to: arguments.result())
    }
}

private func sliceUpdateKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let result = request.results[0]
    let update = request.operands[4]
    let byteCount = result.byteCount ?? 0
    let box = try SliceBox(request, counts: update.shape)
    let source = try ShapeMath(.sliceUpdate).rowMajorStrides(update.shape)
    let known = try box.known(request)
    let ready = try known.map { (place) throws(EngineError) in
        try StridedCopy(result.elementType, extents: update.shape, source: source, target: place.strides, request)
    }
    return Kernel { arguments throws(EngineError) in
        arguments.startUpdate(byteCount)
        if let known, let ready {
            ready.run(arguments.operand(4), to: arguments.result(), targetOffset: known.offset)
            return
        }
        let place = try box.resolve(arguments)
        let copy = try StridedCopy(
            result.elementType, extents: update.shape, source: source, target: place.strides, request)
        copy.run(arguments.operand(4), to: arguments.result(), targetOffset: place.offset)
    }
}

// MARK: - Joining and splitting

private func concatKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let result = request.results[0]
    let math = ShapeMath(.concat)
    let axis = try math.axis(try request.integer(0, "dimension"), rank: result.rank)
    let target = try math.rowMajorStrides(result.shape)
    var copies: [(copy: StridedCopy, offset: Int)] = []
    var position = 0
    for operand in request.operands.dropFirst() {
        // A scalar joins as a vector of one.
        let shape = operand.shape.isEmpty ? [1] : operand.shape
        copies.append(
            (
                try StridedCopy(
                    result.elementType, extents: shape, source: try math.rowMajorStrides(shape), target: target,
                    request), position * target[axis]
            ))
        position += shape[axis]
    }
    let parts = copies
    return Kernel { arguments throws(EngineError) in
        for (index, part) in parts.enumerated() {
            part.copy.run(arguments.operand(index + 1), to: arguments.result(), targetOffset: part.offset)
        }
    }
}

private func splitKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let math = ShapeMath(.split)
    let input = request.operands[0]
    let axis = try math.axis(try request.integer(2, "dim"), rank: input.rank)
    let source = try math.rowMajorStrides(input.shape)
    var copies: [(copy: StridedCopy, offset: Int)] = []
    var position = 0
    for result in request.results {
        copies.append(
            (
                try StridedCopy(
                    input.elementType, extents: result.shape, source: source,
                    target: try math.rowMajorStrides(result.shape), request), position * source[axis]
            ))
        position += result.shape[axis]
    }
    let parts = copies
    return Kernel { arguments throws(EngineError) in
        for (index, part) in parts.enumerated() {
            part.copy.run(arguments.operand(0), offset: part.offset, to: arguments.result(index))
        }
    }
}
