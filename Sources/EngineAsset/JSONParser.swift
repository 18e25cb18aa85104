package import EngineGraph

extension JSON {
    /// The value that `bytes` spell; `file` is for errors.
    package init(parsing bytes: [UInt8], file: String) throws(EngineError) {
        var parser = JSONParser(bytes, file: file)
        self = try parser.document()
    }
}

/// Reads JSON text: strict, and with a limit on nesting that keeps a hostile file off the stack's end.
private struct JSONParser {
    private static let depthLimit = 128
    private let bytes: [UInt8]
    private let file: String
    private var position = 0

    init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file
    }

    mutating func document() throws(EngineError) -> JSON {
        // A byte-order mark says nothing.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw malformed("something follows the end of the JSON value") }
        return value
    }

    private func malformed(_ reason: String) -> EngineError {
        .malformedAsset(file: file, offset: position, reason: reason)
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func skip(_ character: Character) -> Bool {
        skipSpace()
        guard let byte = next, byte == character.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Character) throws(EngineError) {
        guard skip(character) else { throw malformed("'\(character)' is missing here") }
    }

    private mutating func value(depth: Int) throws(EngineError) -> JSON {
        guard depth < Self.depthLimit else { throw malformed("JSON is nested deeper than \(Self.depthLimit)") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .array(try elements(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func word(_ word: String, _ value: JSON) throws(EngineError) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else { throw malformed("this is no JSON value") }
        position += word.utf8.count
        return value
    }

    private mutating func members(depth: Int) throws(EngineError) -> [JSON.Member] {
        try expect("{")
        if skip("}") { return [] }
        var members: [JSON.Member] = []
        repeat {
            skipSpace()
            let key = try string()
            try expect(":")
            members.append(JSON.Member(key, try value(depth: depth + 1)))
        } while skip(",")
        try expect("}")
        return members
    }

    private mutating func elements(depth: Int) throws(EngineError) -> [JSON] {
        try expect("[")
        if skip("]") { return [] }
        var elements: [JSON] = []
        repeat { elements.append(try value(depth: depth + 1)) } while skip(",")
        try expect("]")
        return elements
    }

    private mutating func number() throws(EngineError) -> String {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        let whole = try digits()
        guard whole == 1 || bytes[position - whole] != UInt8(ascii: "0") else {
            throw malformed("a number starts with a zero")
        }
        if next == UInt8(ascii: ".") {
            position += 1
            _ = try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            _ = try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(EngineError) -> Int {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw malformed("this is no JSON value") }
        return position - start
    }

    private mutating func string() throws(EngineError) -> String {
        guard next == UInt8(ascii: "\"") else { throw malformed("a string is missing here") }
        position += 1
        var units: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw malformed("a string holds a control character") }
            position += 1
            if byte == UInt8(ascii: "\\") {
                units.append(contentsOf: String(try escape()).utf8)
            } else {
                units.append(byte)
            }
        }
        guard next != nil else { throw malformed("a string does not end") }
        position += 1
        return String(decoding: units, as: UTF8.self)
    }

    private mutating func escape() throws(EngineError) -> Unicode.Scalar {
        guard let byte = next else { throw malformed("a string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "u"): return try escapedScalar()
        default: throw malformed("an escape that JSON does not know")
        }
    }

    /// The scalar of one or, beyond the first plane, two escaped code units.
    private mutating func escapedScalar() throws(EngineError) -> Unicode.Scalar {
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard (0xD800..<0xDC00).contains(unit), next == UInt8(ascii: "\\") else { return "\u{FFFD}" }
        let start = position
        position += 1
        if next == UInt8(ascii: "u") {
            position += 1
            let low = try codeUnit()
            if (0xDC00..<0xE000).contains(low) {
                let value = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
                return Unicode.Scalar(value) ?? "\u{FFFD}"
            }
        }
        position = start
        return "\u{FFFD}"
    }

    private mutating func codeUnit() throws(EngineError) -> UInt16 {
        guard bytes.count - position >= 4 else { throw malformed("an escape is cut off") }
        let digits = String(decoding: bytes[position..<position + 4], as: UTF8.self)
        guard let unit = UInt16(digits, radix: 16), digits.first != "+" else {
            throw malformed("an escape that JSON does not know")
        }
        position += 4
        return unit
    }
}
