/// A JSON value that keeps what Foundation's reader loses: the order of keys, and how a number was written.
package indirect enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// The number's text.
    case number(String)
    case string(String)
    case array([JSON])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package var key: String
        package var value: JSON

        package init(_ key: String, _ value: JSON) {
            self.key = key
            self.value = value
        }
    }

    package init(_ value: Int) { self = .number(String(value)) }

    /// A number that stays a floating-point number when it is read again; nil for one that JSON can't hold.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self = .number(String(value))
    }

    /// The last member `key` of an object.
    package subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key == key }?.value
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// Sets or adds the member `key` of an object; nil removes it. Anything else than an object stays as it is.
    package mutating func set(_ key: String, _ value: JSON?) {
        guard case .object(var members) = self else { return }
        if let value, let index = members.lastIndex(where: { $0.key == key }) {
            members[index].value = value
        } else if let value {
            members.append(Member(key, value))
        } else {
            members.removeAll { $0.key == key }
        }
        self = .object(members)
    }
}

extension JSON {
    /// The value as text over several lines, in the converters' style.
    package var text: String {
        var text = ""
        write(into: &text, indent: 0)
        return text
    }

    private func write(into text: inout String, indent: Int) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let number): text += number
        case .string(let value): text += Self.quoted(value)
        case .array(let elements):
            text += "["
            for (position, element) in elements.enumerated() {
                text += (position == 0 ? "\n" : ",\n") + String(repeating: "  ", count: indent + 1)
                element.write(into: &text, indent: indent + 1)
            }
            text += (elements.isEmpty ? "" : "\n" + String(repeating: "  ", count: indent)) + "]"
        case .object(let members):
            text += "{"
            for (position, member) in members.enumerated() {
                text += (position == 0 ? "\n" : ",\n") + String(repeating: "  ", count: indent + 1)
                text += Self.quoted(member.key) + " : "
                member.value.write(into: &text, indent: indent + 1)
            }
            text += (members.isEmpty ? "" : "\n" + String(repeating: "  ", count: indent)) + "}"
        }
    }

    /// `text` as a JSON string.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case "\r": quoted += "\\r"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
