/// One file of an archive, as the central directory describes it.
struct ZipEntry: Equatable, Sendable {
    enum Method: Equatable, Sendable {
        case stored
        case deflated
    }

    var name: String
    var method: Method
    var checksum: UInt32
    var compressedByteCount: Int
    var byteCount: Int
    /// Where the local header begins.
    var headerOffset: Int
}

/// Finds and reads an archive's central directory.
enum ZipDirectory {
    private static let endByteCount = 22
    private static let locatorByteCount = 20
    private static let end64ByteCount = 56
    private static let entryByteCount = 46
    /// A directory beyond this size is refused rather than held in memory: room for a million entries.
    private static let maximumByteCount = 1 << 27

    static func read(_ file: FileReader) throws(CommandError) -> [ZipEntry] {
        let (offset, byteCount, count) = try locate(file)
        guard offset <= file.byteCount, byteCount <= file.byteCount - offset, byteCount <= maximumByteCount,
            count <= byteCount / entryByteCount
        else { throw .failure("\(file.path): the archive's directory lies outside the file") }
        let bytes = LittleEndianBytes(try file.read(offset: offset, count: byteCount))
        var entries: [ZipEntry] = []
        var position = 0
        for _ in 0..<count {
            let (entry, next) = try entry(of: bytes, at: position, in: file)
            entries.append(entry)
            position = next
        }
        return entries
    }

    /// The place, size and entry count of the central directory.
    private static func locate(_ file: FileReader) throws(CommandError) -> (Int, Int, Int) {
        let tailByteCount = min(file.byteCount, endByteCount + 0xFFFF)
        let tail = LittleEndianBytes(try file.read(offset: file.byteCount - tailByteCount, count: tailByteCount))
        var position = tailByteCount - endByteCount
        // The record is last but for a comment, whose length it tells.
        while position >= 0 {
            if tail.uint32(position) == 0x0605_4B50,
                tail.uint16(position + 20) <= tailByteCount - position - endByteCount
            {
                break
            }
            position -= 1
        }
        guard position >= 0 else { throw .failure("\(file.path): this is no .npz file: no archive ends here") }
        let count = tail.uint16(position + 10)
        let byteCount = tail.uint32(position + 12)
        let offset = tail.uint32(position + 16)
        guard count == 0xFFFF || byteCount == 0xFFFF_FFFF || offset == 0xFFFF_FFFF else {
            return (offset, byteCount, count)
        }

        let locatorOffset = file.byteCount - tailByteCount + position - locatorByteCount
        guard locatorOffset >= 0 else { return (offset, byteCount, count) }
        let locator = LittleEndianBytes(try file.read(offset: locatorOffset, count: locatorByteCount))
        guard locator.uint32(0) == 0x0706_4B50 else { return (offset, byteCount, count) }
        guard let recordOffset = locator.uint64(8), recordOffset <= file.byteCount - end64ByteCount else {
            throw .failure("\(file.path): the archive's zip64 record lies outside the file")
        }
        let record = LittleEndianBytes(try file.read(offset: recordOffset, count: end64ByteCount))
        guard record.uint32(0) == 0x0606_4B50, let count = record.uint64(32), let byteCount = record.uint64(40),
            let offset = record.uint64(48)
        else { throw .failure("\(file.path): the archive's zip64 record is malformed") }
        return (offset, byteCount, count)
    }

    private static func entry(
        of bytes: LittleEndianBytes, at position: Int, in file: FileReader
    ) throws(CommandError) -> (ZipEntry, next: Int) {
        guard position <= bytes.count - entryByteCount, bytes.uint32(position) == 0x0201_4B50 else {
            throw .failure("\(file.path): the archive's directory is malformed at byte \(position)")
        }
        let nameStart = position + entryByteCount
        let extraStart = nameStart + bytes.uint16(position + 28)
        let extraEnd = extraStart + bytes.uint16(position + 30)
        let next = extraEnd + bytes.uint16(position + 32)
        guard next <= bytes.count else {
            throw .failure("\(file.path): the archive's directory is cut short at byte \(position)")
        }
        let name = String(decoding: bytes[nameStart..<extraStart], as: UTF8.self)
        guard bytes.uint16(position + 8) & 1 == 0 else { throw .failure("\(file.path): '\(name)' is encrypted") }
        let method: ZipEntry.Method
        switch bytes.uint16(position + 10) {
        case 0: method = .stored
        case 8: method = .deflated
        case let code:
            throw .failure("\(file.path): '\(name)' is packed by method \(code); stored and deflated are read")
        }
        var entry = ZipEntry(
            name: name, method: method, checksum: UInt32(bytes.uint32(position + 16)),
            compressedByteCount: bytes.uint32(position + 20), byteCount: bytes.uint32(position + 24),
            headerOffset: bytes.uint32(position + 42))
        try applyZip64(&entry, bytes, extraStart..<extraEnd, file)
        guard entry.headerOffset <= file.byteCount, entry.compressedByteCount <= file.byteCount - entry.headerOffset
        else { throw .failure("\(file.path): '\(name)' lies outside the file") }
        return (entry, next)
    }

    /// Sizes and places that don't fit in 32 bits are in an extra field, in this order, each only where needed.
    private static func applyZip64(
        _ entry: inout ZipEntry, _ bytes: LittleEndianBytes, _ extra: Range<Int>, _ file: FileReader
    ) throws(CommandError) {
        let marker = 0xFFFF_FFFF
        guard entry.byteCount == marker || entry.compressedByteCount == marker || entry.headerOffset == marker else {
            return
        }
        var position = extra.lowerBound
        while position + 4 <= extra.upperBound {
            let end = position + 4 + bytes.uint16(position + 2)
            guard end <= extra.upperBound else { break }
            defer { position = end }
            guard bytes.uint16(position) == 1 else { continue }
            var field = position + 4
            for path in [\ZipEntry.byteCount, \.compressedByteCount, \.headerOffset]
            where entry[keyPath: path] == marker {
                guard field + 8 <= end, let value = bytes.uint64(field) else {
                    throw .failure("\(file.path): '\(entry.name)' has a malformed zip64 field")
                }
                entry[keyPath: path] = value
                field += 8
            }
            return
        }
        throw .failure("\(file.path): '\(entry.name)' lacks its zip64 field")
    }
}

/// Bytes, read as little-endian numbers. Places are the caller's to check.
struct LittleEndianBytes {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    func uint16(_ position: Int) -> Int { Int(bytes[position]) | Int(bytes[position + 1]) << 8 }

    func uint32(_ position: Int) -> Int { uint16(position) | uint16(position + 2) << 16 }

    /// Nil for a number that is no size.
    func uint64(_ position: Int) -> Int? {
        let high = uint32(position + 4)
        return high < 0x8000_0000 ? uint32(position) | high << 32 : nil
    }
}
