internal import EngineGraph

/// Reads a program's attributes as the plain values that they stand for.
final class AttributeDecoder {
    let container: BytecodeContainer
    private let text: AttributeText

    init(_ container: BytecodeContainer) {
        self.container = container
        text = AttributeText(container)
    }

    /// A reader behind the attribute's code, which must be `code`.
    func contents(_ index: Int, _ code: UInt64, _ what: String) throws(EngineError) -> ByteReader {
        var reader = container.attributes[index]
        let found = try reader.varint()
        guard found == code else { throw reader.malformed("\(what) has attribute code \(found), not \(code)") }
        return reader
    }

    /// The index of the attribute that the number at the reader's position names.
    func reference(_ reader: inout ByteReader) throws(EngineError) -> Int {
        try reader.index(below: container.attributes.count, "attribute")
    }

    func string(_ index: Int, _ what: String) throws(EngineError) -> String {
        var reader = try contents(index, AttributeCode.string, what)
        return try container.strings.string(&reader)
    }

    func integer(_ index: Int, _ what: String) throws(EngineError) -> Int64 {
        var reader = try contents(index, AttributeCode.integer, what)
        return try reader.integerAttribute().value
    }

    /// A `true` may be stored as a signed bit: −1.
    func flag(_ index: Int, _ what: String) throws(EngineError) -> Bool { try integer(index, what) != 0 }

    /// An attribute that holds one small number.
    func enumeration(_ index: Int, _ code: UInt64, _ what: String) throws(EngineError) -> Int {
        var reader = try contents(index, code, what)
        return Int(clamping: try reader.varint())
    }

    /// The name of the graph that an `invoke` calls: a parameter that holds a symbol.
    func callee(_ index: Int) throws(EngineError) -> String {
        var parameter = try contents(index, AttributeCode.parameter, "a callee")
        var symbol = try contents(reference(&parameter), AttributeCode.symbol, "a callee's symbol")
        guard try symbol.varint() == 1 else { throw symbol.malformed("a nested symbol is not supported") }
        return try container.strings.string(&symbol)
    }

    /// The names that a graph gives its arguments or results: for each a list of `key: value`, of which
    /// `aicode.name` is the one. An empty name stands where there is none.
    func names(_ index: Int, _ what: String) throws(EngineError) -> [String] {
        var list = try contents(index, AttributeCode.array, what)
        var names: [String] = []
        for _ in 0..<(try list.count("names")) {
            try text.charge(1, list)
            var entries = try contents(reference(&list), AttributeCode.array, what)
            var name = ""
            for _ in 0..<(try entries.count("attributes")) {
                try text.charge(1, entries)
                if let found = try self.name(reference(&entries), what) { name = found }
            }
            names.append(name)
        }
        return names
    }

    private func name(_ index: Int, _ what: String) throws(EngineError) -> String? {
        var entry = container.attributes[index]
        guard try entry.varint() == AttributeCode.opaque,
            try container.strings.string(&entry) == "aicode.name"
        else { return nil }
        guard try entry.varint() == 1 else { throw entry.malformed("a name in \(what) is not one string") }
        return try string(reference(&entry), what)
    }

    /// `name[{input_names: …}, {op_attrs: …}, {output_names: …}]`.
    func composite(_ index: Int) throws(EngineError) -> Composite {
        var declaration = try contents(index, AttributeCode.opaque, "a composite")
        var composite = Composite(name: try container.strings.string(&declaration))
        for _ in 0..<(try declaration.count("attributes")) {
            try text.charge(1, declaration)
            let part = try reference(&declaration)
            guard var entry = try opaque(part, named: "op_attrs"), try entry.varint() == 1 else { continue }
            for (key, value) in try dictionary(reference(&entry), "a composite's attributes") {
                composite.attributes[key] = try text.text(value)
            }
        }
        return composite
    }

    /// The contents of an opaque attribute behind its name, where that is `name`.
    private func opaque(_ index: Int, named name: String) throws(EngineError) -> ByteReader? {
        var reader = container.attributes[index]
        guard try reader.varint() == AttributeCode.opaque, try container.strings.string(&reader) == name else {
            return nil
        }
        return reader
    }

    /// The keys of a dictionary, each with the index of its value.
    func dictionary(_ index: Int, _ what: String) throws(EngineError) -> [(key: String, value: Int)] {
        var reader = try contents(index, AttributeCode.dictionary, what)
        var entries: [(key: String, value: Int)] = []
        for _ in 0..<(try reader.count("entries")) {
            try text.charge(1, reader)
            var entry = try contents(reference(&reader), AttributeCode.opaque, what)
            let key = try container.strings.string(&entry)
            guard try entry.varint() == 1 else { throw entry.malformed("a key of \(what) has not one value") }
            entries.append((key, try reference(&entry)))
        }
        return entries
    }

    /// The attribute as text: a string as it is, everything else as JSON.
    func text(_ index: Int) throws(EngineError) -> String { try text.text(index) }
}

extension ByteReader {
    /// The contents of an integer attribute: a width, whether it is unsigned, and the value.
    mutating func integerAttribute() throws(EngineError) -> (width: UInt64, isUnsigned: Bool, value: Int64) {
        let width = try varint()
        let isUnsigned = try byte() == 1
        guard (1...64).contains(width) else { throw malformed("an integer attribute of \(width) bits") }
        if width > 8 { return (width, isUnsigned, try signedVarint()) }
        let bits = try byte()
        if isUnsigned { return (width, isUnsigned, Int64(bits)) }
        let shift = 8 - width
        return (width, isUnsigned, Int64(Int8(bitPattern: bits << shift) >> shift))
    }

    /// The contents of a floating-point attribute.
    mutating func floatAttribute() throws(EngineError) -> String {
        switch try varint() {
        case 16: return String(Float16(bitPattern: UInt16(truncatingIfNeeded: try signedVarint())))
        case 32: return String(Float(bitPattern: UInt32(truncatingIfNeeded: try signedVarint())))
        case 64: return String(Double(bitPattern: UInt64(bitPattern: try signedVarint())))
        case let width: throw malformed("a floating-point attribute of \(width) bits")
        }
    }
}
