import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// Every pattern: what it becomes, what it stands for, and what it computes.
@Suite struct SpelledPatternTests {
    private let cpu = CPUDelegate()

    @Test func everyPatternHasANameAndSaysWhatItMatches() {
        #expect(FusionTable.patterns.count >= 15)
        for pattern in FusionTable.patterns { #expect(!pattern.name.isEmpty && !pattern.summary.isEmpty) }
        #expect(Set(FusionTable.patterns.map(\.name)).count == FusionTable.patterns.count)
    }

    @Test(arguments: SpelledPattern.all) func becomes(_ spelled: SpelledPattern) throws {
        var part = try spelled.builder().part()
        for index in part.ops.indices { part.ops[index].location = index }
        let fused = Fusion.run(part, host: cpu)
        #expect(fused.ops.map(\.kind) == spelled.kinds)
        if let pattern = spelled.pattern { #expect(fused.ops.last?.pattern == pattern) }
        // Every op is done by one that is there.
        #expect(Set(fused.ops.flatMap(\.origins).map(\.location)) == Set(part.ops.indices))
        for op in fused.ops where op.kind.info.category.contains(.compilerMade) { #expect(op.pattern != nil) }
    }

    @Test(arguments: SpelledPattern.all) func computesTheSame(_ spelled: SpelledPattern) throws {
        let part = try spelled.builder().part()
        for seed in 0..<3 {
            var dice = Dice(seed)
            let inputs = try part.inputs.map { try HostTensor(random: part[type: $0], &dice) }
            try expectSame(part, inputs, on: cpu, tolerance: spelled.tolerance, "seed \(seed)")
        }
    }
}

/// Runs `part` op by op, and fused and planned.
func expectSame(
    _ part: Subgraph, _ inputs: [HostTensor], on cpu: CPUDelegate, tolerance: Float, _ label: String
) throws {
    let fused = Fusion.run(part, host: cpu)
    let expected = try NaiveExecutor.run(part, inputs, on: cpu)
    let outputs = try part.outputs.map { try HostTensor(allocating: part[type: $0]) }
    try cpu.load(fused).run(
        ExecutionArguments(
            inputs: inputs.map { UnsafeRawPointer($0.pointer) }, states: [], outputs: outputs.map(\.pointer)))
    for (result, reference) in zip(outputs, expected) {
        let (values, references) = (result.numbers() ?? [], reference.numbers() ?? [])
        #expect(values.count == references.count && values.count == result.type.elementCount)
        let worst = zip(values, references).max { error($0) < error($1) }
        guard let worst, error(worst) > Double(tolerance) else { continue }
        Issue.record(
            "\(label): \(worst.0) instead of \(worst.1) in \(fused.ops.map { $0.pattern ?? $0.kind.rawValue })")
    }
}

private func error(_ pair: (Double, Double)) -> Double {
    if pair.0 == pair.1 || (pair.0.isNaN && pair.1.isNaN) { return 0 }
    let distance = abs(pair.0 - pair.1) / max(1, abs(pair.1))
    return distance.isNaN ? .infinity : distance
}

extension HostTensor {
    /// A tensor of floats or bools.
    init(random type: TensorType, _ dice: inout Dice) throws {
        self = try HostTensor(allocating: type)
        for index in 0..<(type.elementCount ?? 0) {
            let number = dice.float()
            switch type.elementType {
            case .bool: pointer.storeBytes(of: number > 0 ? 1 : 0, toByteOffset: index, as: UInt8.self)
            case .float16: pointer.storeBytes(of: Float16(number), toByteOffset: index * 2, as: Float16.self)
            case .bfloat16:
                pointer.storeBytes(of: UInt16(number.bitPattern >> 16), toByteOffset: index * 2, as: UInt16.self)
            default: pointer.storeBytes(of: number, toByteOffset: index * 4, as: Float.self)
            }
        }
    }
}
