/// An option of a subcommand.
struct OptionSpec: Sendable {
    var name: String
    /// The name of its value in the help; nil for a switch.
    var value: String?
    var isRepeatable: Bool
    var help: String

    init(_ name: String, _ value: String? = nil, isRepeatable: Bool = false, help: String) {
        self.name = name
        self.value = value
        self.isRepeatable = isRepeatable
        self.help = help
    }
}

/// What a subcommand takes, and how its help explains it.
struct CommandSpec: Sendable {
    var name: String
    /// One line: what it does.
    var summary: String
    /// The operands as the usage line shows them: `ASSET`, `DIR...`.
    var operands: String
    /// How many operands there may be.
    var operandCount: ClosedRange<Int>
    var options: [OptionSpec]
    /// What the options' lines don't say.
    var notes: [String] = []
    /// Whole command lines.
    var examples: [String]
}

/// A subcommand.
protocol Subcommand {
    static var spec: CommandSpec { get }

    /// Runs it and returns the exit status.
    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32
}
