/// Reads the files of an archive, one at a time.
struct ZipReader {
    private static let headerByteCount = 30
    private let file: FileReader
    let entries: [ZipEntry]

    init(_ path: String) throws(CommandError) {
        file = try FileReader(path)
        entries = try ZipDirectory.read(file)
    }

    /// The contents of `entry`, checked against its size and checksum.
    func read(_ entry: ZipEntry) throws(CommandError) -> [UInt8] {
        let subject = "\(file.path): '\(entry.name)'"
        let header = LittleEndianBytes(try file.read(offset: entry.headerOffset, count: Self.headerByteCount))
        guard header.uint32(0) == 0x0403_4B50 else { throw .failure("\(subject) has no local header") }
        let offset = entry.headerOffset + Self.headerByteCount + header.uint16(26) + header.uint16(28)
        let packed = try file.read(offset: offset, count: entry.compressedByteCount)
        let bytes: [UInt8]
        switch entry.method {
        case .stored:
            guard entry.byteCount == packed.count else {
                throw .failure("\(subject): stored in \(packed.count) bytes, declared with \(entry.byteCount)")
            }
            bytes = packed
        case .deflated:
            do {
                bytes = try Inflate.unpack(packed, byteCount: entry.byteCount)
            } catch {
                throw error.about(subject)
            }
        }
        guard Checksum.crc32(of: bytes[...]) == entry.checksum else {
            throw .failure("\(subject): the checksum does not match: the file is damaged")
        }
        return bytes
    }
}
