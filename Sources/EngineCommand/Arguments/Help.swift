/// The help texts, laid out from the subcommands' specs.
enum Help {
    static func overview(_ specs: [CommandSpec], _ style: Style) -> String {
        let width = specs.map(\.name.count).max() ?? 0
        var lines = [
            "\(style.bold("engine")): runs .aimodel assets on this machine", "",
            "usage: engine SUBCOMMAND [options]", "", style.bold("subcommands"),
        ]
        lines += specs.map { "  \(padded($0.name, width))  \($0.summary)" }
        lines += [
            "", "'engine help SUBCOMMAND' explains one; 'engine --version' tells the version.", "",
            style.bold("example"), "  engine run model.aimodel --random --shape x=1x16",
        ]
        return lines.joined(separator: "\n")
    }

    static func text(_ spec: CommandSpec, _ style: Style) -> String {
        let usage = ["engine", spec.name, spec.operands, spec.options.isEmpty ? "" : "[options]"]
        var lines = [spec.summary, "", "usage: " + usage.filter { !$0.isEmpty }.joined(separator: " ")]
        if !spec.options.isEmpty {
            lines += ["", style.bold("options")]
            let titles =
                spec.options.map { [$0.name, $0.value ?? ""].joined(separator: $0.value == nil ? "" : " ") } + [
                    "--help"
                ]
            let width = min(titles.map(\.count).max() ?? 0, 32)
            for (title, help) in zip(titles, spec.options.map { $0.help } + ["this text"]) {
                lines += entry(title, help, width)
            }
        }
        if !spec.notes.isEmpty { lines += [""] + spec.notes.flatMap { wrapped($0, 96) } }
        lines += ["", style.bold(spec.examples.count == 1 ? "example" : "examples")]
        lines += spec.examples.map { "  " + $0 }
        return lines.joined(separator: "\n")
    }

    private static func entry(_ title: String, _ help: String, _ width: Int) -> [String] {
        let text = wrapped(help, 94 - width)
        let indent = String(repeating: " ", count: width + 4)
        var lines = text.map { indent + $0 }
        if title.count > width { return ["  " + title] + lines }
        lines[0] = "  \(padded(title, width))  \(text.first ?? "")"
        return lines
    }

    private static func wrapped(_ text: String, _ width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            if !lines[lines.count - 1].isEmpty, lines[lines.count - 1].count + word.count + 1 > width {
                lines.append("")
            }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines
    }
}

/// `text` with spaces behind it, up to `width` characters.
func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}

/// `text` with spaces before it, up to `width` characters.
func leftPadded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

/// `text` from a file, safe for a terminal: control characters, which could move the cursor or worse, are spelt out.
func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
        if scalar.properties.generalCategory == .control {
            result += scalar == "\n" ? " " : "\\u{\(String(scalar.value, radix: 16))}"
        } else {
            result.unicodeScalars.append(scalar)
        }
    }
    return result
}
