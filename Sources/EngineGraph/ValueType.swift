/// The shape and element type of a tensor. A dimension that is not known yet is `TensorType.dynamic`.
package struct TensorType: Hashable, Sendable {
    /// Stands for a dimension that each call decides.
    package static let dynamic = -1
    /// The rank that the engine's kernels and plans are built for.
    package static let maximumRank = 8

    package var shape: [Int]
    package var elementType: ElementType
    package var encoding: TensorEncoding

    package init(_ shape: [Int], _ elementType: ElementType, encoding: TensorEncoding = .dense) {
        self.shape = shape
        self.elementType = elementType
        self.encoding = encoding
    }

    package var rank: Int { shape.count }
    package var isStatic: Bool { shape.allSatisfy { $0 >= 0 } }

    /// The number of elements; nil where a dimension is dynamic or the product overflows.
    package var elementCount: Int? {
        guard isStatic else { return nil }
        // A zero extent wins over a product that would overflow before it is reached.
        if shape.contains(0) { return 0 }
        var count = 1
        for extent in shape {
            let (product, overflow) = count.multipliedReportingOverflow(by: extent)
            if overflow { return nil }
            count = product
        }
        return count
    }

    /// The bytes of a contiguous tensor of this type; nil where they are not known or overflow. A bitmask tensor has
    /// its mask, one bit an element, behind its elements.
    package var byteCount: Int? {
        guard let elementCount, let elements = elementType.byteCount(of: elementCount) else { return nil }
        guard case .bitmaskSparse = encoding else { return elements }
        let (total, overflow) = elements.addingReportingOverflow((elementCount + 7) / 8)
        return overflow ? nil : total
    }

    /// Whether a tensor of type `other` may stand where this type is declared: same element type and rank, and every
    /// dimension equal unless it is dynamic here.
    package func accepts(_ other: TensorType) -> Bool {
        elementType == other.elementType && rank == other.rank
            && zip(shape, other.shape).allSatisfy { $0 == $1 || $0 == Self.dynamic }
    }
}

/// How the elements of a tensor are laid out beyond its shape.
package enum TensorEncoding: Hashable, Sendable {
    case dense
    /// A bit mask of the non-zero positions beside the packed non-zero values.
    case bitmaskSparse(nonZeroCount: Int?)
}

/// An image value: `width` × `height` pixels in a four-character pixel format.
package struct ImageType: Hashable, Sendable {
    package var height: Int
    package var width: Int
    package var pixelFormat: UInt32

    package init(height: Int, width: Int, pixelFormat: UInt32) {
        self.height = height
        self.width = width
        self.pixelFormat = pixelFormat
    }

    /// The format as a person writes it: `32BGRA`, `420YpCbCr8Planar`; else its four characters or its number.
    package var formatName: String {
        let characters = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: pixelFormat >> UInt32($0)) }
        guard characters.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return [24: "24RGB", 32: "32ARGB"][pixelFormat] ?? String(pixelFormat)
        }
        let name = String(decoding: characters, as: UTF8.self)
        return ["BGRA": "32BGRA", "y420": "420YpCbCr8Planar"][name] ?? name
    }
}

/// The type of a value of a graph.
package enum ValueType: Hashable, Sendable {
    case tensor(TensorType)
    /// A state: memory that the caller owns and the function reads and writes in place.
    case handle(TensorType)
    /// Orders reads and writes of a handle.
    case token
    case image(ImageType)

    package var tensor: TensorType? {
        if case .tensor(let type) = self { type } else { nil }
    }
}

extension TensorType: CustomStringConvertible {
    package var description: String {
        let dimensions = shape.map { $0 == Self.dynamic ? "?" : String($0) } + [elementType.dialectName]
        let suffix =
            switch encoding {
            case .dense: ""
            case .bitmaskSparse: ", bitmask"
            }
        return "tensor<" + dimensions.joined(separator: "x") + suffix + ">"
    }
}

extension ValueType: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tensor(let type): type.description
        case .handle(let type): "handle<\(type)>"
        case .token: "token"
        case .image(let type): "image<\(type.width)x\(type.height), \(type.formatName)>"
        }
    }
}
