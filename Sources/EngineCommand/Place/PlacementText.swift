import CoreAI
import Foundation

/// A placement report as tables for a terminal.
enum PlacementText {
    static func lines(_ report: PlacementReport, _ style: Style) -> [String] {
        var lines: [String] = []
        for function in report.functions {
            if !lines.isEmpty { lines.append("") }
            lines += self.lines(function, style)
        }
        return lines
    }

    private static func lines(_ function: PlacementReport.Function, _ style: Style) -> [String] {
        var lines = [style.bold("function \(printable(function.name))") + "  " + summary(function)]
        for unit in function.units where !unit.isUsable {
            lines.append("  no \(unit.name): \(printable(unit.reason ?? "no reason is known"))")
        }
        lines += table(function, style)
        lines += arguments(function, style)
        if function.parts.count > 1 {
            lines += ["", style.bold("  parts")]
            for (index, part) in function.parts.enumerated() {
                lines.append(
                    "  \(leftPadded("\(index)", 4))  \(padded(part.unit, 11))  \(count(part.patterns.count, "pattern")), "
                        + "estimated \(time(part.estimatedSeconds)), measured \(time(part.measuredSeconds))")
            }
        }
        for unbound in function.unbound {
            lines.append("")
            lines.append(
                "  not bound: \(count(unbound.operations.count, "operation"))"
                    + "\(unbound.region.isEmpty ? "" : " of " + unbound.region): \(printable(unbound.reason))")
            lines += sample(unbound.operations).map { "    " + $0 }
        }
        for fallback in function.fallbacks { lines.append(style.red("  fell back to the CPU: \(printable(fallback))")) }
        lines += ["", "  " + memory(function.memory)]
        return lines
    }

    /// Whose patterns there are, and what they take.
    private static func summary(_ function: PlacementReport.Function) -> String {
        let computing = function.patterns.filter { !$0.isBookkeeping }
        let units = Dictionary(grouping: computing, by: \.unit).sorted { $0.key < $1.key }
        let counts = units.map { "\($0.value.count) on \($0.key)" }.joined(separator: ", ")
        let estimated = function.patterns.reduce(0) { $0 + $1.estimatedSeconds }
        let measured = function.patterns.compactMap(\.measuredSeconds).reduce(0, +)
        var text = "\(count(computing.count, "computing pattern"))\(counts.isEmpty ? "" : ": " + counts)"
        text += "; estimated \(time(estimated))"
        if function.measuredRunCount > 0 { text += ", measured \(time(measured))" }
        if let preferred = function.preferredUnit { text += "; preferred: \(preferred)" }
        return text
    }

    // MARK: - The table

    private static func table(_ function: PlacementReport.Function, _ style: Style) -> [String] {
        var notes = Footnotes()
        var rows: [[String]] = [
            ["#", "pattern", "unit", "estimated", "measured", "crossing", "source", "why not"]
        ]
        for pattern in function.patterns {
            let whyNot = pattern.declined.map { "\($0.unit)(\(notes.number(of: "\($0.unit): \($0.reason)")))" }
            rows.append([
                "\(pattern.id)", name(pattern), pattern.unit, time(pattern.estimatedSeconds),
                (pattern.measurement == .part ? "~" : "") + time(pattern.measuredSeconds),
                pattern.crossingByteCount == 0 ? "-" : ByteCount.short(pattern.crossingByteCount),
                pattern.operations.lazy.compactMap(\.source).first.map(printable) ?? "-", whyNot.joined(separator: " "),
            ])
        }
        let isNumber = [true, false, false, true, true, true, false, false]
        let widths = isNumber.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines: [String] = []
        var region = ""
        for (index, row) in rows.enumerated() {
            if index > 0, function.patterns[index - 1].region != region {
                region = function.patterns[index - 1].region
                lines.append("  in \(region.isEmpty ? "the function" : printable(region)):")
            }
            let cells = row.enumerated().map { column, text in
                isNumber[column] ? leftPadded(text, widths[column]) : padded(text, widths[column])
            }
            var line = "  " + cells.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            lines.append(index == 0 ? style.bold(line) : line)
            guard index > 0 else { continue }
            let operations = function.patterns[index - 1].operations
            if operations.count > 1 {
                let text = operations.map { [$0.name, $0.source].compactMap(\.self).joined(separator: " ") }
                lines.append(style.dim("  \(padded("", widths[0]))  = \(printable(text.joined(separator: ", ")))"))
            }
        }
        return lines + notes.texts.enumerated().map { "  (\($0.offset + 1)) \(printable($0.element))" }
    }

    static func name(_ pattern: PlacementReport.Pattern) -> String {
        let name = pattern.name.hasPrefix("engine.") ? String(pattern.name.dropFirst(7)) : pattern.name
        return printable(name)
    }

    /// Reasons that are many patterns' stand once below the table.
    private struct Footnotes {
        private(set) var texts: [String] = []
        private var numbers: [String: Int] = [:]

        mutating func number(of text: String) -> Int {
            if let number = numbers[text] { return number }
            texts.append(text)
            numbers[text] = texts.count
            return texts.count
        }
    }

    // MARK: - Below it

    private static func arguments(_ function: PlacementReport.Function, _ style: Style) -> [String] {
        guard !function.arguments.isEmpty else { return [] }
        var lines = ["", style.bold("  inputs and states")]
        let width = function.arguments.map(\.name.count).max() ?? 0
        for argument in function.arguments {
            var text = "  \(argument.isState ? "state" : "input")  \(padded(printable(argument.name), width))"
            text += "  \(argument.type)"
            if let strides = argument.preferredStrides { text += ", preferred strides \(strides)" }
            if argument.isCopiedForLayout, let given = argument.givenStrides {
                text += ", given \(given): copied for its layout"
            } else if argument.givenStrides != nil {
                text += ", no layout copy"
            }
            if !argument.copiedTo.isEmpty { text += ", copied to \(argument.copiedTo.joined(separator: ", "))" }
            lines.append(text)
        }
        return lines
    }

    private static func sample(_ operations: [PlacementReport.Operation]) -> [String] {
        let shown = operations.prefix(8).map { operation in
            printable(operation.source.map { "\(operation.name) (\($0))" } ?? operation.name)
        }
        return shown + (operations.count > 8 ? ["and \(operations.count - 8) more"] : [])
    }

    /// What a call takes, in a line.
    static func memory(_ memory: PlacementReport.Memory) -> String {
        var text =
            "peak memory of a call: \(memory.isComplete ? "" : "at least ")\(ByteCount.short(memory.peakByteCount))"
        text += " (workspace \(ByteCount.short(memory.workspaceByteCount)), "
        text += "results \(ByteCount.short(memory.hostByteCount))"
        if memory.deviceByteCount > 0 { text += ", device buffers \(ByteCount.short(memory.deviceByteCount))" }
        return text + "); weights \(ByteCount.short(memory.weightByteCount))"
    }

    static func time(_ seconds: Double?) -> String {
        guard let seconds, seconds.isFinite else { return "-" }
        switch seconds {
        case 0: return "0"
        case ..<1e-3: return String(format: "%.1f µs", seconds * 1e6)
        case ..<1: return String(format: "%.2f ms", seconds * 1e3)
        default: return String(format: "%.2f s", seconds)
        }
    }

    private static func count(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
