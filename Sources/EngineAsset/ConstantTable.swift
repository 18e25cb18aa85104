internal import EngineGraph

/// The constants of a program: one object for each attribute, over the bytes in the map.
final class ConstantTable {
    private let container: BytecodeContainer
    private var made: [Int: Constant] = [:]

    init(_ container: BytecodeContainer) { self.container = container }

    /// The constant of the attribute at `index`, whose bytes must make a value of `type`.
    func constant(_ index: Int, type: ValueType) throws(EngineError) -> Constant {
        let reader = container.attributes[index]
        let constant = try object(index)
        guard case .tensor(let tensor) = type, tensor.encoding == .dense, let count = tensor.elementCount,
            let byteCount = tensor.byteCount
        else { throw reader.malformed("a constant of type \(type)") }
        let elementBytes = (tensor.elementType.bitWidth + 7) / 8
        // A splat says how many elements there are by its type alone, none included.
        let fits =
            constant.isSplat
            ? constant.byteCount == elementBytes || (count == 0 && constant.byteCount == 0)
            : constant.byteCount == byteCount
        guard fits else {
            let expected = constant.isSplat ? elementBytes : byteCount
            throw reader.malformed("a constant of type \(type) has \(constant.byteCount) bytes, not \(expected)")
        }
        return constant
    }

    private func object(_ index: Int) throws(EngineError) -> Constant {
        if let constant = made[index] { return constant }
        let constant = try make(index)
        made[index] = constant
        return constant
    }

    private func make(_ index: Int) throws(EngineError) -> Constant {
        var reader = container.attributes[index]
        switch try reader.varint() {
        case AttributeCode.denseElements:
            let isSplat = try reader.byte() != 0
            let bytes = try reader.part(reader.count("bytes of a constant"))
            try reader.expectEnd(of: "a constant")
            return bytes.constant(isSplat: isSplat, owner: container.owner)
        case AttributeCode.denseResource:
            let blobs = container.resources.blobs
            let resource = try reader.index(below: blobs.count, "resource")
            try reader.expectEnd(of: "a constant")
            guard let blob = blobs[resource] else { throw reader.malformed("resource \(resource) is no blob") }
            return blob.constant(isSplat: false, owner: container.owner)
        case let code: throw reader.malformed("attribute code \(code) is not known for a constant")
        }
    }
}
