import CPUDelegate
import CoreAI
import EngineDelegation
import EngineGraph
import Foundation
import Testing

@testable import EngineCommand

@Suite struct CompareTests {
    private func compare(_ kind: OpKind, _ arguments: String...) async -> Transcript {
        await EngineUnits.$substitutes.withValue([.gpu: WrongUnit(kind: kind)]) {
            await Transcript(["compare"] + arguments + ["--unit", "gpu"])
        }
    }

    @Test func findsTheOpThatIsWrong() async throws {
        let result = await compare(.broadcastingMul, assetFixture("debug_info"), "--reference", "cpu")
        #expect(result.status == 0, "\(result.error)")
        let lines = result.out.split(separator: "\n").map(String.init)
        #expect(lines[0].contains("gpu beside cpu") && lines[0].contains("operations differ"))
        // A few ops differ, and one of them is where it starts.
        let marked = lines.filter { $0.contains(" * ") && !$0.contains("what it reads") }
        #expect(marked.count == 1)
        #expect(marked.first?.contains("broadcasting_mul *") == true && marked.first?.contains("scale.py:6") == true)
    }

    @Test func ordersByDivergence() async throws {
        let result = await compare(.relu, assetFixture("debug_info"), "--json")
        let report = try JSONText.decode(CompareReport.self, from: Data(result.out.utf8))
        #expect(report.operations.map(\.name).first { $0 == "relu" } == "relu")
        for (first, second) in zip(report.operations, report.operations.dropFirst()) {
            #expect(!second.divergence.isWorse(than: first.divergence))
        }
        #expect(report.operations.filter(\.startsDivergence).map(\.name) == ["relu"])
        #expect(report.comparedCount == 3)
        #expect(report.operations.allSatisfy { $0.divergence.maxAbsoluteError > 0 && $0.unit == "gpu" })
    }

    @Test func theSameUnitDoesNotDiffer() async {
        for asset in ["cond", "loop", "states", "data_dependent", "linear_relu"] {
            let result = await Transcript("compare", assetFixture(asset))
            #expect(result.status == 0, "\(asset): \(result.error)")
            #expect(result.out.contains(": 0 of "), "\(asset): \(result.out)")
        }
    }

    @Test func takesTheSourceModelsValues() async throws {
        let model = try await AIModel(contentsOf: URL(fileURLWithPath: assetFixture("linear_relu")))
        let ops = ProbedOps(try #require(try model.loadProbedFunction(named: "main")))
        let relu = try #require(ops.entries.first { $0.op.kind == .relu })
        let identity = try #require(relu.metadata["op_id.coreai"].flatMap { Int($0) })
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data")
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            let x = try floats([1, 2, 3, 4, -1, -2, -3, -4], [2, 4])
            try NumPyFile.write(x, to: data.appendingPathComponent("x_0000.npy").path)
            let input = data.appendingPathComponent("x_0000.npy").path
            let saved = folder.appendingPathComponent("y.npz").path
            _ = await Transcript("run", assetFixture("linear_relu"), "--input", "x=\(input)", "--output", saved)
            let archive = try NumPyArchive(saved)
            var values = try #require(archive.array(archive.names[0]).numbers(asStored: .float32)).asReals.map(
                Float.init)
            values[0] += 1
            try NumPyFile.write(floats(values, [2, 3]), to: data.appendingPathComponent("relu_0001.npy").path)
            let metadata = """
                {"inputs": {"x": {"node_name": "x", "data_file": "data/x_0000.npy"}},
                 "outputs": {"relu": {"node_name": "relu", "data_file": "data/relu_0001.npy"}}, "intermediates": {},
                 "mappings": {"sources": {"torch": {"7": {"dialect": "torch", "id": 7, "identifiers": ["relu"]}}},
                  "outputs": [{"source_level": "torch", "source_op_id": 7, "source_output": 0,
                   "target_level": "coreai", "target_op_id": \(identity), "target_output": 0}]}}
                """
            try Data(metadata.utf8).write(to: folder.appendingPathComponent("metadata.json"))
            let result = await Transcript(
                "compare", assetFixture("linear_relu"), "--reference", folder.path, "--json")
            let report = try JSONText.decode(CompareReport.self, from: Data(result.out.utf8))
            #expect(report.operations.map(\.node) == ["relu"])
            #expect(report.comparedCount == 1)
            #expect(abs((report.operations.first?.divergence.maxAbsoluteError ?? 0) - 1) < 1e-6)
            #expect(report.outputs.count == 1 && report.outputs[0].divergence.isAny)
        }
        #expect(await Transcript("compare", assetFixture("linear_relu"), "--reference", "/nowhere").status == 1)
    }

    @Test func countsWhatIsNoNumber() {
        let divergence = Divergence(
            .reals([1, .nan, .infinity, .infinity, 2, 0]), reference: .reals([1, .nan, .infinity, 4, -.infinity, 0]))
        #expect(divergence.nonFiniteCount == 3 && divergence.nonFiniteReferenceCount == 3)
        #expect(divergence.mismatchedCount == 2)
        #expect(divergence.psnr == .infinity && divergence.maxAbsoluteError == 0)
        let other = Divergence(.reals([1.5, 2]), reference: .reals([1, 2]))
        #expect(other.maxAbsoluteError == 0.5 && other.meanAbsoluteError == 0.25)
        #expect(other.maxRelativeError == 0.5 && other.meanRelativeError == 0.25)
        // 10 · log10(4 / 0.125)
        #expect(abs(other.psnr - 15.0515) < 1e-3)
        #expect(divergence.isWorse(than: other) && !other.isWorse(than: divergence))
        let integers = Divergence(.integers([3, 4]), reference: .integers([3, 2]))
        #expect(integers.maxAbsoluteError == 2)
    }
}

/// A unit that computes as the CPU does, but for one kind of op: its first element is 0.5 too large.
private struct WrongUnit: Delegate {
    let kind: OpKind
    private let cpu = CPUDelegate.shared

    init(kind: OpKind) { self.kind = kind }

    var id: DelegateID { .gpu }
    var profile: UnitProfile { cpu.profile }
    func support(for pattern: Op, in part: Subgraph) -> Support { cpu.support(for: pattern, in: part) }
    func compile(_ part: Subgraph) throws(EngineError) -> CompiledPart { try cpu.compile(part) }
    func makeBuffer(byteCount: Int) throws(EngineError) -> any Buffer { try cpu.makeBuffer(byteCount: byteCount) }
    func makeQueue() throws(EngineError) -> any CommandQueue { try cpu.makeQueue() }

    func load(_ part: CompiledPart) throws(EngineError) -> any Executable {
        // One op at a time, so that what follows sees the error.
        var stages: [Stage] = []
        for op in part.part.ops {
            var single = Subgraph(name: part.part.name, types: part.part.types, ops: [op])
            for operand in Set(op.operands) {
                if let constant = part.part.constants[operand] {
                    single.constants[operand] = constant
                } else {
                    single.inputs.append(operand)
                }
            }
            single.outputs = op.results
            stages.append(Stage(part: single, executable: try cpu.load(single), isWrong: op.kind == kind))
        }
        return WrongExecutable(part: part.part, stages: stages)
    }
}

private struct Stage: Sendable {
    let part: Subgraph
    let executable: any HostExecutable
    let isWrong: Bool
}

private struct WrongExecutable: HostExecutable {
    let part: Subgraph
    let stages: [Stage]
    let workspaceByteCount = 0

    func run(_ arguments: ExecutionArguments) throws(EngineError) {
        var values: [Value: UnsafeMutableRawPointer] = [:]
        var own: [HostTensor] = []
        for (value, pointer) in zip(part.inputs, arguments.inputs) { values[value] = .init(mutating: pointer) }
        for (value, pointer) in zip(part.outputs, arguments.outputs) { values[value] = pointer }
        for stage in stages {
            for value in stage.part.outputs where values[value] == nil {
                let tensor = try HostTensor(allocating: part[type: value])
                own.append(tensor)
                values[value] = tensor.pointer
            }
            try stage.executable.run(
                ExecutionArguments(
                    inputs: stage.part.inputs.map { UnsafeRawPointer(values[$0]!) },
                    outputs: stage.part.outputs.map { values[$0]! }))
            if stage.isWrong, let first = stage.part.outputs.first, let pointer = values[first] {
                let value = pointer.load(as: Float.self)
                pointer.storeBytes(of: value + 0.5, as: Float.self)
            }
        }
        withExtendedLifetime(own) {}
    }
}
