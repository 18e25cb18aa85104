import EngineDelegation
import Foundation

/// Where a command's text goes: results to `out`, remarks and errors to `note`.
final class Console: Sendable {
    let style: Style
    let errorStyle: Style
    /// Whether somebody watches the remarks, so that progress is worth showing.
    let showsProgress: Bool
    /// The engine's own program, for subcommands that run parts of themselves in other processes; nil in a test.
    let executable: String?
    private let writeOut: @Sendable (String) -> Void
    private let writeError: @Sendable (String) -> Void
    private let progressWidth = Locked(0)

    init(
        style: Style = Style(isOn: false), errorStyle: Style = Style(isOn: false), showsProgress: Bool = false,
        executable: String? = nil, out: @escaping @Sendable (String) -> Void,
        error: @escaping @Sendable (String) -> Void
    ) {
        self.style = style
        self.errorStyle = errorStyle
        self.showsProgress = showsProgress
        self.executable = executable
        self.writeOut = out
        self.writeError = error
    }

    /// The process's own streams.
    static func standard(environment: [String: String] = ProcessInfo.processInfo.environment) -> Console {
        let mayColour = environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
        let errorIsTerminal = isatty(STDERR_FILENO) == 1
        return Console(
            style: Style(isOn: mayColour && isatty(STDOUT_FILENO) == 1),
            errorStyle: Style(isOn: mayColour && errorIsTerminal), showsProgress: errorIsTerminal,
            executable: "/proc/self/exe",
            out: { StandardStream.write($0, STDOUT_FILENO) }, error: { StandardStream.write($0, STDERR_FILENO) })
    }

    /// A line of the result.
    func out(_ line: String) {
        clearProgress()
        writeOut(line + "\n")
    }

    /// Text of the result, as it is.
    func outText(_ text: String) { writeOut(text) }

    /// A remark that is no part of the result.
    func note(_ line: String) {
        clearProgress()
        writeError(line + "\n")
    }

    /// Replaces the progress line, where somebody watches.
    func progress(_ text: String) {
        guard showsProgress else { return }
        progressWidth.withLock { width in
            writeError("\r" + padded(text, width))
            width = text.count
        }
    }

    /// Takes the progress line away.
    func clearProgress() {
        guard showsProgress else { return }
        progressWidth.withLock { width in
            guard width > 0 else { return }
            writeError("\r" + String(repeating: " ", count: width) + "\r")
            width = 0
        }
    }

    func report(_ error: CommandError) {
        note("\(errorStyle.red("error:")) \(printable(error.message))")
        if let hint = error.hint { note("  \(printable(hint))") }
    }
}

/// Colours, where they are wanted.
struct Style: Sendable {
    var isOn: Bool

    func bold(_ text: String) -> String { wrap(text, "1") }
    func dim(_ text: String) -> String { wrap(text, "2") }
    func red(_ text: String) -> String { wrap(text, "31") }
    func green(_ text: String) -> String { wrap(text, "32") }

    private func wrap(_ text: String, _ code: String) -> String { isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
}

/// The process's streams, written whole: text of several tasks never mixes within a call.
private enum StandardStream {
    private static let lock = Locked(())

    static func write(_ text: String, _ descriptor: Int32) {
        var copy = text
        lock.withLock { _ in
            copy.withUTF8 { buffer in
                var done = 0
                while done < buffer.count {
                    let count = systemWrite(descriptor, buffer.baseAddress! + done, buffer.count - done)
                    if count < 0, errno == EINTR { continue }
                    // Nobody reads any more: there is nobody to tell either.
                    if count <= 0 { return }
                    done += count
                }
            }
        }
    }
}
