import CPUKernels
import EngineDelegation
import EngineGraph

/// Convolutions, plain, transposed, and fused with what surrounds them.
let convolutionKernels: [OpKind: KernelTable.Factory] = [
    .conv2d: convolutionKernel, .conv3d: convolutionKernel, .convolution: convolutionKernel,
    .convTranspose2d: convolutionKernel, .convTranspose3d: convolutionKernel,
]

/// A convolution's weights in the order that its kernel reads them.
final class ConvolutionPlan: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The source, whose address is this layout's key.
    private let source: HostTensor?

    init?(_ geometry: ck_conv, weights: UnsafeRawPointer, source: HostTensor?) {
        var geometry = geometry
        guard let made = ck_conv_plan_create(&geometry, weights) else { return nil }
        pointer = made
        self.source = source
    }

    deinit { ck_conv_plan_destroy(pointer) }
}

private func convolutionKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    var attributes = ConvolutionAttributes()
    if case .convolution(let given) = request.op.attributes { attributes = given }
    let geometry = try ConvolutionGeometry(request, attributes)
    let operandCount = geometry.operandCount
    let biasIndex = attributes.hasBias ? operandCount : nil
    let residualIndex = attributes.hasResidual ? operandCount + (attributes.hasBias ? 1 : 0) : nil
    var epilogue = ck_epilogue()
    epilogue.activation = attributes.activation.ckActivation
    if let bounds = attributes.activation.bounds {
        epilogue.clamps = true
        (epilogue.low, epilogue.high) = bounds
    }
    epilogue.residual_type = geometry.value.out_type
    let template = EpilogueTemplate(epilogue)
    let bias = try biasIndex.map { (index) throws(EngineError) in try BiasSource(request, index) }
    let plan = try request.constants[1].map { (weights) throws(EngineError) in
        try request.weights.value(for: weights, layout: geometry.layoutName) { () throws(EngineError) in
            try makePlan(geometry, weights.pointer, source: weights)
        }
    }
    return Kernel(workspaceByteCount: bias?.workspaceByteCount ?? 0) { arguments throws(EngineError) in
        var epilogue = template.value
        if let bias, let biasIndex { epilogue.bias = bias.pointer(arguments, biasIndex) }
        if let residualIndex { epilogue.residual = arguments.operand(residualIndex) }
        let ready: ConvolutionPlan
        if let plan { ready = plan } else { ready = try makePlan(geometry, arguments.operand(1), source: nil) }
        guard ck_conv_run(ready.pointer, arguments.operand(0), arguments.result(), &epilogue) else {
            throw .outOfMemory(unit: "cpu", byteCount: geometry.outputByteCount)
        }
    }
}

private func makePlan(
    _ geometry: ConvolutionGeometry, _ weights: UnsafeRawPointer, source: HostTensor?
) throws(EngineError) -> ConvolutionPlan {
    guard let plan = ConvolutionPlan(geometry.value, weights: weights, source: source) else {
        throw .outOfMemory(unit: "cpu", byteCount: geometry.weightByteCount)
    }
    return plan
}

/// `@unchecked Sendable`: the pointers in it are filled by each run in a copy of its own.
private struct EpilogueTemplate: @unchecked Sendable {
    let value: ck_epilogue

    init(_ value: ck_epilogue) { self.value = value }
}

/// The sizes of a convolution, as the C kernels take them.
private struct ConvolutionGeometry: Sendable {
    private(set) var value = ck_conv()
    /// The operands of the plain op, before bias and residual.
    let operandCount: Int
    let weightByteCount: Int
    let outputByteCount: Int
    /// Tells apart the layouts of one weight.
    private(set) var layoutName = ""

    init(_ request: KernelRequest, _ attributes: ConvolutionAttributes) throws(EngineError) {
        let input = request.operands[0]
        let weight = request.operands[1]
        let result = request.results[0]
        let isTransposed =
            attributes.isTransposed || request.op.kind == .convTranspose2d || request.op.kind == .convTranspose3d
        let spatialRank = input.rank - 2
        operandCount = isTransposed ? 7 : 5
        weightByteCount = weight.byteCount ?? 0
        outputByteCount = result.byteCount ?? 0
        guard [.float32, .float16, .bfloat16].contains(input.elementType), (1...3).contains(spatialRank),
            weight.rank == input.rank, result.rank == input.rank
        else { throw request.declined("convolutions of \(input) with \(weight)") }
        let groups = try request.integer(isTransposed ? 6 : 4, "groups")
        let strides = try request.integers(2, "stride")
        let dilations = try request.integers(isTransposed ? 4 : 3, "dilation")
        guard groups > 0, strides.count == spatialRank, dilations.count == spatialRank else {
            throw request.declined("\(groups) groups, strides \(strides), dilations \(dilations)")
        }
        value.batch = input.shape[0]
        value.in_channels = input.shape[1]
        value.out_channels = result.shape[1]
        value.groups = groups
        value.transposed = isTransposed
        value.in_type = try input.elementType.ckType(request)
        value.weight_type = try weight.elementType.ckType(request)
        value.out_type = try result.elementType.ckType(request)
        value.in = Self.spatial(Array(input.shape.dropFirst(2)), one: 1)
        value.kernel = Self.spatial(Array(weight.shape.dropFirst(2)), one: 1)
        value.stride = Self.spatial(strides, one: 1)
        value.dilation = Self.spatial(dilations, one: 1)
        var before = Array(repeating: 0, count: spatialRank)
        var after = before
        if isTransposed {
            let padding = try request.integers(3, "padding")
            let extra = try request.integers(5, "output_pad")
            guard extra.count == spatialRank else { throw request.declined("output padding \(extra)") }
            value.out_pad = Self.spatial(extra, one: 0)
            guard padding.count == spatialRank else { throw request.declined("padding \(padding)") }
            (before, after) = (padding, padding)
        } else if attributes.padding.count == 2 * spatialRank {
            before = (0..<spatialRank).map { attributes.padding[2 * $0] }
            after = (0..<spatialRank).map { attributes.padding[2 * $0 + 1] }
        }
        value.pad_before = Self.spatial(before, one: 0)
        value.pad_after = Self.spatial(after, one: 0)
        layoutName = "convolution \(value) \(ck_cpu_level())"
    }

    /// Depth, height, width; `one` stands for a dimension that is not there.
    private static func spatial(_ values: [Int], one: Int) -> (Int, Int, Int) {
        let padded = Array(repeating: one, count: 3 - values.count) + values
        return (padded[0], padded[1], padded[2])
    }
}
