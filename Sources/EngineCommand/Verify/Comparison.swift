import Foundation

/// How an output differs from its reference.
struct Comparison: Equatable, Sendable {
    struct Difference: Equatable, Sendable {
        var index: Int
        var actual: String
        var expected: String
    }

    /// The largest |a − e|; infinite where a number stands against a NaN or another infinity.
    var maximumAbsoluteError = 0.0
    /// The largest |a − e| / |e|, over references that are not zero.
    var maximumRelativeError = 0.0
    /// The peak signal-to-noise ratio in decibels; infinite where nothing differs.
    var psnr = Double.infinity
    /// The number of elements beyond the tolerance.
    var failureCount = 0
    var count = 0
    var firstFailure: Difference?

    var isWithinTolerance: Bool { failureCount == 0 }

    /// Compares numbers of the same count, element by element.
    init(_ actual: Numbers, with expected: Numbers, tolerance: Tolerance) {
        count = actual.count
        if case .integers(let a) = actual, case .integers(let e) = expected {
            compare(a, e, tolerance)
            return
        }
        switch (actual, expected) {
        case (.complex(let a), .complex(let e)): compareComplex(a, e, tolerance)
        case (.complex(let a), _): compareComplex(a, expected.asReals.flatMap { [$0, 0] }, tolerance)
        case (_, .complex(let e)): compareComplex(actual.asReals.flatMap { [$0, 0] }, e, tolerance)
        default: compare(actual.asReals, expected.asReals, tolerance)
        }
    }

    private mutating func compare(_ actual: [Int128], _ expected: [Int128], _ tolerance: Tolerance) {
        var noise = Noise()
        for (index, (a, e)) in zip(actual, expected).enumerated() {
            // Exact in integers: 64-bit numbers that differ in their last bit are one Double.
            let (distance, overflow) = a.subtractingReportingOverflow(e)
            let error = overflow ? Double.infinity : abs(Double(distance))
            noise.add(error, Double(e))
            record(index, error, Double(e), tolerance, String(a), String(e))
        }
        psnr = noise.psnr
    }

    private mutating func compare(_ actual: [Double], _ expected: [Double], _ tolerance: Tolerance) {
        var noise = Noise()
        for (index, (a, e)) in zip(actual, expected).enumerated() {
            let error = Self.error(a, e)
            noise.add(error, e)
            record(index, error, e, tolerance, a.description, e.description)
        }
        psnr = noise.psnr
    }

    /// Each part is held against the magnitude of the whole number: a small part beside a large one is mostly noise.
    private mutating func compareComplex(_ actual: [Double], _ expected: [Double], _ tolerance: Tolerance) {
        var noise = Noise()
        for index in 0..<min(actual.count, expected.count) / 2 {
            let (ar, ai) = (actual[2 * index], actual[2 * index + 1])
            let (er, ei) = (expected[2 * index], expected[2 * index + 1])
            let error = max(Self.error(ar, er), Self.error(ai, ei))
            let magnitude = (er * er + ei * ei).squareRoot()
            noise.add(error, magnitude)
            record(index, error, magnitude, tolerance, "\(ar)+\(ai)i", "\(er)+\(ei)i")
        }
        psnr = noise.psnr
    }

    private static func error(_ actual: Double, _ expected: Double) -> Double {
        if actual == expected || (actual.isNaN && expected.isNaN) { return 0 }
        return actual.isFinite && expected.isFinite ? abs(actual - expected) : .infinity
    }

    private mutating func record(
        _ index: Int, _ error: Double, _ expected: Double, _ tolerance: Tolerance,
        _ actualText: @autoclosure () -> String, _ expectedText: @autoclosure () -> String
    ) {
        maximumAbsoluteError = max(maximumAbsoluteError, error)
        if error > 0, expected != 0, expected.isFinite {
            maximumRelativeError = max(maximumRelativeError, error / abs(expected))
        }
        // An infinite reference would allow everything; equal ones have no error at all.
        let allowed = tolerance.atol + tolerance.rtol * abs(expected)
        guard error > 0, !(error <= allowed) || error.isInfinite else { return }
        failureCount += 1
        if firstFailure == nil {
            firstFailure = Difference(index: index, actual: actualText(), expected: expectedText())
        }
    }
}

/// Collects what the signal-to-noise ratio needs, over the elements where both numbers are finite.
private struct Noise {
    private var squares = 0.0
    private var peak = 0.0
    private var count = 0

    mutating func add(_ error: Double, _ expected: Double) {
        guard error.isFinite, expected.isFinite else { return }
        squares += error * error
        peak = max(peak, abs(expected))
        count += 1
    }

    var psnr: Double {
        guard count > 0, squares > 0 else { return .infinity }
        return 10 * log10(peak * peak / (squares / Double(count)))
    }
}
