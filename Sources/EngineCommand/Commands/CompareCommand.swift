import CoreAI
import EngineDelegation
import EngineGraph
import Foundation

/// `engine compare`: which operations of a unit's run are furthest from a reference.
enum CompareCommand: Subcommand {
    static let spec = CommandSpec(
        name: "compare", summary: "Compares every operation of a run with a reference, and shows where they diverge.",
        operands: "ASSET", operandCount: 1...1,
        options: [
            ComputeUnit.option,
            OptionSpec(
                "--reference", "cpu|DIR.aimodelintermediates",
                help:
                    "the CPU's run, operation by operation, if not given; or what coreai-torch saved of the source model"
            ),
            OptionSpec("--function", "NAME", help: "the function; main, or the only one, if not given"),
        ] + ArraySource.options + [
            OptionSpec("--seed", "N", help: "what the made-up numbers grow from; 0, if not given"),
            OptionSpec("--top", "N", help: "how many operations to show; 20, if not given"),
            OptionSpec("--json", help: "print JSON, with every operation that differs"),
        ],
        notes: [
            "Inputs without a file come from the reference's folder, or are made up. The operations run one by one on "
                + "both sides; what they give is compared, the worst first: PSNR in decibels, absolute and relative errors, "
                + "and how many values are infinite or no numbers."
        ],
        examples: [
            "engine compare model.aimodel --unit gpu --reference cpu",
            "engine compare model.aimodel --unit cpu --reference main.aimodelintermediates",
        ])

    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        let unit = try ComputeUnit(arguments)
        let source = try ArraySource(arguments, openExtent: 1)
        let seed = try arguments.integer("--seed", atLeast: 0) ?? 0
        let top = try arguments.integer("--top", atLeast: 1) ?? 20
        let reference = arguments.value("--reference") ?? "cpu"
        let folder = reference == "cpu" ? nil : try Intermediates(reference)
        let path = arguments.operands[0]
        let asset = URL(fileURLWithPath: path)
        let session = try await ModelSession(path, functionName: arguments.value("--function"), unit: unit)
        if !unit.isAvailable { console.note(unit.absence) }
        let name = session.descriptor.name
        let inputs = try source.inputs(
            for: session, seed: UInt64(seed), known: try folder.map { try $0.inputs(of: session) } ?? [:],
            remark: console.note)
        let states = try source.states(for: session, remark: console.note)

        let model = try await AIModel(contentsOf: asset, options: unit.options)
        guard let probed = try model.loadProbedFunction(named: name) else {
            throw CommandError.failure("\(path) has no function '\(name)'")
        }
        let ops = ProbedOps(probed)
        let comparer = Comparer(ops)
        let units: [Value: String]
        var expected: [(name: String, numbers: Numbers)] = []
        if let folder {
            if !folder.hasMappings {
                comparer.remark("the folder does not say which operations its values are of: save it with the program")
            }
            units = try await compare(probed, inputs, states, ops, with: folder, comparer)
            expected = try folder.outputs(of: session)
        } else {
            let cpu = try await AIModel(contentsOf: asset, options: .cpuOnly)
            guard let other = try cpu.loadProbedFunction(named: name) else {
                throw CommandError.failure("\(path) has no function '\(name)'")
            }
            let values = ReferenceValues()
            let result = try await ProbedRun.run(other, inputs, states: states) { value, _, tensor in
                values.keep(value, tensor)
            }
            for (name, array) in result.outputs { expected.append((name, try array.numbers())) }
            units = try await ProbedRun.run(probed, inputs, states: states) { value, round, tensor in
                guard let reference = values.tensor(value, round: round)?.elements else { return }
                comparer.compare(value, tensor, reference)
            }.units
        }
        var usual = states
        let outputs = try await session.call(inputs, states: &usual)
        let report = CompareReport(
            function: name, unit: unit.computing.rawValue, reference: folder == nil ? "cpu" : lastComponent(reference),
            operations: comparer.operations(units), comparedCount: comparer.comparedCount, remarks: comparer.remarks,
            outputs: try outputs.compactMap { output in
                guard let numbers = expected.first(where: { $0.name == output.name })?.numbers else { return nil }
                return CompareReport.Output(
                    name: output.name, divergence: Divergence(try output.array.numbers(), reference: numbers))
            })
        if arguments.has("--json") {
            console.out(try JSONText.encode(report))
        } else {
            for line in CompareText.lines(report, top: top, console.style) { console.out(line) }
        }
        return 0
    }

    private static func lastComponent(_ folder: String) -> String { URL(fileURLWithPath: folder).lastPathComponent }

    /// Compares with the values of a folder, each with the last op that the source model's node became.
    private static func compare(
        _ function: InferenceFunction, _ inputs: [String: NDArray], _ states: [String: NDArray], _ ops: ProbedOps,
        with folder: Intermediates, _ comparer: Comparer
    ) async throws -> [Value: String] {
        var nodes: [String: Value] = [:]
        for entry in ops.entries {
            for (output, value) in entry.op.results.enumerated() {
                if let node = folder.node(of: entry.metadata, output: output) { nodes[node] = value }
            }
        }
        let names = Dictionary(nodes.map { ($0.value, $0.key) }) { first, _ in first }
        return try await ProbedRun.run(function, inputs, states: states) { value, _, tensor in
            guard let node = names[value] else { return }
            do {
                guard let numbers = try folder.array(node).numbers(asStored: tensor.type.elementType) else { return }
                comparer.compare(value, tensor, numbers, node: node)
            } catch {
                comparer.remark("\(node): \(CommandError(describing: error).message)")
            }
        }.units
    }
}

extension Intermediates {
    /// The folder's inputs for a call: by their names, else in their order.
    func inputs(of session: ModelSession) throws(CommandError) -> [String: NDArray] {
        let names = session.descriptor.inputNames
        var result: [String: NDArray] = [:]
        for (index, name) in names.enumerated() {
            let node: String
            if inputNames.contains(name) {
                node = name
            } else if inputNames.count == names.count {
                node = inputNames[index]
            } else {
                continue
            }
            let expected = session.arrayDescriptor(name, isState: false)?.scalarType
            let array = try array(node)
            do {
                let converted = try expected.flatMap { type throws(CommandError) in
                    try array.converted(to: type.elementType)
                }
                result[name] = try NDArray(converted ?? array, expected: expected)
            } catch {
                throw error.about("input '\(name)'")
            }
        }
        return result
    }

    /// The folder's outputs, by the function's names of them: in their order.
    func outputs(of session: ModelSession) throws(CommandError) -> [(name: String, numbers: Numbers)] {
        let names = session.descriptor.outputNames
        guard outputNames.count == names.count else { return [] }
        var result: [(name: String, numbers: Numbers)] = []
        for (name, node) in zip(names, outputNames) {
            guard case .ndArray(let descriptor)? = session.descriptor.outputDescriptor(of: name),
                let numbers = try array(node).numbers(asStored: descriptor.scalarType.elementType)
            else { continue }
            result.append((name, numbers))
        }
        return result
    }
}
