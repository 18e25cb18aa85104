import CPUKernels
import EngineDelegation
import EngineGraph

/// How the dialect's elementwise ops are called in the elementwise machine.
enum ElementwiseOp {
    /// The kinds that are elementwise, with and without broadcasting.
    static let kinds: [OpKind] = Array(unary.keys) + Array(binary.keys) + [.gelu, .cast, .where, .broadcastingWhere]

    static let unary: [OpKind: ck_ew_op] = [
        .abs: CK_EW_ABS, .acos: CK_EW_ACOS, .acosh: CK_EW_ACOSH, .asin: CK_EW_ASIN, .asinh: CK_EW_ASINH,
        .atan: CK_EW_ATAN, .atanh: CK_EW_ATANH, .cos: CK_EW_COS, .cosh: CK_EW_COSH, .erf: CK_EW_ERF,
        .exp: CK_EW_EXP, .log: CK_EW_LOG, .not: CK_EW_NOT, .round: CK_EW_ROUND, .rsqrt: CK_EW_RSQRT, .sin: CK_EW_SIN,
        .sinh: CK_EW_SINH, .sqrt: CK_EW_SQRT, .tan: CK_EW_TAN, .tanh: CK_EW_TANH, .relu: CK_EW_RELU,
        .sigmoid: CK_EW_SIGMOID, .silu: CK_EW_SILU,
    ]

    static let binary: [OpKind: ck_ew_op] = [
        .add: CK_EW_ADD, .sub: CK_EW_SUB, .mul: CK_EW_MUL, .divide: CK_EW_DIVIDE, .floorDivide: CK_EW_FLOOR_DIVIDE,
        .modulo: CK_EW_MODULO, .pow: CK_EW_POW, .maximum: CK_EW_MAXIMUM, .minimum: CK_EW_MINIMUM,
        .equal: CK_EW_EQUAL, .notEqual: CK_EW_NOT_EQUAL, .greater: CK_EW_GREATER, .logicalAnd: CK_EW_AND,
        .logicalOr: CK_EW_OR, .logicalXor: CK_EW_XOR, .bitwiseAnd: CK_EW_AND, .bitwiseOr: CK_EW_OR,
        .bitwiseXor: CK_EW_XOR,
        .broadcastingAdd: CK_EW_ADD, .broadcastingSub: CK_EW_SUB, .broadcastingMul: CK_EW_MUL,
        .broadcastingDivide: CK_EW_DIVIDE, .broadcastingFloorDivide: CK_EW_FLOOR_DIVIDE,
        .broadcastingModulo: CK_EW_MODULO, .broadcastingPow: CK_EW_POW, .broadcastingMaximum: CK_EW_MAXIMUM,
        .broadcastingMinimum: CK_EW_MINIMUM, .broadcastingEqual: CK_EW_EQUAL,
        .broadcastingNotEqual: CK_EW_NOT_EQUAL, .broadcastingGreater: CK_EW_GREATER,
        .broadcastingLogicalAnd: CK_EW_AND, .broadcastingLogicalOr: CK_EW_OR, .broadcastingLogicalXor: CK_EW_XOR,
        .broadcastingBitwiseAnd: CK_EW_AND, .broadcastingBitwiseOr: CK_EW_OR, .broadcastingBitwiseXor: CK_EW_XOR,
    ]
}

/// Translates a program of the graph to one of the machine. Operands that are single constants become the machine's
/// constants, and are no inputs any more.
struct MachineProgramBuilder {
    private let program: ElementwiseProgram
    private let request: KernelRequest
    /// The operands that stay inputs.
    private(set) var inputs: [Int] = []

    init(_ program: ElementwiseProgram, _ request: KernelRequest) {
        self.program = program
        self.request = request
    }

    mutating func build() throws(EngineError) -> MachineProgram {
        var constants: [ck_ew_constant] = []
        var constantOf: [Int: Int] = [:]
        for (index, type) in program.inputTypes.enumerated() {
            // The result's shape must not depend on a constant that is left out: one element never decides it.
            if let constant = try scalar(index, type) {
                constantOf[index] = constants.count
                constants.append(constant)
            } else {
                inputs.append(index)
            }
        }
        var numbers: [UInt16] = []
        for index in program.inputTypes.indices {
            if let position = constantOf[index] {
                numbers.append(UInt16(inputs.count + position))
            } else {
                numbers.append(UInt16(inputs.firstIndex(of: index) ?? 0))
            }
        }
        var instructions: [ck_ew_instruction] = []
        for instruction in program.instructions {
            var operands = instruction.operands.map { numbers[$0] }
            operands += Array(repeating: 0, count: max(0, 3 - operands.count))
            for step in try steps(instruction) {
                var step = step
                (step.a, step.b, step.c) = (operands[0], operands[1], operands[2])
                instructions.append(step)
                operands[0] = UInt16(inputs.count + constants.count + instructions.count - 1)
            }
            numbers.append(UInt16(inputs.count + constants.count + instructions.count - 1))
        }
        let result = try request.results[0].elementType.ckType(request)
        let output = ck_ew_output(value: numbers[numbers.count - 1], type: result)
        var inputTypes: [ck_type] = []
        for input in inputs { inputTypes.append(try program.inputTypes[input].ckType(request)) }
        let made = ck_ew_create(
            inputTypes, Int32(inputTypes.count), constants, Int32(constants.count), instructions,
            Int32(instructions.count), [output], 1)
        guard let made else {
            throw request.declined(
                "the elementwise kernel does not take \(program.inputTypes.map(\.dialectName).joined(separator: ", "))")
        }
        return MachineProgram(made)
    }

    private func scalar(_ index: Int, _ type: ElementType) throws(EngineError) -> ck_ew_constant? {
        guard let tensor = request.constants[index], tensor.type.elementCount == 1 else { return nil }
        let machineType = try self.machineType(type)
        if let integers = tensor.integers(), type.bitWidth <= 32 {
            return ck_ew_constant(type: machineType, real: 0, integer: Int64(integers[0]))
        }
        guard type.isFloat, let numbers = tensor.numbers() else { return nil }
        return ck_ew_constant(type: machineType, real: numbers[0], integer: 0)
    }

    /// The class that values of this type have inside a program.
    private func machineType(_ type: ElementType) throws(EngineError) -> ck_type {
        let own = try type.ckType(request)
        return own == CK_F16 || own == CK_BF16 ? CK_F32 : own
    }

    private func steps(_ instruction: ElementwiseProgram.Instruction) throws(EngineError) -> [ck_ew_instruction] {
        let operandType = program.type(of: instruction.operands[0])
        let type = try machineType(operandType)
        func step(_ op: ck_ew_op, _ type: ck_type, to: ck_type = CK_F32) -> ck_ew_instruction {
            ck_ew_instruction(op: op, type: type, to: to, a: 0, b: 0, c: 0)
        }
        switch instruction.kind {
        case .gelu:
            let op =
                switch instruction.approximation {
                case .none: CK_EW_GELU
                case .tanh: CK_EW_GELU_TANH
                case .sigmoid: CK_EW_GELU_SIGMOID
                }
            return [step(op, type)]
        case .cast:
            let target = try machineType(instruction.resultType)
            var steps: [ck_ew_instruction] = []
            if target != type { steps.append(step(CK_EW_CAST, type, to: target)) }
            // A cast rounds, also where the value goes on in a wider type.
            if instruction.resultType == .float16, operandType != .float16 {
                steps.append(step(CK_EW_ROUND_F16, target))
            }
            if instruction.resultType == .bfloat16, operandType != .bfloat16 {
                steps.append(step(CK_EW_ROUND_BF16, target))
            }
            if steps.isEmpty { steps.append(step(CK_EW_CAST, type, to: target)) }
            return steps
        case .where, .broadcastingWhere:
            return [step(CK_EW_WHERE, try machineType(instruction.resultType))]
        default:
            guard let op = ElementwiseOp.unary[instruction.kind] ?? ElementwiseOp.binary[instruction.kind] else {
                throw request.declined("\(instruction.kind.rawValue) is not elementwise")
            }
            return [step(op, type)]
        }
    }
}
