import Foundation

/// What a worker is asked to do.
struct CaseRequest: Codable, Sendable {
    var name: String
    var path: String
    var unit: ComputeUnit
    /// What the command line says, which wins over all else.
    var rtol: Double?
    var atol: Double?
    var placedOnly: Bool
    /// Whether ops are joined into patterns.
    var fusesPatterns = true
}

/// How a case went.
struct CaseResult: Codable, Sendable, Equatable {
    /// One output, or state, of one call beside its reference.
    struct Output: Codable, Sendable, Equatable {
        var name: String
        var call: Int
        var passed: Bool
        var count: Int
        var maxAbs: Double
        var maxRel: Double
        var psnr: Double
        var rtol: Double
        var atol: Double
        /// How many elements are beyond the tolerance, and which comes first.
        var failures: Int
        var firstFailure: String?
    }

    var name: String
    var passed: Bool
    var function: String?
    /// The unit that computed the outputs.
    var unit: String?
    var error: String?
    var outputs: [Output] = []
    var seconds = 0.0

    init(name: String, passed: Bool, error: String? = nil) {
        self.name = name
        self.passed = passed
        self.error = error
    }

    /// The line that a failed case prints.
    var line: String {
        let unit = unit.map { ", unit \($0)" } ?? ""
        let failed = outputs.filter { !$0.passed }
        guard error == nil, let worst = failed.first else {
            return "\(printable(name)): \(printable((error ?? "failed").replacing("\n", with: "; ")))\(unit)"
        }
        var text = "\(printable(name)): output \(printable(worst.name)): max abs error \(Self.text(worst.maxAbs))"
        text += ", max rel error \(Self.text(worst.maxRel)), PSNR \(Self.text(worst.psnr)) dB\(unit)"
        text += " (call \(worst.call), \(worst.failures) of \(worst.count) beyond"
        text += " rtol \(Self.text(worst.rtol)) atol \(Self.text(worst.atol))"
        if let first = worst.firstFailure { text += ", first \(first)" }
        if failed.count > 1 { text += "; \(failed.count - 1) more outputs failed" }
        return text + ")"
    }

    private static func text(_ value: Double) -> String { String(format: "%.3g", value) }
}
