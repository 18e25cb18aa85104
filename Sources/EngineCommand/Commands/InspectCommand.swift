import EngineAsset
import EngineGraph
import Foundation

/// `engine inspect`: what an asset holds.
enum InspectCommand: Subcommand {
    static let spec = CommandSpec(
        name: "inspect", summary: "Shows an asset's functions, metadata, statistics or program.", operands: "ASSET",
        operandCount: 1...1,
        options: [
            OptionSpec("--stats", help: "count operations, stored elements and types"),
            OptionSpec("--memory", help: "what a call takes, of large programs too; loads the functions"),
            OptionSpec("--ir", help: "print the program instead"),
            OptionSpec("--decompositions", help: "with --ir: the decompositions of named operations too"),
            OptionSpec("--locations", help: "with --ir: where each operation comes from in the source model"),
            OptionSpec("--verify-hash", help: "check the program against the hash that the asset keeps"),
            OptionSpec("--json", help: "print JSON"),
        ],
        examples: ["engine inspect Models/digits.aimodel --stats", "engine inspect model.aimodel --ir | less"])

    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        let path = arguments.operands[0]
        let printsProgram = ["--ir", "--decompositions", "--locations"].contains(where: arguments.has)
        guard !printsProgram || (!arguments.has("--json") && !arguments.has("--stats")) else {
            throw CommandError.usage("--ir prints the program alone: leave --json and --stats out")
        }
        let folder = AssetFolder(path: path)
        if arguments.has("--verify-hash") { try AssetHash.verify(folder) }
        let program = try AssetReader.readProgram(in: folder)
        if printsProgram {
            print(
                program,
                Printer(
                    showsDecompositions: arguments.has("--decompositions"), showsLocations: arguments.has("--locations")
                ),
                console)
            return 0
        }
        var report = try AssetReport(path, program: program, includingStatistics: arguments.has("--stats"))
        if arguments.has("--verify-hash") { report.isHashVerified = true }
        // Telling the peak means readying the functions, which takes as long as loading them: by itself only where that
        // is no time.
        if arguments.has("--memory") || report.programByteCount <= memoryByteLimit { await report.addMemory() }
        if arguments.has("--json") {
            console.out(try JSONText.encode(report))
        } else {
            for line in report.lines(console.style) { console.out(line) }
        }
        return 0
    }

    /// The largest program whose functions are readied without being asked to.
    private static let memoryByteLimit = 4 << 20

    /// Prints piece by piece, in pieces worth a system call.
    private static func print(_ program: Program, _ printer: Printer, _ console: Console) {
        var buffer = ""
        printer.write(program) { text in
            buffer += text
            if buffer.utf8.count > 1 << 16 {
                console.outText(buffer)
                buffer.removeAll(keepingCapacity: true)
            }
        }
        console.outText(buffer)
    }
}
