internal import EngineGraph

/// The strings of a program; each becomes a Swift string once.
final class StringTable {
    private var places: [ByteReader] = []
    private var made: [String?]

    /// Lengths first, the last string's length leading; then the strings, each ended by a zero byte.
    init(_ section: ByteReader) throws(EngineError) {
        var section = section
        let count = try section.count("strings")
        var lengths: [Int] = []
        for _ in 0..<count { lengths.append(try section.count("bytes of a string")) }
        for length in lengths.reversed() {
            guard length > 0 else { throw section.malformed("a string lacks its end") }
            places.append(try section.part(length - 1))
            guard try section.byte() == 0 else { throw section.malformed("a string is not ended by a zero byte") }
        }
        try section.expectEnd(of: "the strings")
        made = Array(repeating: nil, count: count)
    }

    var count: Int { places.count }

    /// The string that the index at the reader's position names.
    func string(_ reader: inout ByteReader) throws(EngineError) -> String {
        self[try reader.index(below: places.count, "string")]
    }

    subscript(index: Int) -> String {
        if let text = made[index] { return text }
        let text = places[index].text
        made[index] = text
        return text
    }
}

/// Where the attributes and the types of a program lie.
struct EntryTable {
    private var readers: [ByteReader] = []

    /// Reads `count` entries off `offsets`; they lie one after another from `position` of `contents`.
    init(
        count: Int, dialects: Int, offsets: inout ByteReader, contents: inout ByteReader, what: String
    ) throws(EngineError) {
        while readers.count < count {
            _ = try offsets.index(below: dialects, "dialect")
            let group = try offsets.count(what)
            guard group > 0, group <= count - readers.count else {
                throw offsets.malformed("a group of \(group) \(what) where \(count - readers.count) are left")
            }
            for _ in 0..<group {
                let entry = try offsets.varint()
                guard entry & 1 == 1 else { throw offsets.malformed("\(what) written as text are not supported") }
                let length = try contents.checkedCount(entry >> 1, "bytes of \(what)")
                readers.append(try contents.part(length))
            }
        }
    }

    var count: Int { readers.count }

    subscript(index: Int) -> ByteReader { readers[index] }
}

/// The blobs of a program, in order; nil for a resource of another kind.
struct ResourceTable {
    private(set) var blobs: [ByteReader?] = []

    init() {}

    init(offsets: ByteReader, contents: ByteReader, dialects: Int, strings: Int) throws(EngineError) {
        var offsets = offsets
        var contents = contents
        guard try offsets.varint() == 0 else { throw offsets.malformed("external resources are not supported") }
        while !offsets.isAtEnd {
            _ = try offsets.index(below: dialects, "dialect")
            for _ in 0..<(try offsets.count("resources")) {
                _ = try offsets.index(below: strings, "string")
                let size = try contents.checkedCount(offsets.varint(), "bytes of a resource")
                let kind = try offsets.byte()
                var entry = try contents.part(size)
                blobs.append(kind == 0 ? try Self.blob(&entry) : nil)
            }
        }
        try contents.expectEnd(of: "the resources")
    }

    private static func blob(_ entry: inout ByteReader) throws(EngineError) -> ByteReader {
        let alignment = try entry.varint()
        let length = try entry.count("bytes of a blob")
        try entry.align(to: alignment)
        let data = try entry.part(length)
        try entry.expectEnd(of: "a blob")
        return data
    }
}
