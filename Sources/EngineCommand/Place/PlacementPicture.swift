import CoreAI
import Foundation

/// The picture of a function's placement: a graph of its patterns, coloured by their units.
struct PlacementPicture {
    private let function: PlacementReport.Function
    /// The longest time of a pattern: what the bars are drawn against.
    private let longest: Double

    init(_ function: PlacementReport.Function) {
        self.function = function
        longest = function.patterns.map(function.seconds).max() ?? 0
    }

    /// One drawing for each region of the function, in the order of the program.
    func drawings() -> String {
        var regions: [String] = []
        for pattern in function.patterns where !regions.contains(pattern.region) { regions.append(pattern.region) }
        return regions.map { region in
            let title = region.isEmpty ? "" : "<h3>\(HTML.text(region))</h3>"
            return title + drawing(function.patterns.filter { $0.region == region })
        }.joined(separator: "\n")
    }

    private enum Content {
        case pattern(PlacementReport.Pattern)
        case argument(String)
        case output(String)
    }

    private func drawing(_ patterns: [PlacementReport.Pattern]) -> String {
        var contents: [Content] = []
        var links: [(from: Int, to: Int)] = []
        var places: [Int: Int] = [:]
        for pattern in patterns {
            // What many patterns read stands beside each of them: lines from one place would cover the picture.
            for name in pattern.reads {
                links.append(
                    (contents.count, contents.count + pattern.reads.count - (pattern.reads.firstIndex(of: name) ?? 0)))
                contents.append(.argument(name))
            }
            places[pattern.id] = contents.count
            for source in pattern.sources { if let place = places[source] { links.append((place, contents.count)) } }
            contents.append(.pattern(pattern))
            if !pattern.gives.isEmpty {
                links.append((contents.count - 1, contents.count))
                contents.append(.output(pattern.gives.joined(separator: ", ")))
            }
        }
        let layout = GraphLayout(contents.map(Self.size), edges: links)
        let margin = 16.0
        let (width, height) = (layout.width + 2 * margin, layout.height + 2 * margin)
        var svg =
            "<div class=\"graph\"><svg viewBox=\"0 0 \(Self.text(width)) \(Self.text(height))\" "
            + "width=\"\(Self.text(width))\" height=\"\(Self.text(height))\">\n"
        svg += "<g class=\"view\"><g transform=\"translate(\(margin),\(margin))\">\n"
        for edge in layout.edges { svg += self.edge(edge, contents) }
        for (index, content) in contents.enumerated() { svg += node(content, at: layout.centers[index]) }
        return svg + "</g></g></svg></div>"
    }

    private static func size(_ content: Content) -> GraphLayout.Node {
        switch content {
        case .pattern: GraphLayout.Node(width: 190, height: 46)
        case .argument, .output: GraphLayout.Node(width: 110, height: 24)
        }
    }

    private func edge(_ edge: GraphLayout.Edge, _ contents: [Content]) -> String {
        guard let first = edge.points.first else { return "" }
        var path = "M\(Self.text(first.x)) \(Self.text(first.y))"
        for (previous, point) in zip(edge.points, edge.points.dropFirst()) {
            let middle = Self.text((previous.y + point.y) / 2)
            path += "C\(Self.text(previous.x)) \(middle) \(Self.text(point.x)) \(middle) "
            path += "\(Self.text(point.x)) \(Self.text(point.y))"
        }
        var isCrossing = false
        if case .pattern(let from) = contents[edge.from], case .pattern(let to) = contents[edge.to] {
            isCrossing = from.unit != to.unit
        }
        return "<path class=\"edge\(isCrossing ? " crossing" : "")\" d=\"\(path)\"/>\n"
    }

    private func node(_ content: Content, at center: GraphLayout.Point) -> String {
        let size = Self.size(content)
        let place = "translate(\(Self.text(center.x - size.width / 2)),\(Self.text(center.y - size.height / 2)))"
        func box(_ radius: Double) -> String {
            "<rect class=\"box\" width=\"\(Self.text(size.width))\" height=\"\(Self.text(size.height))\" "
                + "rx=\"\(Self.text(radius))\"/>"
        }
        func line(_ text: String, x: Double, y: Double, _ kind: String, limit: Int) -> String {
            let shown = text.count > limit ? text.prefix(limit - 1) + "…" : text[...]
            return
                "<text class=\"\(kind)\" x=\"\(Self.text(x))\" y=\"\(Self.text(y))\">\(HTML.text(String(shown)))</text>"
        }
        switch content {
        case .argument(let name), .output(let name):
            let kind = if case .output = content { "output" } else { "argument" }
            return "<g class=\"node \(kind)\" transform=\"\(place)\">\(box(12))"
                + line(name, x: size.width / 2, y: 16, "middle", limit: 16) + "</g>\n"
        case .pattern(let pattern):
            let seconds = function.seconds(pattern)
            let share = longest > 0 ? min(1, seconds / longest) : 0
            let source = pattern.operations.lazy.compactMap(\.source).first
            let time = PlacementText.time(seconds)
            var text = "<g class=\"node \(HTML.unitClass(pattern.unit))\(pattern.isBookkeeping ? " idle" : "")\" "
            text += "data-id=\"\(pattern.id)\" tabindex=\"0\" transform=\"\(place)\">\(box(6))"
            text +=
                "<rect class=\"bar\" x=\"0\" y=\"\(Self.text(size.height - 4))\" height=\"4\" "
                + "width=\"\(Self.text(share * size.width))\"/>"
            text += line(PlacementText.name(pattern), x: 10, y: 18, "name", limit: 20)
            text += line(
                source.map(Self.tail) ?? pattern.operations.first?.name ?? "", x: 10, y: 34, "source", limit: 18)
            text += line(time, x: size.width - 10, y: 34, "time", limit: 12)
            return text + "</g>\n"
        }
    }

    /// The end of a source line's name, where the number is.
    private static func tail(_ source: String) -> String { source.count > 18 ? "…" + source.suffix(17) : source }

    private static func text(_ value: Double) -> String {
        let rounded = (value * 10).rounded() / 10
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }
}

extension PlacementReport.Function {
    /// What a pattern took; what it is expected to, where nothing was measured.
    func seconds(_ pattern: PlacementReport.Pattern) -> Double {
        measuredRunCount > 0 ? pattern.measuredSeconds ?? 0 : pattern.estimatedSeconds
    }
}

/// Text for a page.
enum HTML {
    /// `text` with what HTML takes for markup spelt out.
    static func text(_ text: String) -> String {
        var result = ""
        for character in printable(text) {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.append(character)
            }
        }
        return result
    }

    /// The style class of a unit's colour.
    static func unitClass(_ unit: String) -> String {
        ["cpu", "gpu", "accelerator"].contains(unit) ? "unit-\(unit)" : "unit-other"
    }

    /// A value as JSON that may stand in a script.
    static func json(_ value: some Encodable) throws -> String {
        try JSONText.encode(value, isPretty: false).replacing("<", with: "\\u003c")
    }
}
