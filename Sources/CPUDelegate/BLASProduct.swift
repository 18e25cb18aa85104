import COpenBLAS
import CPUKernels
import EngineDelegation
import EngineGraph

/// An f32 product on OpenBLAS: for processors that the packed kernels have no vector code for.
///
/// The result starts as bias plus residual, the product is added, and the activation runs over it in place.
struct BLASProduct: Sendable {
    private let shape: ProductShape
    private let attributes: MatmulAttributes
    private let start: MachineProgram?
    private let finish: MachineProgram?
    private let extents: [Int64]

    /// Nil where the product is not in f32, or where the packed kernels are at home.
    init?(_ request: KernelRequest, _ shape: ProductShape, _ attributes: MatmulAttributes) throws(EngineError) {
        let types = request.operands.map(\.elementType) + request.results.map(\.elementType)
        guard ck_cpu_level() == 0, types.allSatisfy({ $0 == .float32 }),
            max(shape.m, shape.n, shape.k) <= Int(Int32.max)
        else { return nil }
        self.shape = shape
        self.attributes = attributes
        let count = request.results[0].elementCount ?? 0
        extents = [Int64(shape.n > 0 ? count / shape.n : 0), Int64(shape.n)]
        let addition = ck_ew_instruction(op: CK_EW_ADD, type: CK_F32, to: CK_F32, a: 0, b: 1, c: 0)
        start =
            attributes.hasBias && attributes.hasResidual
            ? Self.program(inputs: 2, [addition]) : nil
        finish = Self.activation(attributes.activation)
    }

    private static func program(
        inputs: Int, constants: [ck_ew_constant] = [], _ instructions: [ck_ew_instruction]
    ) -> MachineProgram? {
        let types = Array(repeating: CK_F32, count: inputs)
        let last = UInt16(inputs + constants.count + instructions.count - 1)
        return ck_ew_create(
            types, Int32(inputs), constants, Int32(constants.count), instructions, Int32(instructions.count),
            [ck_ew_output(value: last, type: CK_F32)], 1
        ).map(MachineProgram.init)
    }

    private static func activation(_ activation: Activation) -> MachineProgram? {
        func unary(_ op: ck_ew_op) -> MachineProgram? {
            program(inputs: 1, [ck_ew_instruction(op: op, type: CK_F32, to: CK_F32, a: 0, b: 0, c: 0)])
        }
        switch activation {
        case .none: return nil
        case .relu: return unary(CK_EW_RELU)
        case .sigmoid: return unary(CK_EW_SIGMOID)
        case .silu: return unary(CK_EW_SILU)
        case .tanh: return unary(CK_EW_TANH)
        case .gelu(.none): return unary(CK_EW_GELU)
        case .gelu(.tanh): return unary(CK_EW_GELU_TANH)
        case .gelu(.sigmoid): return unary(CK_EW_GELU_SIGMOID)
        case .clamp(let low, let high):
            return program(
                inputs: 1,
                constants: [
                    ck_ew_constant(type: CK_F32, real: Double(low), integer: 0),
                    ck_ew_constant(type: CK_F32, real: Double(high), integer: 0),
                ],
                [
                    ck_ew_instruction(op: CK_EW_MAXIMUM, type: CK_F32, to: CK_F32, a: 0, b: 1, c: 0),
                    ck_ew_instruction(op: CK_EW_MINIMUM, type: CK_F32, to: CK_F32, a: 3, b: 2, c: 0),
                ])
        }
    }

    func run(_ arguments: KernelArguments) {
        let bias = attributes.hasBias ? arguments.operand(2) : nil
        let residual = attributes.hasResidual ? arguments.operand(attributes.hasBias ? 3 : 2) : nil
        let result = arguments.result(as: Float.self)
        let count = Int(extents[0] * extents[1])
        if let start {
            run(start, [bias, residual], strides: [0, 1, extents[1], 1], arguments.result())
        } else if let residual {
            arguments.result().copyMemory(from: residual, byteCount: count * 4)
        } else if let bias {
            for row in 0..<Int(extents[0]) {
                (arguments.result() + row * shape.n * 4).copyMemory(from: bias, byteCount: shape.n * 4)
            }
        }
        let (m, n, k) = (Int32(shape.m), Int32(shape.n), Int32(shape.k))
        let isAdded = bias != nil || residual != nil
        for (call, offset) in shape.outer.enumerated() {
            for matrix in 0..<shape.inner.count {
                let x = arguments.operand(0, as: Float.self) + offset.x + matrix * shape.inner.x
                let y = arguments.operand(1, as: Float.self) + offset.y + matrix * shape.inner.y
                let target = result + (call * shape.inner.count + matrix) * shape.m * shape.n
                cblas_sgemm(
                    CblasRowMajor, attributes.transposesX ? CblasTrans : CblasNoTrans,
                    attributes.transposesY ? CblasTrans : CblasNoTrans, m, n, k, 1, x,
                    max(attributes.transposesX ? m : k, 1), y, max(attributes.transposesY ? k : n, 1),
                    isAdded ? 1 : 0, target, max(n, 1))
            }
        }
        if let finish {
            run(finish, [UnsafeRawPointer(arguments.result())], strides: [extents[1], 1], arguments.result())
        }
    }

    private func run(
        _ program: MachineProgram, _ inputs: [UnsafeRawPointer?], strides: [Int64], _ output: UnsafeMutableRawPointer
    ) {
        var target: UnsafeMutableRawPointer? = output
        _ = ck_ew_run(program.pointer, 2, extents, inputs, strides, &target)
    }
}
