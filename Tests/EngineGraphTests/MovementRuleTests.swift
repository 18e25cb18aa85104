import Testing

@testable import EngineGraph

@Suite("Shape rules: movement")
struct MovementRuleTests {
    private static let one = ["1xsi32", "1xsi32", "1xsi32"]

    private static let boxesCases: [RuleCase] = [
        RuleCase(.transpose, ["2x3x4xf32", "3xui32"], .types(["4x2x3xf32"]), contents: [1: [2, 0, 1]]),
        RuleCase(.transpose, ["f32", "0xui32"], .types(["f32"]), contents: [1: []]),
        RuleCase(.transpose, ["2x3xf32", "2xui32"], .fails("given twice"), contents: [1: [1, 1]]),
        RuleCase(.transpose, ["2x3xf32", "2xui32"], .fails("axis 2"), contents: [1: [0, 2]]),
        RuleCase(.transpose, ["2x3xf32", "1xui32"], .fails("1 entries, expected 2"), contents: [1: [0]]),
        RuleCase(.transpose, ["2x3xf32", "2xui32"], .needs([1])),
        RuleCase(.reverse, ["2x3xf32", "1xsi32"], .types(["2x3xf32"]), contents: [1: [-1]]),
        RuleCase(.reverse, ["2x3xf32", "2xsi32"], .fails("given twice"), contents: [1: [1, -1]]),
        RuleCase(.reverse, ["2x3xf32", "1xsi32"], .types(["2x3xf32"])),
        RuleCase(.slice, ["10xf32"] + one, .types(["6xf32"]), contents: [1: [2], 2: [8], 3: [1]]),
        RuleCase(.slice, ["8xf32"] + one, .types(["7xf32"]), contents: [1: [7], 2: [0], 3: [-1]]),
        RuleCase(.slice, ["8xf32"] + one, .types(["8xf32"]), contents: [1: [7], 2: [-1], 3: [-1]]),
        RuleCase(.slice, ["8xf32"] + one, .types(["2xf32"]), contents: [1: [-2], 2: [2_147_483_647], 3: [1]]),
        RuleCase(.slice, ["8xf32"] + one, .types(["0xf32"]), contents: [1: [5], 2: [3], 3: [1]]),
        RuleCase(.slice, ["8xf32"] + one, .types(["3xf32"]), contents: [1: [0], 2: [8], 3: [3]]),
        RuleCase(.slice, ["8xf32"] + one, .fails("stride is 0"), contents: [1: [0], 2: [8], 3: [0]]),
        RuleCase(.slice, ["8xf32"] + one, .fails("stride is 0"), contents: [3: [0]]),
        RuleCase(.slice, ["8x8xf32"] + one, .fails("has 1 elements, expected 2")),
        RuleCase(.slice, ["8xf32"] + one, .types(["4xf32"]), contents: [3: [1]]),
        RuleCase(.slice, ["8xf32"] + one, .fails("is declared as"), declared: ["9xf32"]),
        RuleCase(.slice, ["8xf32"] + one, .needs([1, 2]), declared: ["?xf32"], contents: [3: [1]]),
        RuleCase(
            .sliceUpdate, ["8xf32"] + one + ["3xf32"], .types(["8xf32"]), contents: [1: [1], 2: [4], 3: [1]]),
        RuleCase(.sliceUpdate, ["8xf32"] + one + ["3xf32"], .types(["8xf32"])),
        RuleCase(
            .sliceUpdate, ["8xf32"] + one + ["2xf32"], .fails("shape [2], expected [3]"),
            contents: [1: [1], 2: [4], 3: [1]]),
        RuleCase(.sliceUpdate, ["8xf32"] + one + ["9xf32"], .fails("shape [9]")),
        RuleCase(.sliceUpdate, ["8xf32"] + one + ["3xf16"], .fails("element type f16")),
        RuleCase(.concat, ["si32", "2x3xf32", "1x3xf32"], .types(["3x3xf32"]), contents: [0: [0]]),
        RuleCase(.concat, ["si32", "2x3xf32", "2x1xf32"], .types(["2x4xf32"]), contents: [0: [-1]]),
        RuleCase(.concat, ["si32", "1xui32", "ui32"], .types(["2xui32"]), contents: [0: [0]]),
        RuleCase(.concat, ["si32", "2x3xf32", "2x2xf32"], .fails("don't join"), contents: [0: [0]]),
        RuleCase(.concat, ["si32", "2x3xf32", "3xf32"], .fails("don't join"), contents: [0: [0]]),
        RuleCase(.concat, ["si32", "2xf32", "2xf32"], .fails("axis 1"), contents: [0: [1]]),
        RuleCase(.concat, ["si32", "2xf32", "2xsi32"], .fails("element type si32"), contents: [0: [0]]),
        RuleCase(.concat, ["si32", "2xf32", "2xf32"], .needs([0])),
        RuleCase(.concat, ["si32"], .fails("1 operands, expected at least 2")),
        RuleCase(
            .split, ["10xf32", "ui32", "si32"], .types(["3xf32", "3xf32", "3xf32", "1xf32"]),
            contents: [1: [3], 2: [0]]),
        RuleCase(
            .split, ["3x8xf32", "3xui32", "si32"], .types(["3x2xf32", "3x0xf32", "3x6xf32"]),
            contents: [1: [2, 0, 6], 2: [-1]]),
        RuleCase(.split, ["4xf32", "ui32", "si32"], .fails("make 2 parts, expected 1"), contents: [1: [2], 2: [0]]),
        RuleCase(.split, ["4xf32", "ui32", "si32"], .fails("split size is 0"), contents: [1: [0], 2: [0]]),
        RuleCase(.split, ["4xf32", "1xui32", "si32"], .fails("sum to 3, expected 4"), contents: [1: [3], 2: [0]]),
        RuleCase(.split, ["4xf32", "2xsi32", "si32"], .fails("has -1 elements"), contents: [1: [5, -1], 2: [0]]),
        RuleCase(.split, ["4xf32", "ui32", "si32"], .needs([2]), contents: [1: [2]]),
    ]

    @Test("boxes", arguments: boxesCases)
    func boxes(rule: RuleCase) throws { try rule.check() }

    private static func pad(
        _ mode: PaddingMode, _ padding: [Double], _ expected: RuleCase.Expected, shape: String = "3xf32"
    ) -> RuleCase {
        RuleCase(
            .pad, [shape, "\(padding.count)xui32", "f32"], expected, contents: [1: padding],
            attributes: .padding(mode))
    }

    private static let padsCases: [RuleCase] = [
        pad(.constant, [1, 9], .types(["13xf32"])),
        pad(.constant, [0, 0, 2, 1], .types(["2x6xf32"]), shape: "2x3xf32"),
        pad(.reflect, [2, 2], .types(["7xf32"])),
        pad(.reflect, [3, 0], .fails("reflect allows 2")),
        pad(.symmetric, [3, 3], .types(["9xf32"])),
        pad(.symmetric, [0, 4], .fails("symmetric allows 3")),
        pad(.circular, [3, 0], .types(["6xf32"])),
        pad(.circular, [4, 0], .fails("circular allows 3")),
        pad(.replicate, [9, 9], .types(["21xf32"])),
        pad(.replicate, [1, 0], .fails("replicate allows 0"), shape: "0xf32"),
        pad(.constant, [1, 0], .types(["1xf32"]), shape: "0xf32"),
        pad(.constant, [1], .fails("1 numbers, expected 2")),
        pad(.constant, [-1, 0], .fails("expected ≥ 0")),
        RuleCase(.pad, ["3xf32", "2xui32", "f32"], .needs([1]), attributes: .padding(.constant)),
        RuleCase(.pad, ["3xf32", "2xui32", "si32"], .fails("element type si32"), attributes: .padding(.constant)),
        RuleCase(
            .pad, ["3xf32", "2xui32", "2xf32"], .fails("2 elements, expected 1"), attributes: .padding(.constant)),
        RuleCase(.pad, ["3xf32", "2xui32", "f32"], .fails("no padding mode")),
    ]

    @Test("pads", arguments: padsCases)
    func pads(rule: RuleCase) throws { try rule.check() }

    private static let indexedCases: [RuleCase] = [
        RuleCase(.gatherAlongAxis, ["3x4xf32", "3x2xsi32", "si32"], .types(["3x2xf32"]), contents: [2: [1]]),
        RuleCase(.gatherAlongAxis, ["3x4xf32", "3x2xsi32", "si32"], .types(["3x2xf32"])),
        RuleCase(
            .gatherAlongAxis, ["3x4xf32", "2x2xsi32", "si32"], .fails("has 2 elements, expected 3"),
            contents: [2: [1]]),
        RuleCase(.gatherAlongAxis, ["3x4xf32", "3xsi32", "si32"], .fails("rank 1, the input 2")),
        RuleCase(.gatherAlongAxis, ["3x4xf32", "3x2xsi32", "si32"], .fails("axis 2"), contents: [2: [2]]),
        RuleCase(.gatherAlongAxis, ["3xf32", "3xf32", "si32"], .fails("'indices'")),
        RuleCase(.gatherND, ["3x4xf32", "5x2xsi32"], .types(["5xf32"])),
        RuleCase(.gatherND, ["4x3xf32", "2x1xsi32"], .types(["2x3xf32"])),
        RuleCase(.gatherND, ["4x3xf32", "2x0xsi32"], .types(["2x4x3xf32"])),
        RuleCase(.gatherND, ["4x3xf32", "2x3xsi32"], .fails("3 coordinates")),
        RuleCase(.gatherND, ["4x3xf32", "si32"], .fails("scalar")),
        RuleCase(
            .scatterAlongAxis, ["3x4xf32", "3x2xsi32", "3x2xf32", "si32"], .types(["3x4xf32"]),
            contents: [3: [1]], attributes: .scatter(.add)),
        RuleCase(
            .scatterAlongAxis, ["3x4xf32", "3x2xsi32", "3x3xf32", "si32"], .fails("shape [3, 3], expected [3, 2]"),
            attributes: .scatter(.add)),
        RuleCase(
            .scatterAlongAxis, ["3x4xf32", "3x2xsi32", "3x2xsi32", "si32"], .fails("element type"),
            attributes: .scatter(.add)),
        RuleCase(.scatterAlongAxis, ["3xf32", "3xsi32", "3xf32", "si32"], .fails("no scatter mode")),
        RuleCase(.scatterND, ["4x4x4xf32", "2x1xsi32", "2x4x4xf32"], .types(["4x4x4xf32"])),
        RuleCase(.scatterND, ["8xf32", "4x1xsi32", "3xf32"], .fails("shape [3], expected [4]")),
        RuleCase(.scatterND, ["8xf32", "4x1xsi32", "4xf16"], .fails("element type f16")),
        RuleCase(.nonZero, ["2x2xf32"], .needs([0]), declared: ["?x2xsi32"]),
        RuleCase(
            .nonZero, ["2x2xf32"], .types(["2x2xsi32"]), declared: ["?x2xsi32"], contents: [0: [0, .nan, -0.0, 3]]),
        RuleCase(
            .nonZero, ["2x2xf32"], .fails("expected integer"), declared: ["?x2xf32"], contents: [0: [0, 0, 0, 0]]),
    ]

    @Test("gathers and scatters", arguments: indexedCases)
    func indexed(rule: RuleCase) throws { try rule.check() }
}
