import CoreAI
import Foundation

/// A placement report as one page that needs nothing else: pictures, tables, and what a pointer shows.
enum PlacementPage {
    static func html(_ report: PlacementReport, title: String) throws -> String {
        var body = ""
        for (index, function) in report.functions.enumerated() {
            body += "<section data-function=\"\(index)\"\(index == 0 ? "" : " hidden")>\n"
            body += summary(function) + remarks(function)
            body += PlacementPicture(function).drawings() + "\n" + table(function) + arguments(function)
            body += "</section>\n"
        }
        var tabs = ""
        if report.functions.count > 1 {
            tabs = report.functions.enumerated().map { index, function in
                "<button class=\"tab\(index == 0 ? " on" : "")\" data-tab=\"\(index)\">\(HTML.text(function.name))</button>"
            }.joined()
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(HTML.text(title)): placement</title>
            <style>
            \(PlacementPageStyle.css)
            </style>
            </head>
            <body>
            <header><h1>\(HTML.text(title))</h1><nav>\(tabs)</nav>\(legend(report))</header>
            \(body)<div id="tip" hidden></div>
            <script type="application/json" id="report">\(try HTML.json(report))</script>
            <script>
            \(PlacementPageStyle.script)
            </script>
            </body>
            </html>
            """
    }

    private static func legend(_ report: PlacementReport) -> String {
        let units = Set(report.functions.flatMap(\.patterns).map(\.unit)).sorted()
        let entries = units.map { "<span class=\"\(HTML.unitClass($0))\"><i></i>\(HTML.text($0))</span>" }
        return "<div class=\"legend\">\(entries.joined())<span class=\"idle\"><i></i>bookkeeping</span></div>"
    }

    private static func summary(_ function: PlacementReport.Function) -> String {
        func card(_ title: String, _ value: String, _ kind: String = "") -> String {
            "<div class=\"card \(kind)\"><b>\(HTML.text(value))</b><span>\(HTML.text(title))</span></div>"
        }
        let computing = function.patterns.filter { !$0.isBookkeeping }
        let total = computing.reduce(0) { $0 + function.seconds($1) }
        var cards = [card("function", function.name)]
        for unit in function.computingUnits {
            let own = computing.filter { $0.unit == unit }
            let seconds = own.reduce(0) { $0 + function.seconds($1) }
            let share = total > 0 ? Int((100 * seconds / total).rounded()) : 0
            cards.append(
                card("on \(unit), \(share)% of the time", "\(own.count) of \(computing.count)", HTML.unitClass(unit)))
        }
        cards.append(card(function.measuredRunCount > 0 ? "measured" : "estimated", PlacementText.time(total)))
        cards.append(card("between units", ByteCount.short(function.patterns.reduce(0) { $0 + $1.crossingByteCount })))
        cards.append(card("peak memory of a call", ByteCount.short(function.memory.peakByteCount)))
        cards.append(card("weights", ByteCount.short(function.memory.weightByteCount)))
        return "<div class=\"cards\">\(cards.joined())</div>\n"
    }

    private static func remarks(_ function: PlacementReport.Function) -> String {
        var lines = function.units.filter { !$0.isUsable }.map { "no \($0.name): \($0.reason ?? "")" }
        for unbound in function.unbound {
            let place = unbound.region.isEmpty ? "" : " of \(unbound.region)"
            lines.append("\(unbound.operations.count) operations\(place) are not bound: \(unbound.reason)")
        }
        lines += function.fallbacks.map { "fell back to the CPU: \($0)" }
        guard !lines.isEmpty else { return "" }
        return "<ul class=\"remarks\">" + lines.map { "<li>\(HTML.text($0))</li>" }.joined() + "</ul>\n"
    }

    private static func table(_ function: PlacementReport.Function) -> String {
        let head = ["#", "pattern", "unit", "estimated", "measured", "crossing", "operations", "why not another unit"]
        var html = "<table class=\"patterns\"><thead><tr>"
        html += head.map { "<th>\(HTML.text($0))</th>" }.joined() + "</tr></thead><tbody>\n"
        for pattern in function.patterns {
            let operations = pattern.operations.map { operation in
                let source = operation.source.map {
                    " <small title=\"\(HTML.text(operation.file ?? ""))\">\(HTML.text($0))</small>"
                }
                return HTML.text(operation.name) + (source ?? "")
            }
            let reasons = pattern.declined.map { "<b>\(HTML.text($0.unit))</b> \(HTML.text($0.reason))" }
            let measured = (pattern.measurement == .part ? "~" : "") + PlacementText.time(pattern.measuredSeconds)
            html +=
                "<tr data-row=\"\(pattern.id)\"><td>\(pattern.id)</td><td>\(HTML.text(PlacementText.name(pattern)))</td>"
            html += "<td class=\"\(HTML.unitClass(pattern.unit))\"><i></i>\(HTML.text(pattern.unit))</td>"
            html += number(PlacementText.time(pattern.estimatedSeconds), pattern.estimatedSeconds)
            html += number(measured, pattern.measuredSeconds ?? -1)
            html += number(
                pattern.crossingByteCount == 0 ? "-" : ByteCount.short(pattern.crossingByteCount),
                Double(pattern.crossingByteCount))
            html +=
                "<td>\(operations.joined(separator: "<br>"))</td><td>\(reasons.joined(separator: "<br>"))</td></tr>\n"
        }
        return html + "</tbody></table>\n"
    }

    private static func number(_ text: String, _ value: Double) -> String {
        "<td class=\"number\" data-value=\"\(value)\">\(HTML.text(text))</td>"
    }

    private static func arguments(_ function: PlacementReport.Function) -> String {
        guard !function.arguments.isEmpty else { return "" }
        var html = "<table><thead><tr><th>argument</th><th>type</th><th>preferred strides</th><th>given</th>"
        html += "<th>layout copy</th><th>copied to</th></tr></thead><tbody>\n"
        for argument in function.arguments {
            let cells = [
                (argument.isState ? "state " : "") + argument.name, argument.type,
                argument.preferredStrides.map { "\($0)" } ?? "-", argument.givenStrides.map { "\($0)" } ?? "-",
                argument.isCopiedForLayout ? "yes" : "no",
                argument.copiedTo.isEmpty ? "-" : argument.copiedTo.joined(separator: ", "),
            ]
            html += "<tr>" + cells.map { "<td>\(HTML.text($0))</td>" }.joined() + "</tr>\n"
        }
        return html + "</tbody></table>\n"
    }
}
