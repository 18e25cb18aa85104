import CPUKernels
import EngineDelegation
import EngineGraph

/// Ops that make complex numbers or take them apart. The other elementwise ops come here where they meet one.
let complexKernels: [OpKind: KernelTable.Factory] = [
    .createComplex: complexKernel, .realPart: complexKernel, .imaginaryPart: complexKernel,
]

extension KernelRequest {
    /// Whether any of its tensors holds complex numbers.
    var hasComplex: Bool {
        operands.contains { $0.elementType.isComplex } || results.contains { $0.elementType.isComplex }
    }
}

/// An elementwise op on complex numbers, with and without broadcasting.
func complexKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let name = request.op.kind.rawValue
    let result = request.results[0]
    let elements = try request.operands.map { (operand) throws(EngineError) in
        try complexElement(operand.elementType, request)
    }
    let element = try complexElement(result.elementType, request)
    guard let op = complexOps[request.op.kind], elements.count == Int(ck_complex_operand_count(op)) else {
        throw request.declined("complex elements")
    }
    let layout = BroadcastLayout(result: result.shape, operands: request.operands.map(\.shape))
    let extents = layout.extents
    let strides = layout.strides.flatMap { $0 }
    // A block is read before it is written, so an operand laid out as the result is may be the result.
    let inPlace = request.operands.indices.filter {
        request.operands[$0].shape == result.shape
            && request.operands[$0].elementType.bitWidth == result.elementType.bitWidth
    }
    return Kernel(inPlaceOperands: inPlace) { arguments throws(EngineError) in
        let inputs = UnsafeRawPointer(arguments.pointers).assumingMemoryBound(to: UnsafeRawPointer?.self)
        guard
            ck_complex_run(
                op, element, elements, Int32(extents.count), extents, inputs, strides, arguments.result())
        else { throw .invalidValue(op: name, reason: "the CPU does not compute it on these types") }
    }
}

private let complexOps: [OpKind: ck_complex_op] = [
    .createComplex: CK_CX_CREATE, .realPart: CK_CX_REAL, .imaginaryPart: CK_CX_IMAGINARY, .cast: CK_CX_CAST,
    .add: CK_CX_ADD, .sub: CK_CX_SUB, .mul: CK_CX_MUL, .divide: CK_CX_DIVIDE, .pow: CK_CX_POW,
    .broadcastingAdd: CK_CX_ADD, .broadcastingSub: CK_CX_SUB, .broadcastingMul: CK_CX_MUL,
    .broadcastingDivide: CK_CX_DIVIDE, .broadcastingPow: CK_CX_POW,
    .equal: CK_CX_EQUAL, .notEqual: CK_CX_NOT_EQUAL,
    .broadcastingEqual: CK_CX_EQUAL, .broadcastingNotEqual: CK_CX_NOT_EQUAL,
    .exp: CK_CX_EXP, .log: CK_CX_LOG, .sin: CK_CX_SIN, .cos: CK_CX_COS, .tan: CK_CX_TAN,
    .sinh: CK_CX_SINH, .cosh: CK_CX_COSH, .sigmoid: CK_CX_SIGMOID, .silu: CK_CX_SILU,
    .where: CK_CX_WHERE, .broadcastingWhere: CK_CX_WHERE,
]

private func complexElement(
    _ type: ElementType, _ request: KernelRequest
) throws(EngineError) -> ck_complex_element {
    ck_complex_element(part: try (type.complexPart ?? type).ckType(request), is_complex: type.isComplex)
}
