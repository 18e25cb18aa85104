/// Writes programs as text that a person can read: a line an op, values by number, constants cut short.
package struct Printer: Sendable {
    /// Whether named ops show their decompositions.
    package var showsDecompositions: Bool
    /// Whether ops show where they come from in the source model.
    package var showsLocations: Bool
    /// How many elements of a constant are shown.
    package var elementLimit: Int

    package init(showsDecompositions: Bool = false, showsLocations: Bool = false, elementLimit: Int = 8) {
        self.showsDecompositions = showsDecompositions
        self.showsLocations = showsLocations
        self.elementLimit = elementLimit
    }

    package func print(_ program: Program) -> String {
        var text = ""
        write(program, to: &text)
        return text
    }

    package func print(_ graph: Graph, locations: [SourceLocation] = []) -> String {
        var text = ""
        write(graph, locations: locations, to: &text)
        return text
    }

    /// Writes piece by piece: a large program's text is never in memory as a whole.
    package func write(_ program: Program, to output: (String) -> Void) {
        withoutActuallyEscaping(output) { output in
            var stream = ClosureStream(write: output)
            write(program, to: &stream)
        }
    }

    package func write(_ program: Program, to output: inout some TextOutputStream) {
        output.write("program")
        if let version = program.version { output.write(" version \(version)") }
        if !program.producer.isEmpty { output.write(" producer \(Self.quoted(program.producer))") }
        output.write(" {\n")
        for graph in program.graphs {
            var writer = GraphWriter(printer: self, graph: graph, locations: program.locations)
            writer.writeFunction(indent: 1, to: &output)
        }
        output.write("}\n")
    }

    package func write(_ graph: Graph, locations: [SourceLocation] = [], to output: inout some TextOutputStream) {
        var writer = GraphWriter(printer: self, graph: graph, locations: locations)
        writer.writeFunction(indent: 0, to: &output)
    }

    /// `text` in quotes, its control characters escaped.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            switch character {
            case "\"", "\\": result += "\\" + String(character)
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case _ where character.value < 0x20 || character.value == 0x7F:
                result += "\\u{\(String(character.value, radix: 16))}"
            default: result.unicodeScalars.append(character)
            }
        }
        return result + "\""
    }
}

private struct ClosureStream: TextOutputStream {
    let write: (String) -> Void

    mutating func write(_ string: String) { write(string) }
}
