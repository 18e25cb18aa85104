/// The element types of NumPy's files that the engine reads and writes.
enum NumPyType: Hashable, Sendable {
    case bool
    /// A signed integer of so many bytes.
    case int(Int)
    case uint(Int)
    case float(Int)
    /// A complex number of so many bytes in all.
    case complex(Int)
    /// Bytes without a meaning of their own: NumPy's `void`, which bfloat16 and the fp8 types are saved as.
    case raw(Int)

    /// Reads a type string such as `<f4` or `|V2`; nil for one that stands for no number (text, objects, dates).
    init?(descriptor: String) {
        var text = descriptor[...]
        if let first = text.first, "<>|=".contains(first) { text.removeFirst() }
        guard let kind = text.popFirst(), text.allSatisfy({ $0.isASCII && $0.isNumber }), let size = Int(text) else {
            return nil
        }
        switch (kind, size) {
        case ("b", 1): self = .bool
        case ("i", 1), ("i", 2), ("i", 4), ("i", 8): self = .int(size)
        case ("u", 1), ("u", 2), ("u", 4), ("u", 8): self = .uint(size)
        case ("f", 2), ("f", 4), ("f", 8): self = .float(size)
        case ("c", 8), ("c", 16): self = .complex(size)
        case ("V", 1...16): self = .raw(size)
        default: return nil
        }
    }

    /// The bytes of one element.
    var byteCount: Int {
        switch self {
        case .bool: 1
        case .int(let size), .uint(let size), .float(let size), .complex(let size), .raw(let size): size
        }
    }

    /// The bytes that a change of byte order reverses together.
    var swapWidth: Int {
        switch self {
        case .complex(let size): size / 2
        case .raw: 1
        default: byteCount
        }
    }

    /// The type string of little-endian data.
    var descriptor: String {
        switch self {
        case .bool: "|b1"
        case .int(let size): (size == 1 ? "|i" : "<i") + String(size)
        case .uint(let size): (size == 1 ? "|u" : "<u") + String(size)
        case .float(let size): "<f" + String(size)
        case .complex(let size): "<c" + String(size)
        case .raw(let size): "|V" + String(size)
        }
    }

    /// NumPy's name of the type: `float32`.
    var name: String {
        switch self {
        case .bool: "bool"
        case .int(let size): "int" + String(size * 8)
        case .uint(let size): "uint" + String(size * 8)
        case .float(let size): "float" + String(size * 8)
        case .complex(let size): "complex" + String(size * 8)
        case .raw(let size): "void" + String(size * 8)
        }
    }

    /// Whether the type holds integers, or raw bytes that may stand for some.
    var isUnsignedOrRaw: Bool {
        switch self {
        case .uint, .raw: true
        default: false
        }
    }
}
