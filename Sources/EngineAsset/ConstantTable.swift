internal import EngineGraph

/// The constants of a program: one object for each attribute, over the bytes in the map.
final class ConstantTable {
    /// An attribute carries no type, and what it has beyond the bytes of its type is left out.
    private struct Key: Hashable {
        var attribute: Int
        var byteCount: Int
    }

    private struct Contents {
        var bytes: ByteReader
        var isSplat: Bool
    }

    private let container: BytecodeContainer
    private var made: [Key: Constant] = [:]

    init(_ container: BytecodeContainer) { self.container = container }

    /// The constant of the attribute at `index`, whose bytes must make a value of `type`.
    func constant(_ index: Int, type: ValueType) throws(EngineError) -> Constant {
        let contents = try contents(index)
        guard case .tensor(let tensor) = type, tensor.encoding == .dense, let count = tensor.elementCount,
            let denseCount = tensor.byteCount
        else { throw contents.bytes.malformed("a constant of type \(type)") }
        let elementCount = (tensor.elementType.bitWidth + 7) / 8
        let found = contents.bytes.remaining

        var byteCount = contents.isSplat ? elementCount : denseCount
        if contents.isSplat, count == 0, found == 0 { byteCount = 0 }
        // Two habits of the converters: a splat of bools comes with every element, and packed elements may lie in as
        // many bytes as there are elements; coreai-core reads them as packed from the front.
        let mayBeLonger = contents.isSplat ? tensor.elementType == .bool : tensor.elementType.isPacked
        guard found == byteCount || (mayBeLonger && found == count) else {
            throw contents.bytes.malformed("a constant of type \(type) has \(found) bytes, not \(byteCount)")
        }
        return try object(index, contents, byteCount: byteCount)
    }

    private func object(_ index: Int, _ contents: Contents, byteCount: Int) throws(EngineError) -> Constant {
        let key = Key(attribute: index, byteCount: byteCount)
        if let constant = made[key] { return constant }
        let bytes = try contents.bytes.part(at: 0, length: byteCount)
        let constant = bytes.constant(isSplat: contents.isSplat, owner: container.owner)
        made[key] = constant
        return constant
    }

    private func contents(_ index: Int) throws(EngineError) -> Contents {
        var reader = container.attributes[index]
        switch try reader.varint() {
        case AttributeCode.denseElements:
            let isSplat = try reader.byte() != 0
            let bytes = try reader.part(reader.count("bytes of a constant"))
            try reader.expectEnd(of: "a constant")
            return Contents(bytes: bytes, isSplat: isSplat)
        case AttributeCode.denseResource:
            let blobs = container.resources.blobs
            let resource = try reader.index(below: blobs.count, "resource")
            try reader.expectEnd(of: "a constant")
            guard let blob = blobs[resource] else { throw reader.malformed("resource \(resource) is no blob") }
            return Contents(bytes: blob, isSplat: false)
        case let code: throw reader.malformed("attribute code \(code) is not known for a constant")
        }
    }
}
