import Foundation

/// What `engine compare` found.
struct CompareReport: Codable, Equatable, Sendable {
    /// An operation whose results were compared.
    struct Operation: Codable, Equatable, Sendable {
        /// Its place in the program.
        var index: Int
        var name: String
        var source: String?
        /// The source model's name of the value, where the reference is a folder.
        var node: String?
        var unit: String?
        var type: String
        /// How often it was computed: more than once in a loop. What is told is the worst of them.
        var rounds = 1
        var divergence: Divergence
        /// The least PSNR among what it reads; nil where some of that was not compared. Where it is infinite and the
        /// own one is not, the divergence starts here.
        var operandPsnr: Double?

        /// Whether what it reads does not differ, but what it gives does.
        var startsDivergence: Bool { divergence.isAny && operandPsnr == .infinity }
    }

    struct Output: Codable, Equatable, Sendable {
        var name: String
        var divergence: Divergence
    }

    var function: String
    var unit: String
    var reference: String
    /// The operations that differ, the worst first.
    var operations: [Operation]
    var comparedCount: Int
    /// What could not be compared, and why.
    var remarks: [String]
    /// The outputs of the function as it usually runs, its operations joined to patterns, beside the reference's.
    var outputs: [Output]
}

/// A comparison as tables for a terminal.
enum CompareText {
    static func lines(_ report: CompareReport, top: Int, _ style: Style) -> [String] {
        let differing = report.operations.count
        var lines = [
            style.bold("function \(printable(report.function))")
                + "  \(report.unit) beside \(printable(report.reference)): \(differing) of \(report.comparedCount) "
                + "operations differ"
        ]
        if differing > 0 {
            lines += table(
                [
                    "#", "operation", "unit", "PSNR", "mean abs", "max abs", "mean rel", "max rel", "non-finite",
                    "source",
                ],
                report.operations.prefix(top).map { operation in
                    let from = operation.startsDivergence ? " *" : ""
                    return ["\(operation.index)", printable(operation.name) + from, operation.unit ?? "-"]
                        + cells(operation.divergence) + [printable(operation.source ?? operation.node ?? "-")]
                }, numbers: [0, 3, 4, 5, 6, 7, 8], style)
            if differing > top { lines.append("  and \(differing - top) more: --top \(differing) shows them") }
            if report.operations.prefix(top).contains(where: \.startsDivergence) {
                lines.append("  * what it reads does not differ: a divergence starts here")
            }
        }
        if !report.outputs.isEmpty {
            lines += ["", style.bold("  outputs, as the function usually runs")]
            lines += table(
                ["output", "PSNR", "mean abs", "max abs", "mean rel", "max rel", "non-finite"],
                report.outputs.map { [printable($0.name)] + cells($0.divergence) }, numbers: [1, 2, 3, 4, 5, 6], style)
        }
        return lines + report.remarks.map { "  " + printable($0) }
    }

    private static func cells(_ divergence: Divergence) -> [String] {
        var nonFinite = "\(divergence.nonFiniteCount)"
        if divergence.nonFiniteReferenceCount != divergence.nonFiniteCount || divergence.mismatchedCount > 0 {
            nonFinite += " (reference \(divergence.nonFiniteReferenceCount), \(divergence.mismatchedCount) wrong)"
        }
        let psnr = divergence.psnr == .infinity ? "inf" : String(format: "%.1f dB", divergence.psnr)
        return [
            psnr, number(divergence.meanAbsoluteError), number(divergence.maxAbsoluteError),
            number(divergence.meanRelativeError), number(divergence.maxRelativeError), nonFinite,
        ]
    }

    private static func number(_ value: Double) -> String { value == 0 ? "0" : String(format: "%.2e", value) }

    private static func table(_ head: [String], _ rows: [[String]], numbers: Set<Int>, _ style: Style) -> [String] {
        let all = [head] + rows
        let widths = head.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.enumerated().map { index, row in
            let cells = row.enumerated().map { column, text in
                numbers.contains(column) ? leftPadded(text, widths[column]) : padded(text, widths[column])
            }
            var line = "  " + cells.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return index == 0 ? style.bold(line) : line
        }
    }
}
