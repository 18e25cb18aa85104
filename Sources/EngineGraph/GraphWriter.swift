/// Writes one graph. It takes any graph, also one that the verifier refuses.
struct GraphWriter {
    let printer: Printer
    let graph: Graph
    let locations: [SourceLocation]

    private static let indentation = "  "

    mutating func writeFunction(indent: Int, to output: inout some TextOutputStream) {
        let signature = graph.signature
        output.write(String(repeating: Self.indentation, count: indent) + "graph")
        if signature.isPrivate { output.write(" private") }
        if signature.noInline { output.write(" noinline") }
        output.write(" @\(Self.symbol(graph.name))(")
        for (index, argument) in graph.body.arguments.enumerated() {
            if index > 0 { output.write(", ") }
            output.write("\(name(argument)): \(type(argument))\(label(signature.argumentNames, index))")
        }
        output.write(") -> (")
        for (index, result) in graph.body.results.enumerated() {
            if index > 0 { output.write(", ") }
            output.write("\(type(result))\(label(signature.resultNames, index))")
        }
        output.write(")")
        if let composite = signature.composite {
            output.write(" composite \(Printer.quoted(composite.name))")
            let attributes = composite.attributes.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }
            if !attributes.isEmpty { output.write(" {\(attributes.joined(separator: ", "))}") }
        }
        output.write(" {\n")
        writeLines(graph.body, end: "output", indent: indent + 1, depth: 0, to: &output)
        output.write(String(repeating: Self.indentation, count: indent) + "}\n")
    }

    /// The ops of a region, a line each, and what ends it.
    private func writeLines(
        _ region: Region, end: String, indent: Int, depth: Int, to output: inout some TextOutputStream
    ) {
        let margin = String(repeating: Self.indentation, count: indent)
        guard depth <= Verifier.maximumDepth else { return output.write(margin + "…\n") }
        for op in region.ops {
            output.write(margin)
            write(op, indent: indent, depth: depth, to: &output)
        }
        output.write(margin + end)
        writeList(region.results, to: &output)
        output.write("\n")
    }

    private func write(_ op: Op, indent: Int, depth: Int, to output: inout some TextOutputStream) {
        let margin = String(repeating: Self.indentation, count: indent)
        for (index, result) in op.results.enumerated() { output.write((index > 0 ? ", " : "") + name(result)) }
        if !op.results.isEmpty { output.write(" = ") }
        output.write(op.kind.name)
        writeAttributes(op, to: &output)
        writeList(op.operands, to: &output)
        for (index, region) in op.regions.enumerated() {
            let joint = index == 0 ? "" : op.kind == .while ? " do" : " else"
            output.write(joint + " {\n")
            if !region.arguments.isEmpty { writeArguments(region.arguments, margin, to: &output) }
            let end = op.kind == .while && index == 0 ? "condition" : "yield"
            writeLines(region, end: end, indent: indent + 1, depth: depth + 1, to: &output)
            output.write(margin + "}")
        }
        if printer.showsDecompositions || !op.kind.info.category.contains(.named) {
            for body in op.bodies {
                let inner = GraphWriter(printer: printer, graph: body, locations: locations)
                output.write(" isolated {\n")
                if !body.body.arguments.isEmpty { inner.writeArguments(body.body.arguments, margin, to: &output) }
                inner.writeLines(body.body, end: "yield", indent: indent + 1, depth: depth + 1, to: &output)
                output.write(margin + "}")
            }
        }
        writeTypes(op, to: &output)
        writeLocation(op, to: &output)
        output.write("\n")
    }

    private func writeArguments(_ values: [Value], _ margin: String, to output: inout some TextOutputStream) {
        output.write(margin + Self.indentation + "(")
        for (index, value) in values.enumerated() {
            output.write((index > 0 ? ", " : "") + "\(name(value)): \(type(value))")
        }
        output.write("):\n")
    }

    private func writeList(_ values: [Value], to output: inout some TextOutputStream) {
        for (index, value) in values.enumerated() { output.write((index > 0 ? ", " : " ") + name(value)) }
    }

    private func writeTypes(_ op: Op, to output: inout some TextOutputStream) {
        if op.operands.isEmpty && op.results.isEmpty { return }
        output.write(" :")
        if !op.operands.isEmpty {
            output.write(" (")
            for (index, value) in op.operands.enumerated() { output.write((index > 0 ? ", " : "") + type(value)) }
            output.write(") ->")
        }
        output.write(op.results.count == 1 ? " " : " (")
        for (index, value) in op.results.enumerated() { output.write((index > 0 ? ", " : "") + type(value)) }
        if op.results.count != 1 { output.write(")") }
    }

    private func writeLocation(_ op: Op, to output: inout some TextOutputStream) {
        guard printer.showsLocations, locations.indices.contains(op.location) else { return }
        let location = locations[op.location]
        output.write(" loc(\(Printer.quoted(location.file)):\(location.line):\(location.column))")
    }

    private func writeAttributes(_ op: Op, to output: inout some TextOutputStream) {
        switch op.attributes {
        case .none: break
        case .name(let name): output.write(" \(Printer.quoted(name))")
        case .constant(let constant):
            output.write(" ")
            writeElements(constant, op.results.first, to: &output)
        case .approximation(let mode): output.write(" <\(mode)>")
        case .interpolation(let mode): output.write(" <\(mode)>")
        case .padding(let mode): output.write(" <\(mode)>")
        case .combiner(let combiner): output.write(" <\(combiner)>")
        case .scatter(let mode): output.write(" <\(mode)>")
        case .callee(let name): output.write(" @\(Self.symbol(name))")
        case .kernel(let name, let source):
            output.write(" \(Printer.quoted(name)) <\(source.utf8.count) bytes of source>")
        case .delegate(let identifier): output.write(" \(Printer.quoted(identifier))")
        case .elementwise(let program):
            output.write(" <\(program.instructions.map { $0.kind.rawValue }.joined(separator: ", "))>")
        case .matmul(let attributes): output.write(" <\(attributes.activation)>")
        case .convolution(let attributes): output.write(" <\(attributes.activation), padding \(attributes.padding)>")
        case .norm(let attributes): output.write(" <\(attributes.axisCount) axes, epsilon \(attributes.epsilon)>")
        case .attention(let attributes): output.write(" <scale \(attributes.scale)>")
        }
    }

    /// A constant's first elements, and its size where that isn't all.
    private func writeElements(_ constant: Constant, _ result: Value?, to output: inout some TextOutputStream) {
        guard let result, graph.types.indices.contains(result.index), let type = graph.types[result.index].tensor,
            let reader = try? ConstantReader(constant, as: type)
        else { return output.write("dense<\(constant.byteCount) bytes>") }
        if constant.isSplat, reader.count > 0 {
            return output.write("dense<\(element(reader, 0))\(reader.count == 1 ? "" : " …")>")
        }
        let shown = min(reader.count, max(printer.elementLimit, 0))
        output.write("dense<[")
        for index in 0..<shown { output.write((index > 0 ? ", " : "") + element(reader, index)) }
        output.write(shown < reader.count ? ", … \(constant.byteCount) bytes]>" : "]>")
    }

    private func element(_ reader: ConstantReader, _ index: Int) -> String {
        let type = reader.type.elementType
        if type == .bool { return reader.integer(index) == 0 ? "false" : "true" }
        if let integer = reader.integer(index) { return String(integer) }
        guard let number = reader.number(index) else { return "?" }
        if type.isInteger { return number.formattedInteger }
        // The shortest text that the element's own precision reads back.
        return type == .float64 ? String(number) : String(Float(number))
    }

    // MARK: Names

    private func name(_ value: Value) -> String { "%\(value.index)" }

    private func type(_ value: Value) -> String {
        graph.types.indices.contains(value.index) ? graph.types[value.index].description : "?"
    }

    private func label(_ names: [String], _ index: Int) -> String {
        names.indices.contains(index) ? " \(Printer.quoted(names[index]))" : ""
    }

    /// A graph's name as it is, in quotes where it has other characters than a name's.
    private static func symbol(_ name: String) -> String {
        let isPlain =
            !name.isEmpty
            && name.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F
                    || $0 == 0x2E || $0 == 0x24
            }
        return isPlain ? name : Printer.quoted(name)
    }
}

extension Double {
    /// An integer beyond `Int` as digits.
    fileprivate var formattedInteger: String { UInt64(exactly: self).map { String($0) } ?? String(self) }
}
