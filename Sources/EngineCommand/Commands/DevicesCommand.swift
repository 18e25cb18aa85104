import CoreAI
import Foundation

/// `engine devices`: the units of this machine, and why others are absent.
enum DevicesCommand: Subcommand {
    static let spec = CommandSpec(
        name: "devices", summary: "Lists the compute units of this machine, and why others are absent.", operands: "",
        operandCount: 0...0, options: [OptionSpec("--json", help: "print JSON")], examples: ["engine devices"])

    private struct Unit: Encodable {
        var unit: String
        var available: Bool
        var name: String?
        var reason: String?
        var properties: [String: String] = [:]
    }

    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        let units = ComputeUnit.allCases.map(describe)
        if arguments.has("--json") {
            console.out(try JSONText.encode(["units": units]))
            return 0
        }
        for unit in units {
            let state =
                unit.available
                ? console.style.green(unit.name ?? "available") : "absent: \(unit.reason ?? "no reason is known")"
            console.out("\(console.style.bold(padded(unit.unit, 12))) \(state)")
            for (title, text) in unit.properties.sorted(by: { $0.key < $1.key }) {
                console.out("  \(padded(title, 12)) \(text)")
            }
        }
        return 0
    }

    private static func describe(_ unit: ComputeUnit) -> Unit {
        switch unit {
        case .cpu:
            let process = ProcessInfo.processInfo
            return Unit(
                unit: unit.rawValue, available: true, name: SystemFacts.processorName,
                properties: [
                    "architecture": SystemFacts.architecture,
                    "cores": "\(process.processorCount), \(process.activeProcessorCount) of them for this process",
                    "threads": String(HostUnit.threadCount),
                    "vectors": HostUnit.vectorLevel,
                    "memory": ByteCount.text(Int(clamping: process.physicalMemory)),
                    "blas": "\(HostUnit.blasConfiguration), kernels for \(HostUnit.blasCore)",
                ])
        case .gpu, .accelerator:
            let isAvailable = unit.isAvailable
            return Unit(
                unit: unit.rawValue, available: isAvailable,
                reason: isAvailable ? nil : "this build of the engine has no delegate for it")
        }
    }
}
