import Foundation

/// How far values are from their references.
struct Divergence: Codable, Equatable, Sendable {
    var count = 0
    /// The peak signal-to-noise ratio in decibels over what is finite in both; infinite where nothing differs.
    var psnr = Double.infinity
    var meanAbsoluteError = 0.0
    var maxAbsoluteError = 0.0
    /// Over references that are not zero.
    var meanRelativeError = 0.0
    var maxRelativeError = 0.0
    /// How many values, and how many references, are infinite or no number.
    var nonFiniteCount = 0
    var nonFiniteReferenceCount = 0
    /// How many values are finite where the reference is not, the other way round, or infinite in another way.
    var mismatchedCount = 0

    /// Whether a value differs from its reference at all.
    var isAny: Bool { maxAbsoluteError > 0 || mismatchedCount > 0 }

    /// Whether this is worse than `other`: values that are not finite where they should be come first.
    func isWorse(than other: Divergence) -> Bool {
        if mismatchedCount != other.mismatchedCount { return mismatchedCount > other.mismatchedCount }
        return psnr < other.psnr
    }

    /// Compares element by element, as far as both go.
    init(_ actual: Numbers, reference: Numbers) {
        if case .integers(let a) = actual, case .integers(let e) = reference {
            var sums = Sums()
            for (a, e) in zip(a, e) {
                let (distance, overflow) = a.subtractingReportingOverflow(e)
                sums.add(overflow ? .greatestFiniteMagnitude : abs(Double(distance)), Double(e))
            }
            take(sums)
            return
        }
        var sums = Sums()
        for (a, e) in zip(actual.asReals, reference.asReals) {
            if !a.isFinite { nonFiniteCount += 1 }
            if !e.isFinite { nonFiniteReferenceCount += 1 }
            if a.isFinite && e.isFinite {
                sums.add(abs(a - e), e)
            } else {
                sums.count += 1
                if a != e && !(a.isNaN && e.isNaN) { mismatchedCount += 1 }
            }
        }
        take(sums)
    }

    private mutating func take(_ sums: Sums) {
        count = sums.count
        maxAbsoluteError = sums.maxAbsolute
        maxRelativeError = sums.maxRelative
        meanAbsoluteError = sums.finiteCount > 0 ? sums.absolute / Double(sums.finiteCount) : 0
        meanRelativeError = sums.relativeCount > 0 ? sums.relative / Double(sums.relativeCount) : 0
        guard sums.squares > 0 else { return }
        // A reference of nothing but zeros has no peak: any error is then as bad as can be.
        psnr = 10 * log10(sums.peak * sums.peak / (sums.squares / Double(sums.finiteCount)))
    }

    private struct Sums {
        var count = 0
        var finiteCount = 0
        var absolute = 0.0
        var relative = 0.0
        var relativeCount = 0
        var squares = 0.0
        var peak = 0.0
        var maxAbsolute = 0.0
        var maxRelative = 0.0

        mutating func add(_ error: Double, _ reference: Double) {
            count += 1
            finiteCount += 1
            absolute += error
            squares += error * error
            maxAbsolute = max(maxAbsolute, error)
            let magnitude = abs(reference)
            peak = max(peak, magnitude)
            guard magnitude > 0 else { return }
            relativeCount += 1
            relative += error / magnitude
            maxRelative = max(maxRelative, error / magnitude)
        }
    }
}
