internal import EngineGraph

/// The places in the source model that a program's ops come from, each made once.
final class LocationTable {
    /// The most places that are looked at for one op: ops that were fused name those of all their parts.
    private static let visitLimit = 64

    private struct Key: Hashable {
        var attribute: Int
        var enclosing: Int
    }

    private struct Place {
        var file: String
        var line: Int
        var column: Int
    }

    private struct Entry {
        var place: Place?
        var metadata: [String: String]
    }

    private let attributes: AttributeDecoder
    private let strings: StringTable
    private(set) var locations: [SourceLocation] = []
    private var made: [Key: Int] = [:]
    private var entries: [Int: Entry] = [:]
    private var details: [Int: (key: String, text: String)] = [:]

    init(_ attributes: AttributeDecoder) {
        self.attributes = attributes
        strings = attributes.container.strings
    }

    /// The index of the location that an attribute stands for. Where it names no line, that of the op around it.
    func location(_ attribute: Int, enclosing: Int) throws(EngineError) -> Int {
        let entry = try entry(attribute)
        if entry.place == nil, entry.metadata.isEmpty { return enclosing }
        let key = Key(attribute: attribute, enclosing: entry.place == nil ? enclosing : -1)
        if let index = made[key] { return index }
        let outer = locations.indices.contains(enclosing) ? locations[enclosing] : nil
        let place = entry.place ?? outer.map { Place(file: $0.file, line: $0.line, column: $0.column) }
        locations.append(
            SourceLocation(
                file: place?.file ?? "", line: place?.line ?? 0, column: place?.column ?? 0,
                metadata: entry.metadata))
        made[key] = locations.count - 1
        return locations.count - 1
    }

    private func entry(_ attribute: Int) throws(EngineError) -> Entry {
        if let entry = entries[attribute] { return entry }
        var reader = attributes.container.attributes[attribute]
        var entry = Entry(place: nil, metadata: [:])
        // Anything else than a location says nothing about the source.
        if try reader.varint() == AttributeCode.location {
            var visits = 0
            entry.place = try place(attribute, &visits, depth: 0)
            _ = try attributes.reference(&reader)
            _ = try attributes.reference(&reader)
            for _ in 0..<(try reader.count("locations")) { _ = try attributes.reference(&reader) }
            for _ in 0..<(try reader.count("metadata")) {
                let (key, text) = try detail(attributes.reference(&reader))
                entry.metadata[key] = text
            }
            try reader.expectEnd(of: "a location")
        }
        entries[attribute] = entry
        return entry
    }

    /// The first known line of a location or of those that were fused into it.
    private func place(_ attribute: Int, _ visits: inout Int, depth: Int) throws(EngineError) -> Place? {
        visits += 1
        guard visits <= Self.visitLimit, depth < Self.visitLimit / 4 else { return nil }
        var reader = attributes.container.attributes[attribute]
        guard try reader.varint() == AttributeCode.location else { return nil }
        if let place = try sourcePlace(attributes.reference(&reader)) { return place }
        _ = try attributes.reference(&reader)
        for _ in 0..<(try reader.count("locations")) {
            guard visits < Self.visitLimit else { return nil }
            if let place = try place(attributes.reference(&reader), &visits, depth: depth + 1) { return place }
        }
        return nil
    }

    private func sourcePlace(_ attribute: Int) throws(EngineError) -> Place? {
        var source = attributes.container.attributes[attribute]
        guard try source.varint() == AttributeCode.sourceLocation else { return nil }
        var file = try attributes.contents(attributes.reference(&source), AttributeCode.file, "a source file")
        let line = Int(clamping: try source.varint())
        let column = Int(clamping: try source.varint())
        guard line > 0 else { return nil }
        return Place(file: try strings.string(&file), line: line, column: column)
    }

    /// A piece of metadata as key and text. An op has an `op_id` for each of its levels: the level joins the key.
    private func detail(_ attribute: Int) throws(EngineError) -> (key: String, text: String) {
        if let detail = details[attribute] { return detail }
        var reader = try attributes.contents(attribute, AttributeCode.metadata, "metadata")
        var key = try strings.string(&reader)
        var data = try attributes.contents(attributes.reference(&reader), AttributeCode.metadataData, "metadata")
        var value = try attributes.reference(&data)
        if key == "op_id", try attributes.container.attributes[value].code() == AttributeCode.dictionary {
            let parts = try attributes.dictionary(value, "an op's identity")
            if let type = parts.first(where: { $0.key == "type" }),
                let identity = parts.first(where: { $0.key == "value" })
            {
                key += "." + (try attributes.text(type.value))
                value = identity.value
            }
        }
        let detail = (key: key, text: try attributes.text(value))
        details[attribute] = detail
        return detail
    }
}

extension ByteReader {
    /// The code that an attribute starts with.
    func code() throws(EngineError) -> UInt64 {
        var reader = self
        return try reader.varint()
    }
}
