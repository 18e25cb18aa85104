import EngineDelegation
import EngineGraph

/// Joins chains of elementwise ops: each op takes in those of its operands that are elementwise, of its own size, and
/// read nowhere else.
enum ElementwiseFusion {
    static let pattern = FusionPattern(
        "elementwise", "elementwise ops over one shape, their operands broadcast to it", roots: kinds, fuse: join)

    /// The elementwise machine's limits, with room to spare.
    private static let inputLimit = 16
    private static let instructionLimit = 48

    private static let kinds: Set<OpKind> = {
        var kinds: Set<OpKind> = [.elementwise, .where, .broadcastingWhere]
        for kind in OpKind.allCases where !kind.info.category.isDisjoint(with: .elementwise) { kinds.insert(kind) }
        return kinds
    }()

    /// The program of an elementwise op: its own, or one of one instruction.
    private static func program(of op: Op, _ matcher: PatternMatcher) -> ElementwiseProgram? {
        if case .elementwise(let program) = op.attributes { return program }
        guard kinds.contains(op.kind), op.results.count == 1 else { return nil }
        var approximation = GeluApproximation.none
        if case .approximation(let given) = op.attributes { approximation = given }
        let operands = op.operands.map { matcher.type($0).elementType }
        let result = matcher.type(op.results[0]).elementType
        guard result.isMachineType, operands.allSatisfy(\.isMachineType) else { return nil }
        return ElementwiseProgram(
            inputTypes: operands,
            instructions: [
                .init(
                    kind: op.kind, approximation: approximation, operands: Array(op.operands.indices),
                    resultType: result)
            ])
    }

    @Sendable private static func join(_ op: Op, _ matcher: PatternMatcher) -> Rewrite? {
        guard let program = program(of: op, matcher) else { return nil }
        var producers: [Value: (op: Op, program: ElementwiseProgram)] = [:]
        var order: [Value] = []
        var (inputCount, instructionCount) = (op.operands.count, program.instructions.count)
        for operand in op.operands where producers[operand] == nil {
            let uses = op.operands.count { $0 == operand }
            guard matcher.useCount(operand) == uses, let producer = matcher.definition(operand),
                let inner = self.program(of: producer, matcher),
                isSameSize(matcher.type(operand).shape, matcher.type(op.results[0]).shape),
                instructionCount + inner.instructions.count <= instructionLimit,
                inputCount + producer.operands.count <= inputLimit
            else { continue }
            inputCount += producer.operands.count
            instructionCount += inner.instructions.count
            producers[operand] = (producer, inner)
            order.append(operand)
        }
        guard !order.isEmpty else { return nil }
        // Inputs: those that stay, then those of each producer; equal ones once.
        var operands: [Value] = []
        func number(_ value: Value) -> Int {
            if let known = operands.firstIndex(of: value) { return known }
            operands.append(value)
            return operands.count - 1
        }
        for operand in op.operands where producers[operand] == nil { _ = number(operand) }
        for value in order { for operand in producers[value]?.op.operands ?? [] { _ = number(operand) } }
        var instructions: [ElementwiseProgram.Instruction] = []
        var resultOf: [Value: Int] = [:]
        for value in order {
            guard let producer = producers[value] else { continue }
            instructions += renumbered(
                producer.program, inputs: producer.op.operands.map(number), from: operands.count + instructions.count)
            resultOf[value] = operands.count + instructions.count - 1
        }
        instructions += renumbered(
            program, inputs: op.operands.map { resultOf[$0] ?? number($0) },
            from: operands.count + instructions.count)
        let joined = ElementwiseProgram(
            inputTypes: operands.map { matcher.type($0).elementType }, instructions: instructions)
        return Rewrite(
            Op(
                .elementwise, operands: operands, results: op.results, attributes: .elementwise(joined),
                location: op.location))
    }

    /// Whether a producer's elements are those of the result, one for one: dimensions of one may stand before them.
    private static func isSameSize(_ shape: [Int], _ result: [Int]) -> Bool {
        shape.count <= result.count && result.suffix(shape.count).elementsEqual(shape)
            && result.dropLast(shape.count).allSatisfy { $0 == 1 }
    }

    /// A program's instructions with its inputs and itself numbered as parts of a larger one.
    private static func renumbered(
        _ program: ElementwiseProgram, inputs: [Int], from first: Int
    ) -> [ElementwiseProgram.Instruction] {
        program.instructions.map { instruction in
            var moved = instruction
            moved.operands = instruction.operands.map {
                $0 < program.inputTypes.count ? inputs[$0] : first + $0 - program.inputTypes.count
            }
            return moved
        }
    }
}

extension ElementType {
    /// Whether the elementwise machine computes in this type.
    fileprivate var isMachineType: Bool {
        switch self {
        case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float16, .bfloat16, .float32,
            .float64:
            true
        default: false
        }
    }
}
