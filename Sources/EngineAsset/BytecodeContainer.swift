internal import EngineGraph

/// A program's file, taken apart: its tables, and the section that holds its ops.
final class BytecodeContainer {
    static let bytecodeVersion: UInt64 = 6
    static let newestDialectVersion: UInt64 = 2
    static let dialectName = "aicode"

    /// What keeps the bytes valid.
    let owner: AnyObject
    let producer: String
    let strings: StringTable
    let attributes: EntryTable
    let types: EntryTable
    let properties: [ByteReader]
    let resources: ResourceTable
    /// The full name of each op that the program uses: `primitive.add_v1`.
    let opNames: [String]
    /// The top-level block.
    let program: ByteReader

    /// The sections' numbers in the file.
    private enum SectionID {
        static let string: UInt8 = 0
        static let dialect: UInt8 = 1
        static let entries: UInt8 = 2
        static let entryOffsets: UInt8 = 3
        static let program: UInt8 = 4
        static let resource: UInt8 = 5
        static let resourceOffsets: UInt8 = 6
        static let dialectVersions: UInt8 = 7
        static let properties: UInt8 = 8
        static let count = 9
    }

    init(_ file: ByteReader, owner: AnyObject) throws(EngineError) {
        self.owner = owner
        var file = file
        producer = try Self.header(&file)

        var sections = [ByteReader?](repeating: nil, count: SectionID.count)
        while !file.isAtEnd {
            let (id, contents) = try file.section()
            guard id < SectionID.count else { throw contents.malformed("section \(id) is not known") }
            guard sections[Int(id)] == nil else { throw contents.malformed("section \(id) occurs twice") }
            sections[Int(id)] = contents
        }
        func required(_ id: UInt8, _ name: String) throws(EngineError) -> ByteReader {
            guard let section = sections[Int(id)] else { throw file.malformed("the \(name) section is missing") }
            return section
        }

        strings = try StringTable(required(SectionID.string, "string"))
        var dialects = try required(SectionID.dialect, "dialect")
        let dialectCount = try Self.dialects(&dialects, strings)
        opNames = try Self.opNames(&dialects, dialectCount, strings)

        var offsets = try required(SectionID.entryOffsets, "offset")
        var entries = try required(SectionID.entries, "attribute and type")
        let attributeCount = try offsets.count("attributes")
        let typeCount = try offsets.count("types")
        attributes = try EntryTable(
            count: attributeCount, dialects: dialectCount, offsets: &offsets, contents: &entries, what: "attributes")
        types = try EntryTable(
            count: typeCount, dialects: dialectCount, offsets: &offsets, contents: &entries, what: "types")
        try offsets.expectEnd(of: "the offsets")
        try entries.expectEnd(of: "the attributes and types")

        properties = try sections[Int(SectionID.properties)].map(Self.properties) ?? []
        if let offsets = sections[Int(SectionID.resourceOffsets)], !offsets.isAtEnd {
            resources = try ResourceTable(
                offsets: offsets, contents: required(SectionID.resource, "resource"), dialects: dialectCount,
                strings: strings.count)
        } else {
            resources = ResourceTable()
        }
        program = try required(SectionID.program, "program")
    }

    /// Reads the magic number and the version; answers the producer.
    private static func header(_ file: inout ByteReader) throws(EngineError) -> String {
        for expected: UInt8 in [0x4D, 0x4C, 0xEF, 0x52] {
            guard try file.byte() == expected else {
                throw EngineError.malformedAsset(
                    file: AssetFolder.programName, offset: 0, reason: "it is no MLIR bytecode")
            }
        }
        let version = try file.varint()
        guard version == bytecodeVersion else {
            throw EngineError.unsupportedVersion(
                found: "bytecode version \(version)", supported: "bytecode version \(bytecodeVersion)")
        }
        var rest = file
        var length = 0
        while try rest.byte() != 0 { length += 1 }
        let producer = try file.part(length).text
        _ = try file.byte()
        return producer
    }

    /// Checks the dialects' names and versions; answers their number.
    private static func dialects(_ section: inout ByteReader, _ strings: StringTable) throws(EngineError) -> Int {
        let count = try section.count("dialects")
        for _ in 0..<count {
            let entry = try section.varint()
            let name = strings[try section.checkedIndex(entry >> 1, below: strings.count, "string")]
            guard name == dialectName else { throw section.malformed("dialect '\(name)' is not supported") }
            guard entry & 1 == 1 else { continue }
            var (id, contents) = try section.section()
            guard id == SectionID.dialectVersions else {
                throw section.malformed("section \(id) stands where the dialect's version belongs")
            }
            let version = try contents.varint()
            guard version <= newestDialectVersion else {
                throw EngineError.unsupportedVersion(
                    found: "\(dialectName) dialect version \(version)",
                    supported: "\(dialectName) dialect versions up to \(newestDialectVersion)")
            }
        }
        return count
    }

    private static func opNames(
        _ section: inout ByteReader, _ dialectCount: Int, _ strings: StringTable
    ) throws(EngineError) -> [String] {
        let total = try section.count("op names")
        var names: [String] = []
        while !section.isAtEnd {
            _ = try section.index(below: dialectCount, "dialect")
            for _ in 0..<(try section.count("op names")) {
                let entry = try section.varint()
                names.append(strings[try section.checkedIndex(entry >> 1, below: strings.count, "string")])
            }
        }
        guard names.count == total else {
            throw section.malformed("\(total) op names are announced, \(names.count) are there")
        }
        return names
    }

    private static func properties(_ section: ByteReader) throws(EngineError) -> [ByteReader] {
        var section = section
        let count = try section.count("properties")
        var properties: [ByteReader] = []
        for _ in 0..<count { properties.append(try section.part(section.count("bytes of properties"))) }
        try section.expectEnd(of: "the properties")
        return properties
    }
}
