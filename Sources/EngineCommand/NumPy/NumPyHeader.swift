/// What stands before the elements of a `.npy` file.
struct NumPyHeader: Equatable {
    /// Far more than any real header takes: a description is a type, a flag and a shape.
    static let maximumByteCount = 1 << 16
    static let magic: [UInt8] = [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59]

    var type: NumPyType
    var isBigEndian: Bool
    var isColumnMajor: Bool
    var shape: [Int]
    /// Where the elements begin, from the start of the file.
    var dataOffset: Int

    /// Reads the header at the start of `bytes`.
    init(_ bytes: ArraySlice<UInt8>) throws(CommandError) {
        let start = bytes.startIndex
        guard bytes.starts(with: Self.magic), bytes.count >= 10 else { throw .failure("this is no .npy file") }
        let major = bytes[start + 6]
        let prefix: Int
        let length: Int
        switch major {
        case 1:
            prefix = 10
            length = Int(bytes[start + 8]) | Int(bytes[start + 9]) << 8
        case 2, 3:
            prefix = 12
            guard bytes.count >= prefix else { throw .failure("the .npy header is cut short") }
            length = (0..<4).reduce(0) { $0 | Int(bytes[start + 8 + $1]) << (8 * $1) }
        default: throw .failure(".npy version \(major) is unknown; 1, 2 and 3 are read")
        }
        guard length <= Self.maximumByteCount else { throw .failure("a .npy header of \(length) bytes is too long") }
        guard bytes.count - prefix >= length else { throw .failure("the .npy header is cut short") }
        var parser = HeaderParser(bytes[start + prefix..<start + prefix + length])
        let fields = try parser.parse()

        guard let type = NumPyType(descriptor: fields.descriptor) else {
            throw .failure("elements of type '\(fields.descriptor)' can't be read: only numbers and bools can")
        }
        self.type = type
        self.isBigEndian = fields.descriptor.first == ">"
        self.isColumnMajor = fields.isColumnMajor
        self.shape = fields.shape
        self.dataOffset = prefix + length
    }

    /// The header of a version 1 file (2 where the shape is too long for it), padded so that the elements are aligned.
    static func bytes(type: NumPyType, shape: [Int]) -> [UInt8] {
        let extents = shape.map(String.init).joined(separator: ", ") + (shape.count == 1 ? "," : "")
        let text = "{'descr': '\(type.descriptor)', 'fortran_order': False, 'shape': (\(extents)), }"
        let isLong = text.utf8.count > 65_000
        let prefix = isLong ? 12 : 10
        let padding = (64 - (prefix + text.utf8.count + 1) % 64) % 64
        let length = text.utf8.count + padding + 1
        var result = magic + [isLong ? 2 : 1, 0]
        for index in 0..<(isLong ? 4 : 2) { result.append(UInt8(truncatingIfNeeded: length >> (8 * index))) }
        result += Array(text.utf8) + [UInt8](repeating: 0x20, count: padding) + [0x0A]
        return result
    }
}

/// Reads the Python dictionary of a header: three keys, and no more of Python than their values need.
private struct HeaderParser {
    struct Fields {
        var descriptor: String
        var isColumnMajor: Bool
        var shape: [Int]
    }

    private let bytes: ArraySlice<UInt8>
    private var index: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.index = bytes.startIndex
    }

    mutating func parse() throws(CommandError) -> Fields {
        var descriptor: String?
        var isColumnMajor: Bool?
        var shape: [Int]?
        try expect("{")
        while !take("}") {
            let key = try string()
            try expect(":")
            switch key {
            case "descr" where descriptor == nil:
                if peek() == UInt8(ascii: "[") { throw .failure("records of several fields can't be read") }
                descriptor = try string()
            case "fortran_order" where isColumnMajor == nil: isColumnMajor = try bool()
            case "shape" where shape == nil: shape = try tuple()
            default: throw .failure("the .npy header's key '\(key)' is unknown or there twice")
            }
            if !take(",") {
                try expect("}")
                break
            }
        }
        guard peek() == nil else { throw .failure("the .npy header goes on after its dictionary") }
        guard let descriptor, let isColumnMajor, let shape else {
            throw .failure("the .npy header lacks 'descr', 'fortran_order' or 'shape'")
        }
        return Fields(descriptor: descriptor, isColumnMajor: isColumnMajor, shape: shape)
    }

    /// The next byte that is no white space, without passing it.
    private mutating func peek() -> UInt8? {
        while index < bytes.endIndex, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
        return index < bytes.endIndex ? bytes[index] : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(CommandError) {
        guard take(character) else {
            throw .failure("the .npy header is malformed at byte \(index - bytes.startIndex): no '\(character)'")
        }
    }

    private mutating func string() throws(CommandError) -> String {
        guard let quote = peek(), quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
            throw .failure("the .npy header is malformed at byte \(index - bytes.startIndex): no string")
        }
        index += 1
        guard let end = bytes[index...].firstIndex(of: quote) else {
            throw .failure("the .npy header has a string without an end")
        }
        defer { index = end + 1 }
        return String(decoding: bytes[index..<end], as: UTF8.self)
    }

    private mutating func word() -> String {
        _ = peek()
        let start = index
        while index < bytes.endIndex, isWordByte(bytes[index]) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private mutating func bool() throws(CommandError) -> Bool {
        switch word() {
        case "True": return true
        case "False": return false
        default: throw .failure("the .npy header's 'fortran_order' is neither True nor False")
        }
    }

    private mutating func tuple() throws(CommandError) -> [Int] {
        var extents: [Int] = []
        try expect("(")
        while !take(")") {
            var text = word()
            // Python 2 wrote long integers with an L.
            if text.last == "L" { text.removeLast() }
            guard let extent = Int(text), extent >= 0 else {
                throw .failure("the .npy header's shape holds '\(text)', which is no extent")
            }
            guard extents.count < NumPyArray.maximumRank else {
                throw .failure("the .npy header's shape has more than \(NumPyArray.maximumRank) dimensions")
            }
            extents.append(extent)
            if !take(",") {
                try expect(")")
                break
            }
        }
        return extents
    }
}
