internal import EngineGraph

/// Writes attributes as text. Attributes may share others, so that a short file can spell a very long text: what all
/// attributes of a program may cost together is limited.
final class AttributeText {
    private static let depthLimit = 64
    private let container: BytecodeContainer
    private var made: [Int: String] = [:]
    private var budget: Int

    init(_ container: BytecodeContainer) {
        self.container = container
        // A genuine program's texts take a few dozen bytes for each of its attributes.
        budget = 1 << 16 + container.attributes.count * 256
    }

    /// The attribute at `index`: a string as it is, everything else as JSON.
    func text(_ index: Int) throws(EngineError) -> String {
        if let text = made[index] { return text }
        var reader = container.attributes[index]
        let text: String
        if try reader.varint() == AttributeCode.string {
            text = try container.strings.string(&reader)
        } else {
            var written = ""
            try write(index, into: &written, depth: 0)
            text = written
        }
        made[index] = text
        return text
    }

    private func append(_ piece: String, to text: inout String, _ reader: ByteReader) throws(EngineError) {
        // One more, so that empty pieces count too.
        try charge(piece.utf8.count + 1, reader)
        text += piece
    }

    /// Takes work on attributes off what a program of this size may cause.
    func charge(_ amount: Int, _ reader: ByteReader) throws(EngineError) {
        budget -= amount
        guard budget >= 0 else { throw reader.malformed("the attributes refer to each other too often") }
    }

    private func write(_ index: Int, into text: inout String, depth: Int) throws(EngineError) {
        var reader = container.attributes[index]
        guard depth < Self.depthLimit else {
            throw reader.malformed("attributes are nested deeper than \(Self.depthLimit)")
        }
        let piece: String
        switch try reader.varint() {
        case AttributeCode.string: piece = JSON.quoted(try container.strings.string(&reader))
        case AttributeCode.integer:
            let (width, isUnsigned, value) = try reader.integerAttribute()
            if width == 1 {
                piece = value != 0 ? "true" : "false"
            } else {
                piece = isUnsigned ? String(UInt64(bitPattern: value)) : String(value)
            }
        case AttributeCode.float: piece = try reader.floatAttribute()
        case AttributeCode.unit: piece = "true"
        case AttributeCode.array: return try writeArray(&reader, into: &text, depth: depth)
        case AttributeCode.dictionary: return try writeDictionary(&reader, into: &text, depth: depth)
        case AttributeCode.opaque: return try writeOpaque(&reader, into: &text, depth: depth)
        case let code: piece = JSON.quoted("attribute \(code)")
        }
        try append(piece, to: &text, reader)
    }

    private func writeArray(_ reader: inout ByteReader, into text: inout String, depth: Int) throws(EngineError) {
        try append("[", to: &text, reader)
        for position in 0..<(try reader.count("elements")) {
            if position > 0 { try append(",", to: &text, reader) }
            try write(reference(&reader), into: &text, depth: depth + 1)
        }
        try append("]", to: &text, reader)
    }

    private func writeDictionary(_ reader: inout ByteReader, into text: inout String, depth: Int) throws(EngineError) {
        try append("{", to: &text, reader)
        for position in 0..<(try reader.count("entries")) {
            if position > 0 { try append(",", to: &text, reader) }
            var entry = container.attributes[try reference(&reader)]
            guard try entry.varint() == AttributeCode.opaque else {
                throw entry.malformed("a dictionary's entry is no key with a value")
            }
            try append(JSON.quoted(container.strings.string(&entry)) + ":", to: &text, entry)
            guard try entry.varint() == 1 else { throw entry.malformed("a dictionary's key has not one value") }
            try write(reference(&entry), into: &text, depth: depth + 1)
        }
        try append("}", to: &text, reader)
    }

    private func writeOpaque(_ reader: inout ByteReader, into text: inout String, depth: Int) throws(EngineError) {
        try append("{" + JSON.quoted(container.strings.string(&reader)) + ":", to: &text, reader)
        try writeArray(&reader, into: &text, depth: depth)
        try append("}", to: &text, reader)
    }

    private func reference(_ reader: inout ByteReader) throws(EngineError) -> Int {
        try reader.index(below: container.attributes.count, "attribute")
    }
}
