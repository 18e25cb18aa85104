internal import EngineGraph

/// A cursor over a part of a file that never reads beyond its end.
///
/// The one place of this module that turns a position into a byte. `base` stays valid while the map that it came
/// from lives; whoever makes a reader keeps that map.
@safe struct ByteReader {
    private let base: UnsafeRawPointer
    /// Counted from the first byte of the file.
    private(set) var position: Int
    /// The position that this reader may not pass.
    let end: Int

    /// A reader of all `count` bytes at `base`.
    init(base: UnsafeRawPointer, count: Int) {
        unsafe self.base = unsafe base
        position = 0
        end = max(count, 0)
    }

    private init(base: UnsafeRawPointer, position: Int, end: Int) {
        unsafe self.base = unsafe base
        self.position = position
        self.end = end
    }

    var remaining: Int { end - position }
    var isAtEnd: Bool { position >= end }

    /// An error about what lies at this position.
    func malformed(_ reason: String) -> EngineError {
        .malformedAsset(file: AssetFolder.programName, offset: position, reason: reason)
    }

    mutating func byte() throws(EngineError) -> UInt8 {
        guard position < end else { throw malformed("the data ends too early") }
        let value = unsafe base.load(fromByteOffset: position, as: UInt8.self)
        position += 1
        return value
    }

    /// An unsigned integer: the trailing zero bits of its first byte count the bytes that follow.
    mutating func varint() throws(EngineError) -> UInt64 {
        let first = try byte()
        if first & 1 == 1 { return UInt64(first >> 1) }
        let following = first == 0 ? 8 : first.trailingZeroBitCount
        guard following <= remaining else { throw malformed("an integer of \(following) bytes is cut off") }
        var value: UInt64 = 0
        for index in 0..<following {
            let next = unsafe base.load(fromByteOffset: position + index, as: UInt8.self)
            value |= UInt64(next) << (8 * UInt64(index))
        }
        position += following
        if first == 0 { return value }
        // At most seven bytes follow here, so that nothing is lost on the left.
        return (value << 8 | UInt64(first)) >> UInt64(following + 1)
    }

    /// A signed integer, zig-zag coded.
    mutating func signedVarint() throws(EngineError) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A number of things that follow, each of one byte or more: never more than the bytes that are left.
    mutating func count(_ what: String) throws(EngineError) -> Int {
        let value = try varint()
        return try checkedCount(value, what)
    }

    /// The same for a number that came with a flag in its low bit.
    func checkedCount(_ value: UInt64, _ what: String) throws(EngineError) -> Int {
        guard value <= UInt64(remaining) else {
            throw malformed("\(value) \(what) can't lie in the \(remaining) bytes that are left")
        }
        return Int(value)
    }

    /// An index into a table of `limit` entries.
    mutating func index(below limit: Int, _ what: String) throws(EngineError) -> Int {
        let value = try varint()
        return try checkedIndex(value, below: limit, what)
    }

    func checkedIndex(_ value: UInt64, below limit: Int, _ what: String) throws(EngineError) -> Int {
        guard value < UInt64(max(limit, 0)) else {
            throw malformed("\(what) \(value) does not exist; there are \(limit)")
        }
        return Int(value)
    }

    /// A reader of the next `length` bytes, which this one skips.
    mutating func part(_ length: Int) throws(EngineError) -> ByteReader {
        guard length >= 0, length <= remaining else {
            throw malformed("\(length) bytes are announced where \(remaining) are left")
        }
        let part = unsafe ByteReader(base: base, position: position, end: position + length)
        position += length
        return part
    }

    /// A reader of `length` bytes from `offset` within this one.
    func part(at offset: Int, length: Int) throws(EngineError) -> ByteReader {
        guard offset >= 0, length >= 0, offset <= remaining, length <= remaining - offset else {
            throw malformed("bytes \(offset) to \(offset) + \(length) lie outside of the \(remaining) there are")
        }
        let start = position + offset
        return unsafe ByteReader(base: base, position: start, end: start + length)
    }

    /// Skips the padding that brings the position to a multiple of `alignment`, from the file's start.
    mutating func align(to alignment: UInt64) throws(EngineError) {
        guard alignment.nonzeroBitCount == 1, let alignment = Int(exactly: alignment) else {
            throw malformed("an alignment of \(alignment) is not a power of two")
        }
        let padding = (alignment - position & (alignment - 1)) & (alignment - 1)
        guard padding <= remaining else { throw malformed("\(padding) bytes of padding are cut off") }
        for _ in 0..<padding {
            guard try byte() == 0xCB else { throw malformed("the padding holds data") }
        }
    }

    /// A section: its number and a reader of its contents, which this one skips.
    mutating func section() throws(EngineError) -> (id: UInt8, contents: ByteReader) {
        let head = try byte()
        let length = try count("bytes of a section")
        if head & 0x80 != 0 { try align(to: varint()) }
        return (head & 0x7F, try part(length))
    }

    func expectEnd(of what: String) throws(EngineError) {
        guard isAtEnd else { throw malformed("\(remaining) bytes follow the end of \(what)") }
    }

    /// The bytes that are left, as text; bytes that are no UTF-8 are replaced.
    var text: String {
        let bytes = unsafe UnsafeRawBufferPointer(start: base + position, count: remaining)
        return unsafe String(decoding: bytes, as: UTF8.self)
    }

    /// A constant over the bytes that are left, which `owner` keeps alive.
    func constant(isSplat: Bool, owner: AnyObject) -> Constant {
        unsafe Constant(pointer: base + position, byteCount: remaining, isSplat: isSplat, owner: owner)
    }
}
