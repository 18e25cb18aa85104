internal import EngineGraph

/// What all graphs of a program share while they are read.
struct DecodingTables {
    let container: BytecodeContainer
    let types: TypeDecoder
    let locations: LocationTable
    let properties: PropertyDecoder
    let names: [OpName]

    init(_ container: BytecodeContainer) {
        self.container = container
        types = TypeDecoder(container)
        let attributes = AttributeDecoder(container)
        locations = LocationTable(attributes)
        properties = PropertyDecoder(attributes: attributes, constants: ConstantTable(container))
        names = container.opNames.map { OpName($0) }
    }
}

/// Reads one graph: a region that numbers its values from zero, and the regions of `if` and `while` within it.
struct GraphDecoder {
    static let depthLimit = 64

    /// A region that is being read: on disk its values have the numbers from `first` to `first + count`.
    private struct Frame {
        var first: Int
        var count: Int
        /// Where its values start in `values`.
        var start: Int
    }

    let tables: DecodingTables
    private var types: [ValueType] = []
    private var values: [Value] = []
    private var frames: [Frame] = []

    private init(_ tables: DecodingTables) { self.tables = tables }

    /// The graph in the isolated region that `section` holds.
    /// - Parameters:
    ///   - ending: the terminator that a region of this kind has.
    ///   - location: that of the op that holds the region.
    static func graph(
        _ section: ByteReader, tables: DecodingTables, name: String = "", signature: Signature = Signature(),
        ending: OpName.Terminator, location: Int, depth: Int
    ) throws(EngineError) -> Graph {
        var decoder = GraphDecoder(tables)
        var reader = section
        guard
            let body = try decoder.region(&reader, ending: ending, location: location, depth: depth)
        else { throw section.malformed("a body is empty") }
        try reader.expectEnd(of: "a region")
        return Graph(name: name, types: decoder.types, body: body, signature: signature)
    }

    /// The region at the reader's position; nil where it has no block. An isolated one numbers its values from zero.
    private mutating func region(
        _ reader: inout ByteReader, ending: OpName.Terminator, location: Int, depth: Int, isIsolated: Bool = false
    ) throws(EngineError) -> Region? {
        guard depth <= Self.depthLimit else {
            throw reader.malformed("regions are nested deeper than \(Self.depthLimit)")
        }
        let blocks = try reader.varint()
        if blocks == 0 { return nil }
        guard blocks == 1 else { throw reader.malformed("a region of \(blocks) blocks; only one is supported") }

        let count = try reader.count("values")
        // A region's values come after all those of the region around it.
        let first = isIsolated ? 0 : frames.last.map { $0.first + $0.count } ?? 0
        frames.append(Frame(first: first, count: count, start: values.count))
        defer { values.removeLast(values.count - frames.removeLast().start) }

        let head = try reader.varint()
        let opCount = try reader.checkedCount(head >> 1, "ops")
        var region = Region()
        if head & 1 == 1 { region.arguments = try arguments(&reader) }
        for position in 0..<opCount {
            let isLast = position == opCount - 1
            if let results = try op(&reader, into: &region.ops, ending: ending, location: location, depth: depth) {
                guard isLast else { throw reader.malformed("ops follow the end of a region") }
                region.results = results
            } else if isLast {
                throw reader.malformed("a region does not end in \(ending.rawValue)")
            }
        }
        guard opCount > 0 else { throw reader.malformed("a region does not end in \(ending.rawValue)") }
        let defined = values.count - (frames.last?.start ?? 0)
        guard defined == count else {
            throw reader.malformed("a region announces \(count) values and defines \(defined)")
        }
        return region
    }

    private mutating func arguments(_ reader: inout ByteReader) throws(EngineError) -> [Value] {
        var arguments: [Value] = []
        for _ in 0..<(try reader.count("arguments")) {
            let entry = try reader.varint()
            let index = try reader.checkedIndex(entry >> 1, below: tables.container.types.count, "type")
            if entry & 1 == 1 { _ = try reader.index(below: tables.container.attributes.count, "attribute") }
            arguments.append(try define(tables.types.type(at: index), reader))
        }
        guard try reader.byte() == 0 else { throw reader.malformed("a use-list order is not supported") }
        return arguments
    }

    /// A new value, with the next number of the innermost region.
    private mutating func define(_ type: ValueType, _ reader: ByteReader) throws(EngineError) -> Value {
        guard let frame = frames.last, values.count - frame.start < frame.count else {
            throw reader.malformed("a region defines more values than it announces")
        }
        let value = Value(types.count)
        types.append(type)
        values.append(value)
        return value
    }

    /// The value that a number on disk names, in the innermost region or one around it.
    private func use(_ number: UInt64, _ reader: ByteReader) throws(EngineError) -> Value {
        var end = values.count
        for frame in frames.reversed() {
            if number >= UInt64(frame.first) {
                let offset = number - UInt64(frame.first)
                guard offset < UInt64(end - frame.start) else { break }
                return values[frame.start + Int(offset)]
            }
            end = frame.start
        }
        throw reader.malformed("value \(number) is used before it is defined")
    }

    /// Reads an op and adds it to `ops`; answers the operands of one that ends the region.
    private mutating func op(
        _ reader: inout ByteReader, into ops: inout [Op], ending: OpName.Terminator, location enclosing: Int, depth: Int
    ) throws(EngineError) -> [Value]? {
        let head = try OpHead(&reader, tables, enclosing: enclosing)
        let name = tables.container.opNames[head.name]
        let resultTypes = try resultTypes(head, &reader)
        let operands = try operands(head, &reader)

        let kind: OpKind
        switch tables.names[head.name] {
        case .terminator(let terminator):
            guard terminator == ending else {
                throw reader.malformed("\(name) ends a region that \(ending.rawValue) should end")
            }
            guard resultTypes.isEmpty, !head.hasRegions else {
                throw reader.malformed("\(name) has results or regions")
            }
            return operands
        case .ignored:
            guard resultTypes.isEmpty, !head.hasRegions else {
                throw reader.malformed("\(name) has results or regions")
            }
            return nil
        case .graph, .asset: throw reader.malformed("\(name) stands within a function")
        case .op(let known): kind = known
        case .unknown: kind = .named
        }

        let attributes =
            kind == .named
            ? OpAttributes.name(name)
            : try tables.properties.attributes(of: kind, name, head.properties, results: resultTypes, reader)
        var op = Op(kind, operands: operands, attributes: attributes, location: head.location)
        if head.hasRegions { try regions(of: &op, name, &reader, depth: depth) }
        try checkRegions(of: op, name, reader)
        // After its regions, which can't capture them.
        for type in resultTypes { op.results.append(try define(type, reader)) }
        ops.append(op)
        return nil
    }

    private func resultTypes(_ head: OpHead, _ reader: inout ByteReader) throws(EngineError) -> [ValueType] {
        guard head.hasResults else { return [] }
        var types: [ValueType] = []
        for _ in 0..<(try reader.count("results")) { types.append(try tables.types.type(&reader)) }
        return types
    }

    private func operands(_ head: OpHead, _ reader: inout ByteReader) throws(EngineError) -> [Value] {
        guard head.hasOperands else { return [] }
        var operands: [Value] = []
        for _ in 0..<(try reader.count("operands")) { operands.append(try use(reader.varint(), reader)) }
        return operands
    }

    private mutating func regions(
        of op: inout Op, _ name: String, _ reader: inout ByteReader, depth: Int
    ) throws(EngineError) {
        let head = try reader.varint()
        let count = try reader.checkedCount(head >> 1, "regions")
        let isConditional = op.kind == .if || op.kind == .while
        // Where none of an op's regions captures a value, one section holds them all.
        var section = head & 1 == 1 && isConditional && count > 0 ? try reader.regionSection() : nil
        for position in 0..<count {
            let ending: OpName.Terminator = op.kind == .while && position == 0 ? .condition : .yield
            if var apart = section {
                let region = try region(
                    &apart, ending: ending, location: op.location, depth: depth + 1, isIsolated: true)
                op.regions.append(region ?? Region())
                section = apart
            } else if head & 1 == 1 {
                let section = try reader.regionSection()
                op.bodies.append(
                    try Self.graph(
                        section, tables: tables, ending: .yield, location: op.location, depth: depth + 1))
            } else {
                let region = try region(&reader, ending: ending, location: op.location, depth: depth + 1)
                op.regions.append(region ?? Region())
            }
        }
        try section?.expectEnd(of: "an op's regions")
    }

    /// Checks that the op carries the regions that ops of its kind carry.
    private func checkRegions(of op: Op, _ name: String, _ reader: ByteReader) throws(EngineError) {
        let (regions, bodies): (Int, Int)
        switch op.kind {
        case .if, .while: (regions, bodies) = (2, 0)
        case .named, .isolatedGroup, .delegate: return
        case let kind where OpName.combining.contains(kind) || OpName.decomposed.contains(kind):
            (regions, bodies) = (0, 1)
        default: (regions, bodies) = (0, 0)
        }
        guard op.regions.count == regions, op.bodies.count == bodies else {
            throw reader.malformed(
                "op \(name) has \(op.regions.count) regions and \(op.bodies.count) bodies, not \(regions) and \(bodies)"
            )
        }
    }
}
