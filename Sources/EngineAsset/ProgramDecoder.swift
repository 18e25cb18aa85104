internal import EngineGraph

/// Reads the block at the top of a program: the asset, and the functions in it.
struct ProgramDecoder {
    private let tables: DecodingTables
    private var graphs: [Graph] = []
    private var version: Int?

    private init(_ container: BytecodeContainer) { tables = DecodingTables(container) }

    static func program(_ container: BytecodeContainer) throws(EngineError) -> Program {
        var decoder = ProgramDecoder(container)
        var reader = container.program
        guard try decoder.blockOpCount(&reader) == 1 else {
            throw reader.malformed("the program does not consist of one asset")
        }
        try decoder.asset(&reader)
        try reader.expectEnd(of: "the program")
        return Program(
            graphs: decoder.graphs, locations: decoder.tables.locations.locations, producer: container.producer,
            version: decoder.version)
    }

    /// The number of ops of a block without arguments.
    private func blockOpCount(_ reader: inout ByteReader) throws(EngineError) -> Int {
        let head = try reader.varint()
        guard head & 1 == 0 else { throw reader.malformed("a block of functions has arguments") }
        return try reader.checkedCount(head >> 1, "ops")
    }

    private mutating func asset(_ reader: inout ByteReader) throws(EngineError) {
        let head = try OpHead(&reader, tables, enclosing: -1)
        guard case .asset = tables.names[head.name], !head.hasResults, !head.hasOperands else {
            throw reader.malformed("op \(tables.container.opNames[head.name]) stands where the asset belongs")
        }
        version = try tables.properties.assetVersion(head.properties, reader)
        guard head.hasRegions else { return }
        guard var body = try isolatedRegion(&reader) else { return }
        let blocks = try body.varint()
        guard blocks <= 1 else { throw body.malformed("the asset has \(blocks) blocks; only one is supported") }
        if blocks == 1 {
            guard try body.varint() == 0 else { throw body.malformed("the asset defines values") }
            var names: Set<String> = []
            for _ in 0..<(try blockOpCount(&body)) {
                guard let graph = try function(&body, enclosing: head.location) else { continue }
                guard names.insert(graph.name).inserted else {
                    throw body.malformed("two functions are called '\(graph.name)'")
                }
                graphs.append(graph)
            }
        }
        try body.expectEnd(of: "the asset")
    }

    /// The contents of the one isolated region of an op; nil where it has none.
    private func isolatedRegion(_ reader: inout ByteReader) throws(EngineError) -> ByteReader? {
        let head = try reader.varint()
        if head >> 1 == 0 { return nil }
        guard head == 1 << 1 | 1 else { throw reader.malformed("one isolated region is expected here") }
        return try reader.regionSection()
    }

    /// The function at the reader's position; nil for an op that says nothing about what the program computes.
    private func function(_ reader: inout ByteReader, enclosing: Int) throws(EngineError) -> Graph? {
        let head = try OpHead(&reader, tables, enclosing: enclosing)
        let name = tables.container.opNames[head.name]
        guard !head.hasResults, !head.hasOperands else {
            throw reader.malformed("op \(name) stands among the functions and has operands or results")
        }
        switch tables.names[head.name] {
        case .graph: break
        case .ignored where !head.hasRegions: return nil
        default:
            throw EngineError.unsupportedOp(op: name, reason: "it stands among the functions of the program")
        }
        let properties = try tables.properties.graph(head.properties, reader)
        guard head.hasRegions, let body = try isolatedRegion(&reader) else {
            throw reader.malformed("function '\(properties.name)' has no body")
        }
        let signature = properties.signature
        let graph = try GraphDecoder.graph(
            body, tables: tables, name: properties.name, signature: signature, ending: .output,
            location: head.location, depth: 1)
        try Self.check(signature.argumentNames, graph.body.arguments, "arguments", graph.name, body)
        try Self.check(signature.resultNames, graph.body.results, "results", graph.name, body)
        return graph
    }

    /// Checks that there are as many names as values, or none: a private function may leave them out.
    private static func check(
        _ names: [String], _ values: [Value], _ what: String, _ function: String, _ reader: ByteReader
    ) throws(EngineError) {
        guard names.isEmpty || names.count == values.count else {
            throw reader.malformed(
                "function '\(function)' has \(values.count) \(what) and \(names.count) names for them")
        }
    }
}
