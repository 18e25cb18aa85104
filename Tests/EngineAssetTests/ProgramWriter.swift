import EngineAsset
import EngineGraph

/// Writes a program's bytecode by hand, for what no converter writes: odd versions, deep nesting, wrong sizes.
struct ProgramWriter {
    /// An op as it goes into the file.
    struct Op {
        var name: String
        var location = 0
        /// Attribute indices as the properties' varints say them; nil for an op without properties.
        var properties: [UInt64]?
        var results: [Int] = []
        var operands: [UInt64] = []
        /// Each region's bytes; isolated ones become sections.
        var regions: [[UInt8]] = []
        var isIsolated = true
        /// Bits to add to the mask.
        var extraMask: UInt8 = 0

        init(
            _ name: String, properties: [UInt64]? = nil, results: [Int] = [], operands: [UInt64] = [],
            regions: [[UInt8]] = [], isIsolated: Bool = true
        ) {
            self.name = name
            self.properties = properties
            self.results = results
            self.operands = operands
            self.regions = regions
            self.isIsolated = isIsolated
        }
    }

    var bytecodeVersion: UInt64 = 6
    var dialectVersion: UInt64 = 2
    var dialectName = "aicode"
    private(set) var strings: [String] = []
    private(set) var opNames: [String] = []
    private(set) var attributes: [[UInt8]] = []
    private(set) var types: [[UInt8]] = []
    private(set) var properties: [[UInt8]] = []
    private(set) var blobs: [(alignment: Int, byteCount: Int)] = []

    /// Attribute 0: stands where nothing is said, also about the place of an op.
    init() { _ = attribute([46]) }

    // MARK: Numbers

    static func varint(_ value: UInt64) -> [UInt8] {
        for count in 1..<8 where value < 1 << UInt64(7 * count) {
            let coded = (value << 1 | 1) << UInt64(count - 1)
            return (0..<count).map { UInt8(truncatingIfNeeded: coded >> UInt64(8 * $0)) }
        }
        return [0] + (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }

    static func signed(_ value: Int64) -> [UInt8] { varint(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    static func varints(_ values: [Int]) -> [UInt8] { values.flatMap { varint(UInt64($0)) } }

    static func section(_ id: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [id] + varint(UInt64(contents.count)) + contents
    }

    // MARK: Tables

    mutating func string(_ text: String) -> Int {
        if let index = strings.firstIndex(of: text) { return index }
        strings.append(text)
        return strings.count - 1
    }

    mutating func attribute(_ code: [Int], _ rest: [UInt8] = []) -> Int {
        attributes.append(Self.varints(code) + rest)
        return attributes.count - 1
    }

    /// Replaces an attribute, so that it may name later ones or itself.
    mutating func setAttribute(_ index: Int, _ code: [Int]) { attributes[index] = Self.varints(code) }

    mutating func text(_ text: String) -> Int { attribute([1, string(text)]) }

    mutating func integer(_ value: Int64, width: Int = 64) -> Int {
        let bits = width <= 8 ? [UInt8(truncatingIfNeeded: value)] : Self.signed(value)
        return attribute([2, width], [1] + bits)
    }

    mutating func dense(_ bytes: [UInt8], isSplat: Bool = false) -> Int {
        attribute([6], [isSplat ? 1 : 0] + Self.varint(UInt64(bytes.count)) + bytes)
    }

    /// A resource of `byteCount` zeros.
    mutating func resource(byteCount: Int, alignment: Int) -> Int {
        blobs.append((alignment, byteCount))
        return attribute([7, blobs.count - 1])
    }

    mutating func type(_ bytes: [UInt8]) -> Int {
        if let index = types.firstIndex(of: bytes) { return index }
        types.append(bytes)
        return types.count - 1
    }

    /// A tensor; `element` is the code of its elements' type.
    mutating func tensor(_ shape: [Int64], _ element: UInt64) -> Int {
        let scalar = type(Self.varint(element))
        return type(
            Self.varint(2) + Self.varint(UInt64(shape.count)) + shape.flatMap(Self.signed)
                + Self.varint(UInt64(scalar)))
    }

    // MARK: Ops

    mutating func op(_ op: Op) -> [UInt8] {
        if !opNames.contains(op.name) {
            opNames.append(op.name)
            _ = string(op.name)
        }
        var mask = op.extraMask
        if !op.results.isEmpty { mask |= 2 }
        if !op.operands.isEmpty { mask |= 4 }
        if !op.regions.isEmpty { mask |= 0x10 }
        if op.properties != nil { mask |= 0x40 }
        var bytes = Self.varint(UInt64(opNames.firstIndex(of: op.name) ?? 0)) + [mask]
        bytes += Self.varint(UInt64(op.location))
        if let values = op.properties {
            let coded = values.flatMap(Self.varint)
            let index = properties.firstIndex(of: coded) ?? properties.count
            if index == properties.count { properties.append(coded) }
            bytes += Self.varint(UInt64(index))
        }
        if !op.results.isEmpty { bytes += Self.varints([op.results.count] + op.results) }
        if !op.operands.isEmpty {
            bytes += Self.varint(UInt64(op.operands.count)) + op.operands.flatMap(Self.varint)
        }
        if !op.regions.isEmpty {
            bytes += Self.varint(UInt64(op.regions.count) << 1 | (op.isIsolated ? 1 : 0))
            for region in op.regions { bytes += op.isIsolated ? Self.section(4, region) : region }
        }
        return bytes
    }

    /// A region of one block.
    func region(arguments: [Int] = [], values: Int, _ ops: [[UInt8]]) -> [UInt8] {
        var bytes = Self.varints([1, values]) + Self.varint(UInt64(ops.count) << 1 | (arguments.isEmpty ? 0 : 1))
        if !arguments.isEmpty { bytes += Self.varints([arguments.count] + arguments.map { $0 << 1 }) + [0] }
        return bytes + ops.joined()
    }

    /// A function over the region `body`.
    mutating func function(
        named name: String = "main", isPrivate: Bool = false, composite: Int? = nil, _ body: [UInt8]
    ) -> [UInt8] {
        let none = attribute([5, 0])
        let no = integer(0, width: 1)
        let properties = [
            none, composite.map { $0 << 1 | 1 } ?? 0, no, 0, integer(isPrivate ? 1 : 0, width: 1), text(name), no, none,
            none,
        ]
        return op(Op("dataflow.graph_v1", properties: properties.map { UInt64($0) }, regions: [body]))
    }

    // MARK: Files

    /// The file of a program with these functions.
    mutating func program(_ functions: [[UInt8]], version: Int64? = 20_260_101) -> [UInt8] {
        let (head, tail) = parts(functions, version: version)
        return head + [UInt8](repeating: 0, count: blobs.last?.byteCount ?? 0) + tail
    }

    /// The file before and after the data of the last resource.
    mutating func parts(_ functions: [[UInt8]], version: Int64? = 20_260_101) -> (head: [UInt8], tail: [UInt8]) {
        let date = version.map { UInt64(integer($0, width: 32)) << 1 | 1 } ?? 0
        let asset = op(Op("serialization.asset", properties: [0, date], regions: [region(values: 0, functions)]))
        let program = Self.varint(1 << 1) + asset
        let dialect = string(dialectName)
        let key = string("resource")

        var dialects = Self.varint(1) + Self.varint(UInt64(dialect) << 1 | 1)
        dialects += Self.section(7, Self.varint(dialectVersion)) + Self.varints([opNames.count])
        if !opNames.isEmpty { dialects += Self.varints([0, opNames.count]) }
        for name in opNames { dialects += Self.varint(UInt64(string(name)) << 1 | 1) }

        var offsets = Self.varints([attributes.count, types.count])
        for group in [attributes, types] where !group.isEmpty {
            offsets += Self.varints([0, group.count])
            for entry in group { offsets += Self.varint(UInt64(entry.count) << 1 | 1) }
        }

        var head: [UInt8] = [0x4D, 0x4C, 0xEF, 0x52] + Self.varint(bytecodeVersion) + Array("test".utf8) + [0]
        head += Self.section(1, dialects) + Self.section(3, offsets)
        head += Self.section(2, Array((attributes + types).joined())) + Self.section(4, program)
        addResources(to: &head, key: key)

        var tail = Self.section(0, stringSection())
        tail += Self.section(
            8,
            Self.varints([properties.count])
                + properties.flatMap { Self.varint(UInt64($0.count)) + $0 })
        return (head, tail)
    }

    private func stringSection() -> [UInt8] {
        var bytes = Self.varints([strings.count])
        for text in strings.reversed() { bytes += Self.varint(UInt64(text.utf8.count + 1)) }
        for text in strings { bytes += Array(text.utf8) + [0] }
        return bytes
    }

    /// Adds the resources' sections, up to the data of the last one.
    private func addResources(to head: inout [UInt8], key: Int) {
        guard !blobs.isEmpty else { return }
        // A length of nine bytes holds any number, so that positions are known before it is.
        func wide(_ value: Int) -> [UInt8] { [0] + (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var position = head.count + (1 + 9) + (1 + 1 + 2 + blobs.count * (2 + 9 + 1)) + (1 + 9)
        var contents: [UInt8] = []
        var entries: [UInt8] = []
        for (index, blob) in blobs.enumerated() {
            var prefix = Self.varint(UInt64(blob.alignment)) + Self.varint(UInt64(blob.byteCount))
            while (position + prefix.count) % blob.alignment != 0 { prefix.append(0xCB) }
            let isLast = index == blobs.count - 1
            contents += prefix + (isLast ? [] : [UInt8](repeating: 0, count: blob.byteCount))
            position += prefix.count + blob.byteCount
            entries += twoBytes(key) + wide(prefix.count + blob.byteCount) + [0]
        }
        let offsets = Self.varints([0, 0]) + twoBytes(blobs.count) + entries
        head += [6] + wide(offsets.count) + offsets
        head += [5] + wide(contents.count + (blobs.last?.byteCount ?? 0))
        head += contents
    }

    /// A small number in two bytes.
    private func twoBytes(_ value: Int) -> [UInt8] {
        let coded = value << 2 | 2
        return [UInt8(truncatingIfNeeded: coded), UInt8(truncatingIfNeeded: coded >> 8)]
    }
}

// MARK: Shorthands

/// The program in `bytes`.
func read(_ bytes: [UInt8]) throws(EngineError) -> Program { try AssetReader.readProgram(bytes: bytes) }

/// A function that gives back its argument of type `tensor<2xf32>` after `ops`.
func identity(_ writer: inout ProgramWriter, _ ops: [[UInt8]] = [], values: Int = 1) -> [UInt8] {
    let type = writer.tensor([2], 6)
    let output = writer.op(.init("dataflow.output_v1", operands: [0]))
    return writer.function(writer.region(arguments: [type], values: values, ops + [output]))
}
