import CoreAI
import DelegateConformance
import EngineDelegation
import EngineGraph
import Foundation

/// `engine support`: the ops and element types that each unit takes; whether it computes them right, and how fast.
enum SupportCommand: Subcommand {
    static let spec = CommandSpec(
        name: "support", summary: "Lists the ops and element types that each unit takes, and checks or times them.",
        operands: "", operandCount: 0...0,
        options: [
            OptionSpec(
                "--unit", "cpu|gpu|accelerator", help: "this unit only; every unit of the machine, if not given"),
            OptionSpec("--op", "NAME", help: "cases of this op only, by its name in the table"),
            OptionSpec("--markdown", help: "print the table as Markdown"),
            OptionSpec("--check", help: "run every case and compare the results; exit status 1 where one is wrong"),
            OptionSpec("--time", help: "time the larger cases"),
            OptionSpec("--json", help: "print JSON, with the reason of each op that is declined"),
        ],
        notes: ["A star marks a type of which the unit takes some cases only; ops that no unit takes run decomposed."],
        examples: [
            "engine support", "engine support --unit gpu --check", "engine support --unit cpu --op softmax --time",
        ])

    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        guard !arguments.has("--check") || !arguments.has("--time") else {
            throw CommandError.usage("options '--check' and '--time' exclude each other")
        }
        let delegates = try units(arguments)
        let cases = try self.cases(arguments)
        if arguments.has("--check") { return try check(delegates, cases, arguments, console) }
        if arguments.has("--time") {
            try time(delegates, cases, arguments, console)
            return 0
        }
        let table = supportTable(delegates: delegates, cases: cases)
        if arguments.has("--json") {
            console.out(try JSONText.encode(table))
        } else if arguments.has("--markdown") {
            console.outText(table.markdown)
        } else {
            for row in table.rows {
                console.out(console.style.bold(row.op))
                for unit in table.units { console.out("  \(padded(unit, 12)) \(table.cell(row, unit))") }
            }
        }
        return 0
    }

    private static func units(_ arguments: ParsedArguments) throws -> [any Delegate] {
        let isOne = arguments.has("--unit")
        let wanted = isOne ? [try ComputeUnit(arguments)] : ComputeUnit.allCases
        return try wanted.compactMap { unit in
            switch EngineUnits.presence(of: unit.kind) {
            case .present(let delegate): return delegate
            case .absent(let reason):
                if isOne { throw CommandError.failure("no \(unit.rawValue): \(reason)") }
                return nil
            }
        }
    }

    private static func cases(_ arguments: ParsedArguments) throws(CommandError) -> [OpCase] {
        guard let name = arguments.value("--op") else { return OpCase.all }
        let cases = OpCase.all.filter { $0.kind.name == name }
        guard cases.isEmpty else { return cases }
        let near = Suggestion.nearest(to: name, among: Set(OpCase.all.map(\.kind.name)).sorted())
        throw .usage("no case is of op '\(name)'", hint: near.map { "did you mean '\($0)'?" })
    }

    private static func check(
        _ delegates: [any Delegate], _ cases: [OpCase], _ arguments: ParsedArguments, _ console: Console
    ) throws -> Int32 {
        var all: [String: [ConformanceResult]] = [:]
        var failures = 0
        for delegate in delegates {
            var results = arguments.has("--op") ? [] : QueueCase.run(on: delegate)
            for (index, row) in cases.enumerated() {
                if index % 64 == 0 { console.progress("\(delegate.id): \(index) of \(cases.count) cases") }
                results += DelegateConformance.run([row], delegate: delegate, reference: EngineUnits.cpu)
            }
            let failed = results.filter { $0.failure != nil }
            failures += failed.count
            all[delegate.id.name] = results
            if arguments.has("--json") { continue }
            for result in failed { console.out("\(delegate.id)  \(result.name): \(result.failure ?? "")") }
            let declined = results.count { $0.isDeclined }
            let passed = results.count - declined - failed.count
            console.out("\(delegate.id): \(passed) passed, \(failed.count) failed, \(declined) declined")
        }
        console.clearProgress()
        if arguments.has("--json") { console.out(try JSONText.encode(all)) }
        return failures == 0 ? 0 : 1
    }

    private static func time(
        _ delegates: [any Delegate], _ cases: [OpCase], _ arguments: ParsedArguments, _ console: Console
    ) throws {
        let cases = arguments.has("--op") ? cases : OpCase.large
        var all: [String: [CaseTiming]] = [:]
        for delegate in delegates {
            let timings = try DelegateConformance.time(delegate: delegate, cases: cases)
            all[delegate.id.name] = timings
            if arguments.has("--json") { continue }
            let width = timings.map(\.name.count).max() ?? 0
            for timing in timings {
                let time = String(format: "%10.1f µs %8.2f GB/s", timing.nanoseconds / 1e3, timing.gigabytesPerSecond)
                console.out("\(padded(delegate.id.name, 12)) \(padded(timing.name, width)) \(time)")
            }
        }
        if arguments.has("--json") { console.out(try JSONText.encode(all)) }
    }
}
