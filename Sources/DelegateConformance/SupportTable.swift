package import EngineDelegation
import EngineGraph

/// Which ops of which element types each unit takes, found by asking about every case.
package struct SupportTable: Sendable, Codable, Equatable {
    package struct Answer: Sendable, Codable, Equatable {
        package var taken = 0
        package var declined = 0
        /// Why, of the first case that was declined.
        package var reason: String?
    }

    package struct Row: Sendable, Codable, Equatable {
        package let op: String
        /// By element type, then by unit, as `units` names them.
        package var types: [String: [String: Answer]]
    }

    package let units: [String]
    package let rows: [Row]
}

/// Asks every delegate about every case.
package func supportTable(delegates: [any Delegate], cases: [OpCase] = OpCase.all) -> SupportTable {
    var rows: [String: SupportTable.Row] = [:]
    for row in cases {
        guard let built = try? row.build() else { continue }
        for delegate in delegates {
            var entry = rows[row.kind.name] ?? SupportTable.Row(op: row.kind.name, types: [:])
            var answer = entry.types[row.type.dialectName]?[delegate.id.name] ?? SupportTable.Answer()
            if let reason = delegate.refusal(of: built.part) {
                answer.declined += 1
                answer.reason = answer.reason ?? reason
            } else {
                answer.taken += 1
            }
            entry.types[row.type.dialectName, default: [:]][delegate.id.name] = answer
            rows[row.kind.name] = entry
        }
    }
    return SupportTable(units: delegates.map(\.id.name), rows: rows.values.sorted { $0.op < $1.op })
}

extension SupportTable {
    /// The table as a page shows it: a row an op, a column a unit, with the element types that the unit takes; a star
    /// where it takes some of the cases only.
    package var markdown: String {
        var lines = [
            "| op | " + units.joined(separator: " | ") + " |",
            "|---|" + String(repeating: "---|", count: units.count),
        ]
        for row in rows {
            let cells = units.map { cell(row, $0) }
            lines.append("| `\(row.op)` | " + cells.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The element types of `row` that `unit` takes, in words.
    package func cell(_ row: Row, _ unit: String) -> String {
        let known = ElementType.allCases.map(\.dialectName).filter { row.types[$0] != nil }
        let taken = known.compactMap { type -> String? in
            guard let answer = row.types[type]?[unit], answer.taken > 0 else { return nil }
            return type + (answer.declined > 0 ? "*" : "")
        }
        if taken.isEmpty { return "–" }
        return taken == known && known.count > 1 ? "all \(known.count) types" : taken.joined(separator: " ")
    }
}
