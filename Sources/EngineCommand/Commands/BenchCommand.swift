import CoreAI
import Foundation

/// `engine bench`: how fast a function is.
enum BenchCommand: Subcommand {
    static let spec = CommandSpec(
        name: "bench", summary: "Measures how long calls of a function take.", operands: "ASSET", operandCount: 1...1,
        options: [
            ComputeUnit.option,
            OptionSpec("--function", "NAME", help: "the function; main, or the only one, if not given"),
        ] + ArraySource.options + [
            OptionSpec("--warmup", "N", help: "calls before the measured ones; 3, if not given"),
            OptionSpec("--iterations", "N", help: "how many calls to measure"),
            OptionSpec("--seconds", "S", help: "how long to measure; 2, if not given, and then at least 10 calls"),
            ComputeUnit.fusionOption,
            OptionSpec("--json", help: "print JSON"),
        ],
        notes: ["Inputs without a file are made up. States start from zero and go on from call to call."],
        examples: ["engine bench Models/digits.aimodel --unit cpu --shape image=1x1x8x8 --seconds 5"])

    private struct Report: Encodable {
        var latencyMs: Latency
        var runs: Int
        var throughputPerS: Double
        var loadMs: Double
        var specializeMs: Double
        var firstCallMs: Double
        var peakBytes: Int?
        var unit: String
    }

    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        let unit = try ComputeUnit(arguments)
        let source = try ArraySource(arguments)
        let warmup = try arguments.integer("--warmup", atLeast: 0) ?? 3
        let iterations = try arguments.integer("--iterations", atLeast: 1)
        let seconds = try arguments.number("--seconds")
        let session = try await ModelSession(
            arguments.operands[0], functionName: arguments.value("--function"), unit: unit,
            fusesPatterns: !arguments.has("--no-fusion"))
        if !unit.isAvailable { console.note(unit.absence) }
        let inputs = try source.inputs(for: session, seed: 0, remark: console.note)
        var states = try source.states(for: session, remark: console.note)

        let clock = ContinuousClock()
        let first = clock.now
        _ = try await session.call(inputs, states: &states)
        let firstCall = clock.now - first
        for _ in 0..<max(0, warmup - 1) { _ = try await session.call(inputs, states: &states) }

        var times: [Double] = []
        let start = clock.now
        let limit = seconds ?? (iterations == nil ? 2 : .infinity)
        let fewest = iterations == nil && seconds == nil ? 10 : 1
        var shown = start
        while times.count < iterations ?? .max {
            let begin = clock.now
            _ = try await session.call(inputs, states: &states)
            let end = clock.now
            times.append((end - begin).milliseconds)
            if (end - start).seconds >= limit, times.count >= fewest { break }
            if (end - shown).seconds > 0.2 {
                shown = end
                console.progress("\(times.count) calls")
            }
        }
        let total = (clock.now - start).seconds
        console.clearProgress()
        guard let latency = Latency(times) else { throw CommandError.failure("nothing was measured") }
        let report = Report(
            latencyMs: latency, runs: times.count, throughputPerS: Double(times.count) / max(total, 1e-9),
            loadMs: session.loadTime.milliseconds, specializeMs: session.specializeTime.milliseconds,
            firstCallMs: firstCall.milliseconds, peakBytes: SystemFacts.peakByteCount,
            unit: unit.computing.rawValue)
        if arguments.has("--json") {
            console.out(try JSONText.encode(report))
        } else {
            show(report, console)
        }
        return 0
    }

    private static func show(_ report: Report, _ console: Console) {
        func line(_ title: String, _ text: String) { console.out("\(padded(title, 11)) \(text)") }
        func text(_ milliseconds: Double) -> String { String(format: "%.3f ms", milliseconds) }
        let latency = report.latencyMs
        line(
            "latency",
            "min \(text(latency.min)), p50 \(console.style.bold(text(latency.p50))), p90 \(text(latency.p90)), "
                + "p99 \(text(latency.p99)), mean \(text(latency.mean))")
        line("throughput", String(format: "%.1f calls/s over %ld calls", report.throughputPerS, report.runs))
        line("load", text(report.loadMs))
        line("specialize", text(report.specializeMs))
        line("first call", text(report.firstCallMs))
        if let peak = report.peakBytes { line("peak memory", ByteCount.text(peak)) }
        line("unit", report.unit)
    }
}
