/// A command line, sorted into options and operands by a `CommandSpec`.
struct ParsedArguments: Sendable {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]
    /// Whether help was asked for: then nothing else was checked.
    private(set) var wantsHelp = false

    /// Sorts `arguments`; an error names the one that `spec` does not know or that lacks its value.
    init(_ arguments: [String], for spec: CommandSpec) throws(CommandError) {
        let hint = "'engine \(spec.name) --help' lists what it takes"
        if arguments.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            wantsHelp = true
            return
        }
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                break
            }
            guard argument.count > 1, argument.hasPrefix("-") else {
                operands.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = spec.options.first(where: { $0.name == name }) else {
                let near = Suggestion.nearest(to: name, among: spec.options.map(\.name))
                throw .usage("unknown option '\(name)'", hint: near.map { "did you mean '\($0)'?" } ?? hint)
            }
            guard option.isRepeatable || values[name] == nil else {
                throw .usage("option '\(name)' is given twice", hint: hint)
            }
            if let placeholder = option.value {
                let value = parts.count == 2 ? String(parts[1]) : rest.first
                if parts.count == 1 { _ = rest.popFirst() }
                // A following option is a forgotten value; a lone number such as -1 is one.
                guard let value, parts.count == 2 || !value.hasPrefix("--") else {
                    throw .usage("option '\(name)' needs a value: \(name) \(placeholder)", hint: hint)
                }
                values[name, default: []].append(value)
            } else {
                guard parts.count == 1 else { throw .usage("option '\(name)' takes no value", hint: hint) }
                values[name] = []
            }
        }
        if operands.count < spec.operandCount.lowerBound {
            throw .usage("\(spec.operands) is missing", hint: "usage: engine \(spec.name) \(spec.operands) [options]")
        }
        if operands.count > spec.operandCount.upperBound {
            throw .usage("unexpected argument '\(operands[spec.operandCount.upperBound])'", hint: hint)
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    func value(_ name: String) -> String? { values[name]?.last }

    /// All values of a repeatable option, in order.
    func values(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of `name` as a whole number of at least `minimum`.
    func integer(_ name: String, atLeast minimum: Int) throws(CommandError) -> Int? {
        guard let text = value(name) else { return nil }
        guard let number = Int(text), number >= minimum else {
            throw .usage("option '\(name)' takes a whole number of at least \(minimum), not '\(text)'")
        }
        return number
    }

    /// The value of `name` as a finite number of at least 0.
    func number(_ name: String) throws(CommandError) -> Double? {
        guard let text = value(name) else { return nil }
        guard let number = Double(text), number.isFinite, number >= 0 else {
            throw .usage("option '\(name)' takes a number of at least 0, not '\(text)'")
        }
        return number
    }

    /// The values of `name`, each of the form `key=value`, in order; no key twice.
    func pairs(_ name: String) throws(CommandError) -> [(key: String, value: String)] {
        var pairs: [(key: String, value: String)] = []
        for text in values(name) {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw .usage("option '\(name)' takes NAME=VALUE, not '\(text)'")
            }
            let key = String(text[..<equals])
            guard !pairs.contains(where: { $0.key == key }) else {
                throw .usage("option '\(name)' is given twice for '\(key)'")
            }
            pairs.append((key, String(text[text.index(after: equals)...])))
        }
        return pairs
    }
}

/// Finds what somebody may have meant.
enum Suggestion {
    /// The candidate that is nearest to `text`, where it is near enough to be a slip.
    static func nearest(to text: String, among candidates: [String]) -> String? {
        let ranked = candidates.map { ($0, distance(Array(text.utf8), Array($0.utf8))) }.min { $0.1 < $1.1 }
        guard let (candidate, distance) = ranked, distance <= max(2, text.utf8.count / 4) else { return nil }
        return candidate
    }

    /// Insertions, deletions and replacements from `a` to `b`.
    static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        // A name longer than any of ours is no slip, and would make this slow.
        guard a.count <= 64, b.count <= 64 else { return .max }
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let replaced = diagonal + (x == y ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[b.count]
    }
}
