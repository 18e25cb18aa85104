import CPUKernels
import EngineDelegation
import EngineGraph

func interpolateKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let source = try SampledArray(request)
    let output = request.results[0].shape
    guard output.count == source.rank else { throw request.declined("\(request.operands[0]) to \(request.results)") }
    let scale = try FloatOperand(request, index: 2, count: source.rank)
    let offset = try FloatOperand(request, index: 3, count: source.rank)
    // A scalar is resized as a vector of one.
    let extents = (output.isEmpty ? [1] : output).map { Int64($0) }
    return Kernel { arguments throws(EngineError) in
        var scales = scale.values(arguments)
        var offsets = offset.values(arguments)
        guard scales.allSatisfy({ $0.isFinite && $0 != 0 }) else {
            throw .invalidValue(op: "interpolate", reason: "the scales are \(scales)")
        }
        if output.isEmpty { (scales, offsets) = ([1], [0]) }
        try source.sample(arguments) { (type, result, input) in
            ck_interpolate(
                source.mode, type, result, input, Int32(extents.count), source.extents, extents, scales, offsets)
        }
    }
}

func interpolateCoordinatesKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let source = try SampledArray(request)
    let shape = request.operands[1].shape
    guard shape.count == 2, shape[1] == source.rank, request.results[0].shape == [shape[0]] else {
        throw request.declined("\(request.operands) to \(request.results)")
    }
    let points = try FloatOperand(request, index: 1, count: try ShapeMath(request.op.kind).product(shape[0], shape[1]))
    return Kernel { arguments throws(EngineError) in
        var coordinates = points.values(arguments)
        if source.rank == 0 { coordinates = [Float](repeating: 0, count: shape[0]) }
        try source.sample(arguments) { (type, result, input) in
            ck_interpolate_points(
                source.mode, type, result, input, Int32(source.extents.count), source.extents, coordinates, shape[0])
        }
    }
}

/// The array that values are taken from.
private struct SampledArray: Sendable {
    let mode: ck_interpolate_mode
    let rank: Int
    /// At least one dimension.
    let extents: [Int64]
    private let kind: OpKind
    private let type: ck_type

    init(_ request: KernelRequest) throws(EngineError) {
        let input = request.operands[0]
        kind = request.op.kind
        rank = input.rank
        extents = (input.shape.isEmpty ? [1] : input.shape).map { Int64($0) }
        guard rank <= 8 else { throw request.declined("\(rank) dimensions") }
        type = try input.elementType.ckType(request)
        guard case .interpolation(let mode) = request.op.attributes else {
            throw request.declined("there is no interpolation mode")
        }
        self.mode = mode == .nearest ? CK_INTERPOLATE_NEAREST : CK_INTERPOLATE_LINEAR
        // There is nothing between true and false.
        guard mode == .nearest || input.elementType != .bool else { throw request.declined("bool elements") }
    }

    func sample(
        _ arguments: KernelArguments, _ body: (ck_type, UnsafeMutableRawPointer, UnsafeRawPointer) -> Bool
    ) throws(EngineError) {
        guard body(type, arguments.result(), arguments.operand(0)) else {
            throw .invalidValue(op: kind.rawValue, reason: "the input is empty, or memory is short")
        }
    }
}

/// Numbers that are known when the kernel is made, or read at each run.
private struct FloatOperand: Sendable {
    private let index: Int
    private let count: Int
    private let type: ck_type
    private let known: [Float]?

    init(_ request: KernelRequest, index: Int, count: Int) throws(EngineError) {
        self.index = index
        self.count = count
        let operand = request.operands[index]
        type = try operand.elementType.ckType(request)
        guard operand.elementCount == count else {
            throw request.declined("operand \(index) of type \(operand), expected \(count) elements")
        }
        let constant = index < request.constants.count ? request.constants[index] : nil
        known = constant.map { [type] in Self.floats($0.pointer, type, count) }
    }

    func values(_ arguments: KernelArguments) -> [Float] {
        known ?? Self.floats(arguments.operand(index), type, count)
    }

    private static func floats(_ address: UnsafeRawPointer, _ type: ck_type, _ count: Int) -> [Float] {
        [Float](unsafeUninitializedCapacity: count) { buffer, initialized in
            if let start = buffer.baseAddress { ck_cast(CK_F32, start, type, address, count) }
            initialized = count
        }
    }
}
