/// Writes an archive of stored files, put in its place when it is whole.
struct ZipWriter {
    private struct Record {
        var name: [UInt8]
        var checksum: UInt32
        var byteCount: Int
        var offset: Int
    }

    private let file: AtomicFile
    private var records: [Record] = []

    init(_ path: String) throws(CommandError) { file = try AtomicFile(path) }

    /// Adds a file made of `parts`, one after the other.
    mutating func add(_ name: String, _ parts: [ArraySlice<UInt8>]) throws(CommandError) {
        guard name.utf8.count <= 0xFFFF - 16 else { throw .failure("the name '\(name)' is too long") }
        let record = Record(
            name: Array(name.utf8), checksum: parts.reduce(0) { Checksum.crc32(of: $1, continuing: $0) },
            byteCount: parts.reduce(0) { $0 + $1.count }, offset: file.byteCount)
        let isLarge = record.byteCount >= 0xFFFF_FFFF
        var header = ByteWriter()
        header.uint32(0x0403_4B50)
        appendCommon(&header, record, isLarge: isLarge)
        header.uint16(isLarge ? 20 : 0)
        header.bytes += record.name
        if isLarge {
            header.uint16(1)
            header.uint16(16)
            header.uint64(record.byteCount)
            header.uint64(record.byteCount)
        }
        try file.write(header.bytes[...])
        for part in parts { try file.write(part) }
        records.append(record)
    }

    /// Writes the directory and puts the archive in its place.
    func commit() throws(CommandError) {
        let start = file.byteCount
        for record in records {
            // Sizes and offset together: simpler than three cases, and every reader takes it.
            let isLarge = record.byteCount >= 0xFFFF_FFFF || record.offset >= 0xFFFF_FFFF
            var entry = ByteWriter()
            entry.uint32(0x0201_4B50)
            entry.uint16(3 << 8 | 45)
            appendCommon(&entry, record, isLarge: isLarge)
            entry.uint16(isLarge ? 28 : 0)
            entry.uint16(0)
            entry.uint16(0)
            entry.uint16(0)
            entry.uint32(0o100644 << 16)
            entry.uint32(isLarge ? 0xFFFF_FFFF : record.offset)
            entry.bytes += record.name
            if isLarge {
                entry.uint16(1)
                entry.uint16(24)
                entry.uint64(record.byteCount)
                entry.uint64(record.byteCount)
                entry.uint64(record.offset)
            }
            try file.write(entry.bytes[...])
        }
        try writeEnd(start: start, byteCount: file.byteCount - start)
        try file.commit()
    }

    /// What local header and directory entry share: version to extract up to the name's length.
    private func appendCommon(_ writer: inout ByteWriter, _ record: Record, isLarge: Bool) {
        writer.uint16(isLarge ? 45 : 20)
        // Bit 11: the name is UTF-8.
        writer.uint16(1 << 11)
        writer.uint16(0)
        // The first of January 1980: the same arrays give the same file.
        writer.uint16(0)
        writer.uint16(0x21)
        writer.uint32(Int(record.checksum))
        writer.uint32(isLarge ? 0xFFFF_FFFF : record.byteCount)
        writer.uint32(isLarge ? 0xFFFF_FFFF : record.byteCount)
        writer.uint16(record.name.count)
    }

    private func writeEnd(start: Int, byteCount: Int) throws(CommandError) {
        var end = ByteWriter()
        if records.count >= 0xFFFF || start >= 0xFFFF_FFFF || byteCount >= 0xFFFF_FFFF {
            let recordOffset = file.byteCount
            end.uint32(0x0606_4B50)
            end.uint64(44)
            end.uint16(3 << 8 | 45)
            end.uint16(45)
            end.uint32(0)
            end.uint32(0)
            end.uint64(records.count)
            end.uint64(records.count)
            end.uint64(byteCount)
            end.uint64(start)
            end.uint32(0x0706_4B50)
            end.uint32(0)
            end.uint64(recordOffset)
            end.uint32(1)
        }
        end.uint32(0x0605_4B50)
        end.uint32(0)
        end.uint16(min(records.count, 0xFFFF))
        end.uint16(min(records.count, 0xFFFF))
        end.uint32(min(byteCount, 0xFFFF_FFFF))
        end.uint32(min(start, 0xFFFF_FFFF))
        end.uint16(0)
        try file.write(end.bytes[...])
    }
}

/// Collects little-endian numbers.
private struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func uint16(_ value: Int) { append(value, 2) }
    mutating func uint32(_ value: Int) { append(value, 4) }
    mutating func uint64(_ value: Int) { append(value, 8) }

    private mutating func append(_ value: Int, _ count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
}
