package import EngineGraph

extension [SourceLocation] {
    /// An op by its name and its line in the source model: `relu (model.py:12)`.
    package func describe(_ op: Op) -> String { describe(OpOrigin(kind: op.kind, location: op.location)) }

    package func describe(_ op: OpOrigin) -> String {
        guard let line = line(op.location) else { return op.kind.name }
        return "\(op.kind.name) (\(line))"
    }

    /// The file's name and the line of a location; nil where it is not known.
    package func line(_ index: Int) -> String? {
        guard indices.contains(index), self[index].line > 0 else { return nil }
        let name = self[index].file.split(separator: "/").last.map(String.init) ?? self[index].file
        return "\(name):\(self[index].line)"
    }
}
