import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineRuntime
import EngineTestSupport
import Foundation
import TestDelegate
import Testing

/// Parts on several units: the same answer as on the CPU alone, whatever goes wrong on the others.
@Suite struct PlacementTests {
    private let cpu = CPUDelegate.shared

    /// A part as a function that can be placed.
    private func executor(_ part: Subgraph, _ choice: UnitChoice) -> FunctionExecutor {
        var graph = Graph(name: part.name, types: part.types.map { .tensor($0) })
        for state in part.states { graph[type: state] = .handle(part[type: state]) }
        graph.body = Region(arguments: part.inputs + part.states, ops: part.ops, results: part.outputs)
        graph.signature.argumentNames = graph.body.arguments.indices.map { "a\($0)" }
        graph.signature.resultNames = part.outputs.indices.map { "r\($0)" }
        let compiled = CompiledGraph(graph: graph, constants: part.constants)
        return FunctionExecutor(CompiledFunction(compiled, host: cpu, delegate: cpu, choice: choice))
    }

    /// The results and the states after a run, as bytes.
    private func bytes(
        _ executor: FunctionExecutor, _ inputs: [HostTensor], _ states: [HostTensor]
    ) throws -> [[UInt8]] {
        let own = try states.map { try $0.copied() }
        let results = try executor.run(inputs + own, destinations: [])
        return results.map(\.bytes) + own.map(\.bytes)
    }

    private func unit(_ name: String, _ change: (inout TestOptions) -> Void = { _ in }) -> TestDelegate {
        var options = TestOptions()
        options.id = DelegateID(name)
        change(&options)
        return TestDelegate(computing: cpu, options)
    }

    /// A matrix product between two elementwise ops, with names for its values.
    private func chain(_ size: Int = 64) throws -> Subgraph {
        var builder = FunctionBuilder()
        let x = builder.input([size, size])
        let y = builder.op(.exp, x)
        let z = builder.op(.batchMatmul, y, x)
        let w = builder.op(.tan, z)
        builder.output(w)
        return try builder.part()
    }

    private func input(_ size: Int = 64) throws -> [HostTensor] {
        var dice = Dice(7)
        return [try HostTensor(dice.floats(size * size), [size, size])]
    }

    @Test func randomPlacementsGiveTheAnswerOfTheCPU() throws {
        let isFull = ProcessInfo.processInfo.environment["ENGINE_FULL_TESTS"] != nil
        let kinds: [OpKind] = [
            .add, .mul, .sub, .exp, .tanh, .relu, .softmax, .reduceSum, .reduceMean, .transpose, .slice, .sliceUpdate,
            .reshape, .elementwise, .layerNorm, .rmsNorm, .broadcastingAdd, .broadcastingMul, .concat,
        ]
        var placedRuns = 0
        for seed in 0..<(isFull ? 5_000 : 200) {
            var random = try RandomPart(seed: seed)
            let (inputs, states) = try random.arguments()
            var dice = Dice(seed + 1)
            let expected = try bytes(executor(random.part, .cpuOnly), inputs, states)
            let units = (0...dice.below(2)).map { index in
                unit("unit\(index)") { options in
                    options.ops = Set(kinds.filter { _ in dice.below(3) > 0 })
                    // Nothing is too slow: what can be placed, is.
                    options.profile = UnitProfile(
                        operationsPerSecond: 1e15, bytesPerSecond: 1e15, launchSeconds: 0,
                        transferBytesPerSecond: 1e15, transferSeconds: 0)
                    options.memory = dice.below(2) == 0 ? .private : .shared
                }
            }
            let choice = UnitChoice(units: units, isPreferred: dice.below(2) == 0)
            let placed = executor(random.part, choice)
            for _ in 0..<2 {
                #expect(try bytes(placed, inputs, states) == expected, "seed \(seed)")
            }
            #expect(placed.units.fallbackCount == 0, "seed \(seed)")
            placedRuns += units.reduce(0) { $0 + $1.counters.runs }
        }
        #expect(placedRuns > 100)
    }

    @Test func theCPUAloneTouchesNoOtherUnit() throws {
        let gpu = unit("gpu")
        let plain = executor(try chain(), .cpuOnly)
        _ = try bytes(plain, try input(), [])
        #expect(gpu.counters.loads == 0 && gpu.counters.queues == 0 && gpu.counters.allocations == 0)
        #expect(try plain.placements(for: [.tensor(TensorType([64, 64], .float32))]).allSatisfy { $0.unit == .cpu })
    }

    @Test func aPreferredUnitRunsWhatItTakesAndTheReasonsAreKept() throws {
        let gpu = unit("gpu") { $0.ops = [.batchMatmul, .matmul] }
        let placed = executor(try chain(256), UnitChoice(units: [gpu], isPreferred: true))
        let expected = try bytes(executor(try chain(256), .cpuOnly), try input(256), [])
        #expect(try bytes(placed, try input(256), []) == expected)
        let placements = try placed.placements(for: [.tensor(TensorType([256, 256], .float32))])
        let product = try #require(placements.first { $0.op.kind == .matmul || $0.op.kind == .batchMatmul })
        #expect(product.unit == .gpu)
        #expect(product.crossingByteCount > 0)
        let exponential = try #require(placements.first { $0.op.kind == .exp || $0.op.kind == .elementwise })
        #expect(exponential.unit == .cpu)
        #expect(exponential.declined[.gpu]?.contains("does not take") == true)
        #expect(gpu.counters.runs == 1)
    }

    @Test func aLoneOpOnASlowRoadStaysWithItsNeighbours() throws {
        let gpu = unit("gpu") { options in
            options.ops = [.tan, .elementwise]
            options.profile.transferSeconds = 1
        }
        let placed = executor(try chain(), UnitChoice(units: [gpu]))
        _ = try bytes(placed, try input(), [])
        #expect(gpu.counters.runs == 0)
        let placements = try placed.placements(for: [.tensor(TensorType([64, 64], .float32))])
        #expect(placements.contains { $0.declined[.gpu]?.contains("costs more") == true })
    }

    @Test func aLostDeviceFallsBackForGood() throws {
        let expected = try bytes(executor(try chain(), .cpuOnly), try input(), [])
        let gpu = unit("gpu") { $0.losesAtWork = 2 }
        let placed = executor(try chain(), UnitChoice(units: [gpu], isPreferred: true))
        for call in 1...3 {
            #expect(try bytes(placed, try input(), []) == expected)
            #expect(placed.units.fallbackCount == call)
        }
        #expect(placed.units.lostUnits[.gpu] != nil)
    }

    @Test func aFailedRunIsDoneAgainWithTheStatesAsTheyWere() throws {
        var builder = FunctionBuilder()
        let state = builder.state([4])
        let x = builder.input([4])
        let token = builder.token()
        let old = builder.read(state, after: token)
        let sum = builder.op(.add, old.value, x)
        _ = builder.write(sum, to: state, after: old.token)
        builder.output(sum)
        let failure = EngineError.outOfMemory(unit: "gpu", byteCount: 4)
        let gpu = unit("gpu") { $0.failures = [.init(.run, 2, failure)] }
        let function = try Compiler.compile(
            builder.program(), function: "main", host: cpu, delegate: cpu,
            choice: UnitChoice(units: [gpu], isPreferred: true))
        let placed = FunctionExecutor(function)
        let memory = try HostTensor([Float](repeating: 0, count: 4), [4])
        for call in 1...4 {
            let results = try placed.run([memory, try HostTensor([1, 2, 3, 4] as [Float], [4])], destinations: [])
            #expect(memory.floats == [1, 2, 3, 4].map { $0 * Float(call) })
            #expect(results[0].floats == memory.floats)
        }
        #expect(placed.units.fallbackCount == 1)
    }

    @Test(arguments: [TestOptions.Action.compile, .load, .allocate, .makeQueue, .run, .copy])
    func whateverFailsTheAnswerIsRight(_ action: TestOptions.Action) throws {
        let expected = try bytes(executor(try chain(), .cpuOnly), try input(), [])
        let failure = EngineError.deviceFailure(unit: "gpu", reason: "made to fail")
        let gpu = unit("gpu") { $0.failures = [.init(action, 1...1000, failure)] }
        let placed = executor(try chain(), UnitChoice(units: [gpu], isPreferred: true))
        #expect(try bytes(placed, try input(), []) == expected)
        let strict = executor(try chain(), UnitChoice(units: [gpu], isPreferred: true, isStrict: true))
        #expect(throws: EngineError.self) { try bytes(strict, try input(), []) }
    }

    @Test func tooLittleMemoryFallsBack() throws {
        let expected = try bytes(executor(try chain(), .cpuOnly), try input(), [])
        let gpu = unit("gpu") { $0.memoryLimit = 20_000 }
        let placed = executor(try chain(), UnitChoice(units: [gpu], isPreferred: true))
        #expect(try bytes(placed, try input(), []) == expected)
        #expect(placed.units.fallbackCount == 1)
    }

    @Test func strictPlacementNamesWhatWouldFallBack() throws {
        let gpu = unit("gpu") { $0.ops = [.batchMatmul, .matmul] }
        let strict = executor(try chain(), UnitChoice(units: [gpu], isPreferred: true, isStrict: true))
        let inputs = try input()
        #expect(
            throws: EngineError.misplaced(
                unit: "gpu", ops: ["exp: gpu does not take exp", "tan: gpu does not take tan"])
        ) { try bytes(strict, inputs, []) }
    }
}
