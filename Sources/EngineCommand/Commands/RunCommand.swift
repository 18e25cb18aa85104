import CoreAI
import Foundation

/// `engine run`: calls a function once, or a few times.
enum RunCommand: Subcommand {
    static let spec = CommandSpec(
        name: "run", summary: "Runs a function of an asset and shows its outputs.", operands: "ASSET",
        operandCount: 1...1,
        options: [OptionSpec("--function", "NAME", help: "the function; main, or the only one, if not given")]
            + ArraySource.options + [
                OptionSpec("--random", help: "make up the inputs that are not given"),
                OptionSpec("--seed", "N", help: "what the made-up numbers grow from; 0, if not given"),
                OptionSpec("--output", "FILE.npz", help: "save the outputs, and states as state_NAME"),
                OptionSpec("--repeat", "N", help: "call it so many times and tell how long a call takes"),
                OptionSpec(
                    "--trace", "FILE.json", help: "write a timeline that Perfetto opens (ui.perfetto.dev), or Chrome"),
                ComputeUnit.option,
            ],
        notes: [
            "Integers and floats of other widths than the function's are converted, if nothing but the precision of a "
                + "float is lost. bfloat16, fp8 and elements of a few bits travel as unsigned integers that hold their "
                + "bits."
        ],
        examples: [
            "engine run Models/digits.aimodel --input image=Models/digits-inputs.npz --output logits.npz",
            "engine run model.aimodel --random --shape tokens=1x128 --repeat 10",
            "engine run model.aimodel --unit gpu --random --trace trace.json",
        ])

    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        guard let path = arguments.value("--trace") else { return try await perform(arguments, console) }
        let trace = ExecutionTrace()
        let status = try await trace.record { try await perform(arguments, console) }
        let file = try AtomicFile(path)
        try file.write(Array(try trace.chromeTrace())[...])
        try file.commit()
        return status
    }

    private static func perform(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        let unit = try ComputeUnit(arguments)
        let source = try ArraySource(arguments)
        let repeats = try arguments.integer("--repeat", atLeast: 1)
        let seed = try arguments.integer("--seed", atLeast: 0)
        guard seed == nil || arguments.has("--random") else {
            throw CommandError.usage("--seed goes with --random")
        }
        let session = try await ModelSession(
            arguments.operands[0], functionName: arguments.value("--function"), unit: unit)
        if !unit.isAvailable { console.note(unit.absence) }
        let inputs = try source.inputs(
            for: session, seed: arguments.has("--random") ? UInt64(seed ?? 0) : nil, remark: console.note)
        var states = try source.states(for: session, remark: console.note)

        var times: [Double] = []
        var outputs: [(name: String, array: NDArray)] = []
        let clock = ContinuousClock()
        for _ in 0..<(repeats ?? 1) {
            let start = clock.now
            outputs = try await session.call(inputs, states: &states)
            times.append((clock.now - start).milliseconds)
        }
        outputs += session.descriptor.stateNames.compactMap { name in states[name].map { ("state_" + name, $0) } }
        for (name, array) in outputs { try show(name, array, console) }
        if repeats != nil { showTimes(times, session, console) }
        if let path = arguments.value("--output") {
            try NumPyArchive.write(try outputs.map { ($0.name, try $0.array.numPyArray()) }, to: path)
        }
        return 0
    }

    private static func show(_ name: String, _ array: NDArray, _ console: Console) throws {
        let shape = array.shape.map(String.init).joined(separator: " × ")
        console.out(
            "\(console.style.bold(printable(name)))  \(array.scalarType.displayName)\(shape.isEmpty ? "" : " " + shape)"
        )
        console.out(ArrayText.text(try array.numbers(), shape: array.shape, isBool: array.scalarType == .bool))
    }

    private static func showTimes(_ times: [Double], _ session: ModelSession, _ console: Console) {
        func text(_ milliseconds: Double) -> String { String(format: "%.3f ms", milliseconds) }
        let later = times.dropFirst().sorted()
        console.out("")
        console.out(
            "loaded in \(text(session.loadTime.milliseconds)), specialized in \(text(session.specializeTime.milliseconds))"
        )
        console.out("first call \(text(times[0]))")
        if let fastest = later.first, let slowest = later.last {
            console.out(
                "\(later.count) more: fastest \(text(fastest)), median \(text(later[later.count / 2])), slowest \(text(slowest))"
            )
        }
    }
}
