import CoreAI
import EngineGraph
import Foundation

/// The `engine` command.
package enum EngineCommand {
    package static let version = "0.1.0"

    private static let subcommands: [any (Subcommand & Sendable).Type] = [
        InspectCommand.self, RunCommand.self, PlaceCommand.self, CompareCommand.self, VerifyCommand.self,
        BenchCommand.self, DevicesCommand.self, SupportCommand.self, DemoCommand.self,
    ]

    /// Runs the command line `arguments` (without the program's name) on the process's streams, and returns the status
    /// to exit with: 0 success, 1 failure, 2 a command line that makes no sense.
    package static func main(_ arguments: [String]) async -> Int32 { await run(arguments, .standard()) }

    static func run(_ arguments: [String], _ console: Console) async -> Int32 {
        do {
            return try await dispatch(arguments, console)
        } catch {
            let error = CommandError(describing: error)
            console.report(error)
            return error.exitStatus
        }
    }

    private static func dispatch(_ arguments: [String], _ console: Console) async throws -> Int32 {
        guard let name = arguments.first else {
            console.note(Help.overview(subcommands.map { $0.spec }, console.errorStyle))
            return 2
        }
        switch name {
        // Not for people, and not in the help: `engine verify` starts it.
        case VerifyWorker.name: return await VerifyWorker.run(Array(arguments.dropFirst()))
        case "--version":
            console.out("engine \(version)")
            return 0
        case "--help", "-h":
            console.out(Help.overview(subcommands.map { $0.spec }, console.style))
            return 0
        case "help":
            guard let topic = arguments.dropFirst().first else {
                console.out(Help.overview(subcommands.map { $0.spec }, console.style))
                return 0
            }
            console.out(Help.text(try subcommand(topic).spec, console.style))
            return 0
        default:
            let subcommand = try subcommand(name)
            let parsed = try ParsedArguments(Array(arguments.dropFirst()), for: subcommand.spec)
            if parsed.wantsHelp {
                console.out(Help.text(subcommand.spec, console.style))
                return 0
            }
            return try await subcommand.run(parsed, console)
        }
    }

    private static func subcommand(_ name: String) throws(CommandError) -> any Subcommand.Type {
        if let found = subcommands.first(where: { $0.spec.name == name }) { return found }
        let kind = name.hasPrefix("-") ? "option" : "subcommand"
        let near = Suggestion.nearest(to: name, among: subcommands.map { $0.spec.name })
        throw .usage(
            "unknown \(kind) '\(name)'",
            hint: near.map { "did you mean '\($0)'?" } ?? "'engine --help' lists the subcommands")
    }
}

extension CommandError {
    /// What any error that reaches the command says to its user.
    init(describing error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as EngineError: self = .failure(error.description)
        case let error as any LocalizedError: self = .failure(error.errorDescription ?? String(describing: error))
        default: self = .failure(String(describing: error))
        }
    }
}
