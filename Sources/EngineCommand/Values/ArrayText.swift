import Foundation

/// Arrays as text, in the manner of NumPy: nested brackets, columns aligned, long dimensions cut to their ends.
enum ArrayText {
    /// A dimension that is longer than this is cut.
    private static let longest = 8
    private static let edge = 3

    static func text(_ numbers: Numbers, shape: [Int], isBool: Bool = false) -> String {
        guard numbers.count > 0 else { return "[]" }
        let indices = Self.indices(shape)
        var texts = element(numbers, indices)
        if isBool { texts = texts.map { $0 == "0" ? "false" : "true" } }
        let width = texts.map(\.count).max() ?? 0
        var position = 0
        return block(shape[...], indent: 1) {
            defer { position += 1 }
            return leftPadded(texts[position], shape.isEmpty ? 0 : width)
        }
    }

    /// The elements that are shown, in order.
    private static func indices(_ shape: [Int]) -> [Int] {
        var result = [0]
        for extent in shape {
            let kept = extent > longest ? Array(0..<edge) + Array(extent - edge..<extent) : Array(0..<extent)
            result = result.flatMap { base in kept.map { base * extent + $0 } }
        }
        return result
    }

    private static func block(_ shape: ArraySlice<Int>, indent: Int, _ next: () -> String) -> String {
        guard let extent = shape.first else { return next() }
        let rest = shape.dropFirst()
        let isCut = extent > longest
        var parts: [String] = []
        for index in 0..<(isCut ? 2 * edge : extent) {
            if isCut, index == edge { parts.append("…") }
            parts.append(block(rest, indent: indent + 1, next))
        }
        let separator =
            rest.isEmpty
            ? " " : String(repeating: "\n", count: rest.count) + String(repeating: " ", count: indent)
        return "[" + parts.joined(separator: separator) + "]"
    }

    private static func element(_ numbers: Numbers, _ indices: [Int]) -> [String] {
        switch numbers {
        case .integers(let values): return indices.map { String(values[$0]) }
        case .reals(let values): return indices.map { number(values[$0]) }
        case .complex(let values):
            return indices.map { index in
                let imaginary = values[2 * index + 1]
                let sign = imaginary.sign == .minus ? "-" : "+"
                return number(values[2 * index]) + sign + number(imaginary.magnitude) + "i"
            }
        }
    }

    /// Six digits: enough to see what is there.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "nan" }
        return String(format: "%.6g", value)
    }
}
