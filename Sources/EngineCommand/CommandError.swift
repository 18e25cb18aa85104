/// Why a command could not do what was asked: what it prints, and the status that it ends with.
struct CommandError: Error, Equatable {
    enum Kind: Equatable {
        /// The command line makes no sense: exit status 2.
        case usage
        /// The work failed: exit status 1.
        case failure
    }

    var kind: Kind
    var message: String
    /// What to do instead, on a line of its own.
    var hint: String?

    static func usage(_ message: String, hint: String? = nil) -> CommandError {
        CommandError(kind: .usage, message: message, hint: hint)
    }

    static func failure(_ message: String, hint: String? = nil) -> CommandError {
        CommandError(kind: .failure, message: message, hint: hint)
    }

    /// The same error, with what it is about in front.
    func about(_ subject: String) -> CommandError {
        CommandError(kind: kind, message: "\(subject): \(message)", hint: hint)
    }

    var exitStatus: Int32 { kind == .usage ? 2 : 1 }
}

extension CommandError: CustomStringConvertible {
    var description: String { hint.map { "\(message)\n\($0)" } ?? message }
}
