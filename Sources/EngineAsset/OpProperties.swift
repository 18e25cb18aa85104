internal import EngineGraph

/// The properties of an op, in their order on disk: each names an attribute by its index.
struct PropertyReader {
    private var reader: ByteReader
    private let attributeCount: Int

    init(_ reader: ByteReader, attributeCount: Int) {
        self.reader = reader
        self.attributeCount = attributeCount
    }

    mutating func required() throws(EngineError) -> Int {
        try reader.index(below: attributeCount, "attribute")
    }

    mutating func optional() throws(EngineError) -> Int? {
        let value = try reader.varint()
        if value == 0 { return nil }
        guard value & 1 == 1 else { throw reader.malformed("an optional property of \(value)") }
        return try reader.checkedIndex(value >> 1, below: attributeCount, "attribute")
    }

    func expectEnd() throws(EngineError) { try reader.expectEnd(of: "the properties") }
}

/// What a function says about itself.
struct GraphProperties {
    var name: String
    var signature: Signature
}

/// Turns ops' properties into the graph's attributes.
struct PropertyDecoder {
    let attributes: AttributeDecoder
    let constants: ConstantTable

    private func reader(_ properties: ByteReader?, _ op: ByteReader, _ name: String) throws(EngineError)
        -> PropertyReader
    {
        guard let properties else { throw op.malformed("op \(name) lacks its properties") }
        return PropertyReader(properties, attributeCount: attributes.container.attributes.count)
    }

    /// Checks the version that the asset declares for its ops; answers it.
    func assetVersion(_ properties: ByteReader?, _ op: ByteReader) throws(EngineError) -> Int? {
        guard properties != nil else { return nil }
        var reader = try reader(properties, op, "serialization.asset")
        _ = try reader.optional()
        guard let version = try reader.optional() else { return nil }
        let date = try attributes.integer(version, "the asset's version")
        guard date <= AssetReader.newestVersion else {
            throw EngineError.unsupportedVersion(
                found: "op set of \(date)", supported: "op sets up to \(AssetReader.newestVersion)")
        }
        return Int(date)
    }

    func graph(_ properties: ByteReader?, _ op: ByteReader) throws(EngineError) -> GraphProperties {
        var reader = try reader(properties, op, "dataflow.graph_v1")
        let argumentAttributes = try reader.required()
        let composite = try reader.optional()
        _ = try reader.required()  // externalize
        _ = try reader.required()  // functionType
        let isPrivate = try reader.required()
        let name = try reader.required()
        let noInline = try reader.required()
        _ = try reader.required()  // paramDecls
        let resultAttributes = try reader.required()
        try reader.expectEnd()
        return GraphProperties(
            name: try attributes.string(name, "a function's name"),
            signature: Signature(
                argumentNames: try attributes.names(argumentAttributes, "the arguments' names"),
                resultNames: try attributes.names(resultAttributes, "the results' names"),
                isPrivate: try attributes.flag(isPrivate, "isPrivate"),
                noInline: try attributes.flag(noInline, "noInline"),
                composite: try composite.map { index throws(EngineError) in try attributes.composite(index) }))
    }

    /// What an op of `kind` says beside its operands. `results`: the types of its results.
    func attributes(
        of kind: OpKind, _ name: String, _ properties: ByteReader?, results: [ValueType], _ op: ByteReader
    ) throws(EngineError) -> OpAttributes {
        switch kind {
        case .constant, .gelu, .interpolate, .interpolateCoordinates, .pad, .scan, .scatterAlongAxis:
            var reader = try reader(properties, op, name)
            let index = try reader.required()
            try reader.expectEnd()
            return try value(of: kind, index, results: results, op)
        case .invoke:
            var reader = try reader(properties, op, name)
            _ = try reader.required()  // arg_attrs
            let callee = try reader.required()
            _ = try reader.required()  // res_attrs
            try reader.expectEnd()
            return .callee(try attributes.callee(callee))
        case .metalKernel:
            var reader = try reader(properties, op, name)
            let kernel = try reader.required()
            let source = try reader.required()
            try reader.expectEnd()
            return .kernel(
                name: try attributes.string(kernel, "a kernel's name"),
                source: try attributes.string(source, "a kernel's source"))
        case .isolatedGroup, .delegate:
            var reader = try reader(properties, op, name)
            _ = try reader.required()  // arg_attrs
            if name.hasSuffix("_v2") { _ = try reader.optional() }  // delegate_attrs
            return .delegate(identifier: try attributes.text(reader.required()))
        default:
            guard properties == nil else { throw op.malformed("op \(name) has properties that it does not take") }
            return .none
        }
    }

    private func value(
        of kind: OpKind, _ index: Int, results: [ValueType], _ op: ByteReader
    ) throws(EngineError) -> OpAttributes {
        func mode<Mode: RawRepresentable<Int>>(_ code: UInt64, _ make: (Mode) -> OpAttributes) throws(EngineError)
            -> OpAttributes
        {
            let value = try attributes.enumeration(index, code, kind.rawValue)
            guard let mode = Mode(rawValue: value) else {
                throw op.malformed("mode \(value) of op \(kind.rawValue) is not known")
            }
            return make(mode)
        }
        switch kind {
        case .gelu: return try mode(AttributeCode.approximation) { .approximation($0) }
        case .pad: return try mode(AttributeCode.paddingMode) { .padding($0) }
        case .scan: return try mode(AttributeCode.scanCombiner) { .combiner($0) }
        case .scatterAlongAxis: return try mode(AttributeCode.scatterMode) { .scatter($0) }
        case .interpolate, .interpolateCoordinates:
            return try mode(AttributeCode.interpolationMode) { .interpolation($0) }
        default:
            guard results.count == 1 else { throw op.malformed("a constant has \(results.count) results, not one") }
            return .constant(try constants.constant(index, type: results[0]))
        }
    }
}
