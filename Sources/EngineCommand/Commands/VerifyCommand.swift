import Foundation

/// `engine verify`: replays recorded cases and compares.
enum VerifyCommand: Subcommand {
    static let spec = CommandSpec(
        name: "verify", summary: "Replays recorded cases and compares the outputs with their references.",
        operands: "DIR...", operandCount: 1...1000,
        options: [
            ComputeUnit.option,
            OptionSpec("--rtol", "R", help: "the relative tolerance, in place of the cases' own"),
            OptionSpec("--atol", "A", help: "the absolute tolerance, in place of the cases' own"),
            OptionSpec("--json", "FILE", help: "write every case's result as JSON"),
            OptionSpec("--jobs", "N", help: "how many cases run at once; one a core, if not given"),
            OptionSpec("--timeout", "S", help: "how many seconds a case may take; 600, if not given"),
            OptionSpec("--placed-only", help: "a case fails when any of its operations ran on another unit"),
            ComputeUnit.fusionOption,
        ],
        notes: [
            "A case is a folder with model.aimodel, case_0.npz (arrays input_NAME, state_NAME, expected_NAME), further "
                + "calls in case_1.npz and so on, and perhaps meta.json. A line is printed for each case that fails. A "
                + "value a fits its reference e where |a - e| <= atol + rtol * |e|."
        ],
        examples: ["engine verify Tests/Fixtures/conformance --unit cpu"])

    private struct Report: Encodable {
        var cases: [CaseResult]
        var passed: Int
        var failed: Int
        var unit: String
    }

    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        let unit = try ComputeUnit(arguments)
        let rtol = try arguments.number("--rtol")
        let atol = try arguments.number("--atol")
        let jobs = try arguments.integer("--jobs", atLeast: 1) ?? ProcessInfo.processInfo.activeProcessorCount
        let timeLimit = try arguments.number("--timeout") ?? 600
        let requests = try CaseFolder.find(below: arguments.operands).map { name, path in
            CaseRequest(
                name: name, path: path, unit: unit, rtol: rtol, atol: atol, placedOnly: arguments.has("--placed-only"),
                fusesPatterns: !arguments.has("--no-fusion"))
        }
        guard !requests.isEmpty else {
            throw CommandError.failure(
                "there is no case below \(arguments.operands.joined(separator: ", "))",
                hint: "a case is a folder with case_0.npz or meta.json in it")
        }
        if !unit.isAvailable { console.note(unit.absence) }
        let pool = CasePool(
            requests, executable: console.executable, jobs: jobs, timeLimit: timeLimit
        ) { result, finished in
            if !result.passed { console.out("\(console.style.red("FAIL")) \(result.line)") }
            console.progress("\(finished) of \(requests.count)")
        }
        await pool.run()
        console.clearProgress()

        let results = pool.results
        let passed = results.count { $0.passed }
        let failed = results.count - passed
        if let path = arguments.value("--json") {
            try JSONText.write(
                Report(cases: results, passed: passed, failed: failed, unit: unit.rawValue), to: path)
        }
        let summary = "\(passed) passed, \(failed) failed"
        console.out(failed == 0 ? console.style.green(summary) : console.style.red(summary))
        return failed == 0 ? 0 : 1
    }
}
