import EngineGraph
import Testing

@testable import EngineCommand

@Suite struct ComparisonTests {
    private let tolerance = Tolerance(rtol: 1e-2, atol: 1e-3)

    private func compare(_ actual: [Double], _ expected: [Double]) -> Comparison {
        Comparison(.reals(actual), with: .reals(expected), tolerance: tolerance)
    }

    @Test func allowsWhatTheFormulaAllows() {
        // 1e-3 + 1e-2 · 100 = 1.001
        #expect(compare([101.0009], [100]).isWithinTolerance)
        #expect(!compare([101.0011], [100]).isWithinTolerance)
        #expect(compare([0.0009], [0]).isWithinTolerance)
        #expect(!compare([0.0011], [0]).isWithinTolerance)
    }

    @Test func holdsNaNEqualAndInfinitiesBySign() {
        #expect(compare([.nan, .infinity, -.infinity], [.nan, .infinity, -.infinity]).isWithinTolerance)
        #expect(!compare([1], [.nan]).isWithinTolerance)
        #expect(!compare([.nan], [1]).isWithinTolerance)
        #expect(!compare([.infinity], [-.infinity]).isWithinTolerance)
        #expect(!compare([1e300], [.infinity]).isWithinTolerance)
        #expect(!compare([.infinity], [1e300]).isWithinTolerance)
        #expect(compare([1], [.nan]).maximumAbsoluteError == .infinity)
    }

    @Test func reportsTheLargestErrorsAndTheFirstFailure() {
        let result = compare([1, 2.5, 8, 0.5], [1, 2, 10, 0])
        #expect(result.maximumAbsoluteError == 2)
        #expect(result.maximumRelativeError == 0.25)
        #expect(result.failureCount == 3)
        #expect(result.firstFailure == Comparison.Difference(index: 1, actual: "2.5", expected: "2.0"))
        // 10 · log10(10² / ((0.25 + 4 + 0.25) / 4))
        #expect(abs(result.psnr - 19.4885) < 1e-3)
        #expect(compare([1, 2], [1, 2]).psnr == .infinity)
    }

    @Test func comparesIntegersExactly() {
        let large = Int128(1) << 60
        let result = Comparison(.integers([large + 1]), with: .integers([large]), tolerance: .exact)
        #expect(result.failureCount == 1)
        #expect(Comparison(.integers([large]), with: .integers([large]), tolerance: .exact).isWithinTolerance)
        #expect(!Comparison(.integers([.min]), with: .integers([.max]), tolerance: .exact).isWithinTolerance)
        // A reference in another type is compared by value.
        #expect(Comparison(.integers([3]), with: .reals([3]), tolerance: .exact).isWithinTolerance)
        #expect(!Comparison(.integers([3]), with: .reals([3.5]), tolerance: .exact).isWithinTolerance)
    }

    @Test func comparesComplexNumbersByTheirMagnitude() {
        let expected = Numbers.complex([100, 0])
        #expect(Comparison(.complex([100, 0.9]), with: expected, tolerance: tolerance).isWithinTolerance)
        #expect(!Comparison(.complex([100, 1.1]), with: expected, tolerance: tolerance).isWithinTolerance)
        #expect(Comparison(.complex([2, 0]), with: .reals([2]), tolerance: tolerance).isWithinTolerance)
    }

    @Test func knowsTheToleranceOfEveryType() {
        #expect(Tolerance.standard(for: .float32) == Tolerance(rtol: 1e-4, atol: 1e-5))
        #expect(Tolerance.standard(for: .float16) == Tolerance(rtol: 2e-3, atol: 1e-3))
        #expect(Tolerance.standard(for: .bfloat16) == Tolerance(rtol: 2e-2, atol: 1e-2))
        #expect(Tolerance.standard(for: .int32) == .exact)
        #expect(Tolerance.standard(for: .bool) == .exact)
        #expect(Tolerance.standard(for: .complexFloat16) == Tolerance(rtol: 2e-3, atol: 1e-3))
    }
}
