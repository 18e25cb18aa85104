internal import EngineGraph

/// Turns a program's types into the graph's; each is read once.
final class TypeDecoder {
    private static let rankLimit = 64
    private let container: BytecodeContainer
    private var made: [ValueType?]

    init(_ container: BytecodeContainer) {
        self.container = container
        made = Array(repeating: nil, count: container.types.count)
    }

    /// The type that the index at the reader's position names.
    func type(_ reader: inout ByteReader) throws(EngineError) -> ValueType {
        try type(at: reader.index(below: made.count, "type"))
    }

    /// The type at `index`, which lies within the table.
    func type(at index: Int) throws(EngineError) -> ValueType {
        if let type = made[index] { return type }
        var reader = container.types[index]
        let code = try reader.varint()
        let type: ValueType
        switch code {
        case Code.tensor, Code.encodedTensor: type = .tensor(try tensor(code, &reader))
        case Code.handle: type = .handle(try handled(&reader))
        case Code.token: type = .token
        case Code.image, Code.constrainedImage: type = .image(try image(code, &reader))
        default:
            guard let scalar = Self.scalars[code] else {
                throw reader.malformed("type code \(code) is not known for a value")
            }
            type = .tensor(TensorType([], scalar))
        }
        try reader.expectEnd(of: "a type")
        made[index] = type
        return type
    }

    private func tensor(_ code: UInt64, _ reader: inout ByteReader) throws(EngineError) -> TensorType {
        let rank = try reader.count("dimensions")
        guard rank <= Self.rankLimit else {
            throw reader.malformed("a tensor of rank \(rank); at most \(Self.rankLimit) are read")
        }
        var shape: [Int] = []
        for _ in 0..<rank {
            let extent = try reader.signedVarint()
            guard extent >= 0 || extent == .min, let extent = Int(exactly: max(extent, -1)) else {
                throw reader.malformed("a dimension of \(extent)")
            }
            shape.append(extent)
        }
        let scalar = try scalar(&reader)
        let encoding = code == Code.encodedTensor ? try encoding(&reader) : .dense
        let type = TensorType(shape, scalar, encoding: encoding)
        if type.isStatic, type.byteCount == nil { throw reader.malformed("\(type) is larger than any memory") }
        return type
    }

    private func scalar(_ reader: inout ByteReader) throws(EngineError) -> ElementType {
        var entry = container.types[try reader.index(below: made.count, "type")]
        let code = try entry.varint()
        guard let scalar = Self.scalars[code] else {
            throw entry.malformed("type code \(code) is not known for an element")
        }
        try entry.expectEnd(of: "an element type")
        return scalar
    }

    private func encoding(_ reader: inout ByteReader) throws(EngineError) -> TensorEncoding {
        var entry = container.attributes[try reader.index(below: container.attributes.count, "attribute")]
        switch try entry.varint() {
        case AttributeCode.hardwareConstraints: return .dense
        case AttributeCode.sparseEncoding:
            // Kind, width of positions, width of coordinates, reserved, number of values.
            guard try entry.varint() == 0 else { throw entry.malformed("only bitmask sparse tensors are known") }
            for _ in 0..<3 { _ = try entry.varint() }
            let count = Int(exactly: try entry.varint())
            try entry.expectEnd(of: "a sparse encoding")
            return .bitmaskSparse(nonZeroCount: count)
        case let code: throw entry.malformed("attribute code \(code) is not known for a tensor's encoding")
        }
    }

    /// The tensor of a handle: one level deep, so that no type can contain itself.
    private func handled(_ reader: inout ByteReader) throws(EngineError) -> TensorType {
        var entry = container.types[try reader.index(below: made.count, "type")]
        let code = try entry.varint()
        guard code == Code.tensor || code == Code.encodedTensor else {
            throw entry.malformed("a handle of something else than a tensor (type code \(code))")
        }
        let type = try tensor(code, &entry)
        try entry.expectEnd(of: "a handle's type")
        return type
    }

    private func image(_ code: UInt64, _ reader: inout ByteReader) throws(EngineError) -> ImageType {
        var format = container.attributes[try reader.index(below: container.attributes.count, "attribute")]
        guard try format.varint() == AttributeCode.fourCC, let code4 = UInt32(exactly: try format.varint()) else {
            throw format.malformed("an image's pixel format is not a four-character code")
        }
        guard let height = Int32(exactly: try reader.varint()), let width = Int32(exactly: try reader.varint()) else {
            throw reader.malformed("an image is larger than any memory")
        }
        if code == Code.constrainedImage {
            _ = try reader.index(below: container.attributes.count, "attribute")
        }
        return ImageType(height: Int(height), width: Int(width), pixelFormat: code4)
    }

    private enum Code {
        static let tensor: UInt64 = 2
        static let encodedTensor: UInt64 = 3
        static let handle: UInt64 = 31
        static let token: UInt64 = 32
        static let image: UInt64 = 39
        static let constrainedImage: UInt64 = 40
    }

    private static let scalars: [UInt64: ElementType] = [
        4: .bool, 5: .float64, 6: .float32, 7: .float16, 8: .bfloat16, 9: .float8e5m2, 10: .float8e4m3fn,
        11: .complexFloat64, 12: .complexFloat32, 13: .complexFloat16, 14: .complexBFloat16,
        15: .complexFloat8e5m2, 16: .complexFloat8e4m3fn,
        17: .int64, 18: .int32, 19: .int16, 20: .int8, 21: .int4, 22: .int2,
        23: .uint64, 24: .uint32, 25: .uint16, 26: .uint8, 27: .uint4, 28: .uint2, 29: .uint1,
        36: .uint6, 37: .uint3, 38: .tensorFloat32, 46: .float4e2m1fn, 47: .float8e8m0fn,
    ]
}
