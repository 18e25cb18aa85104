internal import EngineGraph

/// What an op's first bytes say.
struct OpHead {
    /// An index into the container's names of ops.
    var name: Int
    var location: Int
    var properties: ByteReader?
    private var mask: UInt8

    private static let attributes: UInt8 = 1
    private static let results: UInt8 = 2
    private static let operands: UInt8 = 4
    private static let regions: UInt8 = 0x10
    private static let properties: UInt8 = 0x40

    var hasResults: Bool { mask & Self.results != 0 }
    var hasOperands: Bool { mask & Self.operands != 0 }
    var hasRegions: Bool { mask & Self.regions != 0 }

    /// - Parameter enclosing: the location of the op around this one.
    init(_ reader: inout ByteReader, _ tables: DecodingTables, enclosing: Int) throws(EngineError) {
        let container = tables.container
        name = try reader.index(below: container.opNames.count, "op name")
        mask = try reader.byte()
        let known = Self.results | Self.operands | Self.regions | Self.properties
        guard mask & ~known == 0 else {
            let what = mask & Self.attributes != 0 ? "a dictionary of attributes" : "successors or a use-list order"
            throw reader.malformed("op \(container.opNames[name]) has \(what), which is not supported")
        }
        location = try tables.locations.location(
            reader.index(below: container.attributes.count, "attribute"), enclosing: enclosing)
        if mask & Self.properties != 0 {
            properties =
                container.properties[
                    try reader.index(below: container.properties.count, "group of properties")]
        }
    }
}

extension ByteReader {
    /// The contents of the section that holds an isolated region.
    mutating func regionSection() throws(EngineError) -> ByteReader {
        let (id, contents) = try section()
        guard id == 4 else { throw contents.malformed("section \(id) stands where a region belongs") }
        return contents
    }
}
