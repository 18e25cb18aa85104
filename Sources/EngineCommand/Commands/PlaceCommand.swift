import CoreAI
import Foundation

/// `engine place`: where a model's operations run, and why.
enum PlaceCommand: Subcommand {
    static let spec = CommandSpec(
        name: "place", summary: "Shows where the operations of an asset run, why, and how long they take.",
        operands: "ASSET", operandCount: 1...1,
        options: [
            ComputeUnit.option,
            OptionSpec("--function", "NAME", help: "only this function"),
        ] + ArraySource.options + [
            OptionSpec("--runs", "N", help: "how many calls are measured; 3, if not given; 0 only estimates"),
            OptionSpec("--strict", help: "fail where an operation would run on another unit than the one asked for"),
            OptionSpec("--memory-budget", "BYTES", help: "fail where a call takes more; 64M and 2G are understood"),
            OptionSpec("--json", help: "print JSON"),
            OptionSpec("--html", help: "print a page with a picture of the graph"),
            OptionSpec("--output", "FILE", help: "write what is printed to a file"),
        ],
        notes: [
            "Inputs without a file are made up; dynamic sizes without --shape are taken as 1. A measured time with a ~ is "
                + "a pattern's share of the time of its part."
        ],
        examples: [
            "engine place Models/digits.aimodel --unit gpu",
            "engine place Models/digits.aimodel --unit gpu --html --output graph.html",
        ])

    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        let unit = try ComputeUnit(arguments)
        let source = try ArraySource(arguments, openExtent: 1)
        let runCount = try arguments.integer("--runs", atLeast: 0) ?? 3
        let requirements = FunctionRequirements(
            placesStrictly: arguments.has("--strict"), memoryBudget: try arguments.byteCount("--memory-budget"))
        guard !arguments.has("--json") || !arguments.has("--html") else {
            throw CommandError.usage("--json and --html are two outputs: ask for one")
        }
        let path = arguments.operands[0]
        let model = try await AIModel(contentsOf: URL(fileURLWithPath: path), options: unit.options)
        if !unit.isAvailable { console.note(unit.absence) }
        let names = arguments.value("--function").map { [$0] } ?? model.functionNames
        try source.checkNames(model, names)
        var functions: [PlacementReport.Function] = []
        for name in names {
            let session = try ModelSession(model, path: path, functionName: name, requirements: requirements)
            functions.append(try await report(session, source.narrowed(to: session.descriptor), runCount, console))
        }
        try write(
            PlacementReport(functions: functions), of: URL(fileURLWithPath: path).lastPathComponent, arguments, console)
        return 0
    }

    private static func report(
        _ session: ModelSession, _ source: ArraySource, _ runCount: Int, _ console: Console
    ) async throws -> PlacementReport.Function {
        let inputs = try source.inputs(for: session, seed: 0, remark: console.note)
        let states = try source.states(for: session, remark: console.note)
        let shapes = inputs.merging(states) { first, _ in first }.mapValues(\.shape)
        let planned = try session.function.placement(for: shapes)
        guard runCount > 0 else { return planned }
        do {
            var measured = try await session.function.measurePlacement(
                inputs: inputs, states: states, runCount: runCount)
            // What no call came to stays as it was planned.
            if measured.patterns.count < planned.patterns.count, planned.unbound.isEmpty {
                measured = planned.withTimes(of: measured)
            }
            return measured
        } catch {
            console.note("nothing was measured: \(CommandError(describing: error).message)")
            return planned
        }
    }

    private static func write(
        _ report: PlacementReport, of asset: String, _ arguments: ParsedArguments, _ console: Console
    ) throws {
        let file = arguments.value("--output")
        let text: String
        if arguments.has("--json") {
            text = try JSONText.encode(report)
        } else if arguments.has("--html") {
            text = try PlacementPage.html(report, title: asset)
        } else {
            text = PlacementText.lines(report, file == nil ? console.style : Style(isOn: false))
                .joined(separator: "\n")
        }
        guard let file else { return console.out(text) }
        let output = try AtomicFile(file)
        try output.write(Array((text + "\n").utf8)[...])
        try output.commit()
    }
}

extension PlacementReport.Function {
    /// This report of everything, with the times of one that knows only what ran.
    fileprivate func withTimes(of measured: PlacementReport.Function) -> PlacementReport.Function {
        var result = self
        result.measuredRunCount = measured.measuredRunCount
        result.fallbacks = measured.fallbacks
        result.arguments = measured.arguments
        var used = 0
        for (index, pattern) in patterns.enumerated() where used < measured.patterns.count {
            let other = measured.patterns[used]
            guard other.region == pattern.region, other.operations == pattern.operations else { continue }
            result.patterns[index].measuredSeconds = other.measuredSeconds
            result.patterns[index].measurement = other.measurement
            used += 1
        }
        for index in parts.indices {
            let times = parts[index].patterns.compactMap { result.patterns[$0].measuredSeconds }
            if !times.isEmpty { result.parts[index].measuredSeconds = times.reduce(0, +) }
        }
        return result
    }
}

extension ParsedArguments {
    /// The value of `name` as a number of bytes: `4096`, `64M`, `2G`.
    func byteCount(_ name: String) throws(CommandError) -> Int? {
        guard let text = value(name) else { return nil }
        let shifts: [Character: Int] = ["K": 10, "M": 20, "G": 30]
        let shift = text.last.flatMap { shifts[Character($0.uppercased())] }
        guard let number = Int(shift == nil ? text : String(text.dropLast())), number >= 0,
            number <= Int.max >> (shift ?? 0)
        else { throw .usage("option '\(name)' takes a number of bytes, such as 4096, 64M or 2G, not '\(text)'") }
        return number << (shift ?? 0)
    }
}
