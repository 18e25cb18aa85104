import EngineDelegation
import EngineGraph

/// Joins chains of elementwise ops: each op takes in those of its operands that are elementwise, of its own size, and
/// read nowhere else.
struct ElementwiseFusion {
    /// The elementwise machine's limits, with room to spare.
    private static let inputLimit = 16
    private static let instructionLimit = 48

    private var part: Subgraph
    private var ops: [Op?] = []
    private var definitions: [Int?]
    private var useCounts: [Int]

    init(_ part: Subgraph) {
        self.part = part
        definitions = part.types.map { _ in nil }
        useCounts = part.types.map { _ in 0 }
        for op in part.ops { for operand in op.operands { useCounts[operand.index] += 1 } }
        for output in part.outputs { useCounts[output.index] += 1 }
    }

    mutating func run() -> Subgraph {
        for op in part.ops {
            let joined = program(of: op).map { join(op, $0) } ?? op
            for result in joined.results { definitions[result.index] = ops.count }
            ops.append(joined)
        }
        part.ops = ops.compactMap { $0 }
        return part
    }

    /// The program of an elementwise op: its own, or one of one instruction.
    private func program(of op: Op) -> ElementwiseProgram? {
        if case .elementwise(let program) = op.attributes { return program }
        let isElementwise =
            !op.kind.info.category.isDisjoint(with: .elementwise) || op.kind == .where || op.kind == .broadcastingWhere
        guard isElementwise, op.results.count == 1 else { return nil }
        var approximation = GeluApproximation.none
        if case .approximation(let given) = op.attributes { approximation = given }
        let types = op.operands.map { part[type: $0].elementType } + [part[type: op.results[0]].elementType]
        guard types.allSatisfy(\.isMachineType) else { return nil }
        return ElementwiseProgram(
            inputTypes: Array(types.dropLast()),
            instructions: [
                .init(
                    kind: op.kind, approximation: approximation, operands: Array(op.operands.indices),
                    resultType: types[types.count - 1])
            ])
    }

    private mutating func join(_ op: Op, _ program: ElementwiseProgram) -> Op {
        var operands: [Value] = []
        var producers: [(position: Int, op: Op, program: ElementwiseProgram)] = []
        for (position, operand) in op.operands.enumerated() {
            let uses = op.operands.filter { $0 == operand }.count
            guard !producers.contains(where: { $0.op.results[0] == operand }) else { continue }
            guard useCounts[operand.index] == uses, let index = definitions[operand.index], let producer = ops[index],
                let inner = self.program(of: producer),
                part[type: producer.results[0]].shape == part[type: op.results[0]].shape,
                producers.reduce(
                    program.instructions.count + inner.instructions.count,
                    {
                        $0 + $1.program.instructions.count
                    }) <= Self.instructionLimit,
                producers.reduce(op.operands.count + producer.operands.count, { $0 + $1.op.operands.count })
                    <= Self.inputLimit
            else { continue }
            producers.append((position, producer, inner))
        }
        guard !producers.isEmpty else { return op }
        // Inputs: those that stay, then those of each producer; equal ones once.
        func number(_ value: Value) -> Int {
            if let known = operands.firstIndex(of: value) { return known }
            operands.append(value)
            return operands.count - 1
        }
        let absorbed = Dictionary(producers.map { ($0.op.results[0], $0) }) { first, _ in first }
        for operand in op.operands where absorbed[operand] == nil { _ = number(operand) }
        for producer in producers { for operand in producer.op.operands { _ = number(operand) } }
        var instructions: [ElementwiseProgram.Instruction] = []
        var resultOf: [Value: Int] = [:]
        for producer in producers {
            instructions += renumbered(
                producer.program, inputs: producer.op.operands.map(number), from: operands.count + instructions.count)
            resultOf[producer.op.results[0]] = operands.count + instructions.count - 1
            if let index = definitions[producer.op.results[0].index] { ops[index] = nil }
        }
        instructions += renumbered(
            program, inputs: op.operands.map { resultOf[$0] ?? number($0) },
            from: operands.count + instructions.count)
        let joined = ElementwiseProgram(
            inputTypes: operands.map { part[type: $0].elementType }, instructions: instructions)
        var fused = Op(
            .elementwise, operands: operands, results: op.results, attributes: .elementwise(joined),
            location: op.location)
        fused.fused = producers.flatMap(\.op.origins) + op.origins
        return fused
    }

    /// A program's instructions with its inputs and itself numbered as parts of a larger one.
    private func renumbered(
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
