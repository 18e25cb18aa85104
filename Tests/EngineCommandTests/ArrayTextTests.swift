import Testing

@testable import EngineCommand

@Suite struct ArrayTextTests {
    @Test func showsArraysLikeNumPy() {
        let small = Numbers.integers((0..<6).map { Int128($0) })
        #expect(ArrayText.text(small, shape: [6]) == "[0 1 2 3 4 5]")
        #expect(ArrayText.text(small, shape: [2, 3]) == "[[0 1 2]\n [3 4 5]]")
        #expect(ArrayText.text(small, shape: [1, 2, 3]) == "[[[0 1 2]\n  [3 4 5]]]")
        #expect(ArrayText.text(.reals([1.5, -2, .nan]), shape: [3]) == "[1.5  -2 nan]")
        #expect(ArrayText.text(.reals([2.5]), shape: []) == "2.5")
        #expect(ArrayText.text(.reals([]), shape: [0, 3]) == "[]")
        #expect(ArrayText.text(.complex([1, -2]), shape: [1]) == "[1-2i]")
        #expect(ArrayText.text(.integers([1, 0]), shape: [2], isBool: true) == "[ true false]")
    }

    @Test func cutsLongDimensions() {
        let long = Numbers.integers((0..<1000).map { Int128($0) })
        #expect(ArrayText.text(long, shape: [1000]) == "[  0   1   2 … 997 998 999]")
        let rows = ArrayText.text(long, shape: [100, 10]).split(separator: "\n")
        #expect(rows.count == 7)
        #expect(rows[2] == " [ 20  21  22 …  27  28  29]")
        #expect(rows[4] == " [970 971 972 … 977 978 979]")
    }
}
