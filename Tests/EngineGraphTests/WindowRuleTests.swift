import Testing

@testable import EngineGraph

@Suite("Shape rules: along axes, reductions, windows")
struct WindowRuleTests {
    private static let reductionCases: [RuleCase] = [
        RuleCase(.reduceSum, ["2x3xf32", "1xsi32"], .types(["1x3xf32"]), contents: [1: [0]]),
        RuleCase(.reduceSum, ["2x3xf32", "2xsi32"], .types(["1x1xf32"]), contents: [1: [0, -1]]),
        RuleCase(.reduceSum, ["2x3xf32", "0xsi32"], .types(["2x3xf32"]), contents: [1: []]),
        RuleCase(.reduceSum, ["0x3xf32", "1xsi32"], .types(["1x3xf32"]), contents: [1: [0]]),
        RuleCase(.reduceSum, ["2x3xf32", "2xsi32"], .fails("given twice"), contents: [1: [1, -1]]),
        RuleCase(.reduceSum, ["2x3xf32", "1xsi32"], .fails("axis -3"), contents: [1: [-3]]),
        RuleCase(.reduceSum, ["2x3xf32", "1xsi32"], .needs([1])),
        RuleCase(.reduceSum, ["2x3xi1", "1xsi32"], .fails("'input'")),
        RuleCase(.reduceMax, ["2xsi32", "1xsi32"], .types(["1xsi32"]), contents: [1: [0]]),
        RuleCase(.reduceMin, ["2xui8", "1xsi32"], .types(["1xui8"]), contents: [1: [0]]),
        RuleCase(.reduceProduct, ["2xf16", "1xsi32"], .types(["1xf16"]), contents: [1: [0]]),
        RuleCase(.reduceMean, ["2xf16", "1xsi32"], .types(["1xf16"]), contents: [1: [0]]),
        RuleCase(.reduceMean, ["2xsi32", "1xsi32"], .fails("'input'")),
        RuleCase(.all, ["2x3xi1", "1xsi32"], .types(["2x1xi1"]), contents: [1: [1]]),
        RuleCase(.any, ["2x3xf32", "1xsi32"], .fails("'input'")),
        RuleCase(.argmax, ["3x4xf32", "si32"], .types(["3x1xui32"]), contents: [1: [1]]),
        RuleCase(.argmax, ["3x4xf32", "si32"], .types(["3x1xui16"]), contents: [1: [-1]]),
        RuleCase(.argmax, ["3x4xf32", "si32"], .fails("expected integer"), declared: ["3x1xf32"], contents: [1: [1]]),
        RuleCase(.argmax, ["3x4xf32", "si32"], .needs([1]), declared: ["?x?xui32"]),
        RuleCase(.argmax, ["f32", "si32"], .fails("rank 0"), declared: ["ui32"], contents: [1: [0]]),
        RuleCase(.reduce, ["2x3xf16", "1xsi32", "f32"], .types(["2x1xf16"]), contents: [1: [1]]),
        RuleCase(.reduce, ["2x3xf32", "1xsi32", "f32"], .types(["2x1xf32"]), contents: [1: [1]]),
        RuleCase(
            .reduce, ["2x3xf32", "1xsi32", "f32"], .fails("element type"), declared: ["2x1xsi8"], contents: [1: [1]]),
        RuleCase(.reduce, ["2x3xf32", "1xsi32", "1xf32"], .fails("'init_value'")),
        RuleCase(.reduceIndex, ["3x4xf32", "si32", "f32", "ui32"], .types(["1x4xui32"]), contents: [1: [0]]),
        RuleCase(.reduceIndex, ["3x4xf32", "si32", "f16", "ui32"], .fails("element type f16")),
        RuleCase(.softmax, ["2x3xf32", "si32"], .types(["2x3xf32"]), contents: [1: [-1]]),
        RuleCase(.softmax, ["2x3xf32", "si32"], .types(["2x3xf32"])),
        RuleCase(.softmax, ["2x3xf32", "si32"], .fails("axis 2"), contents: [1: [2]]),
        RuleCase(.softmax, ["2x3xsi32", "si32"], .fails("'input'")),
        RuleCase(.softmax, ["f32", "si32"], .fails("scalar"), contents: [1: [0]]),
        RuleCase(.scan, ["3xsi32", "ui32", "i1"], .types(["3xsi32"]), contents: [1: [0]], attributes: .combiner(.sum)),
        RuleCase(.scan, ["3xsi32", "ui32", "i1"], .fails("no combiner"), contents: [1: [0]]),
        RuleCase(.sort, ["3xf32", "si32", "i1", "i1"], .types(["3xf32"]), contents: [1: [0]]),
        RuleCase(.argsort, ["3xf32", "si32", "i1", "i1"], .types(["3xsi32"]), contents: [1: [-1]]),
        RuleCase(.argsort, ["3xf32", "si32", "i1", "i1"], .fails("axis 1"), declared: ["3xsi32"], contents: [1: [1]]),
        RuleCase(.argsort, ["3xf32", "si32", "i1", "i1"], .fails("expected integer"), contents: [1: [0]]),
    ]

    @Test("reductions and sorts", arguments: reductionCases)
    func reductions(rule: RuleCase) throws { try rule.check() }

    private static let productCases: [RuleCase] = [
        RuleCase(.batchMatmul, ["3x4xf32", "4x5xf32"], .types(["3x5xf32"])),
        RuleCase(.batchMatmul, ["2x3x4xf32", "2x4x5xf32"], .types(["2x3x5xf32"])),
        RuleCase(.batchMatmul, ["2x3x0xf32", "2x0x5xf32"], .types(["2x3x5xf32"])),
        RuleCase(.batchMatmul, ["3x4xf32", "5x4xf32"], .fails("4 columns")),
        RuleCase(.batchMatmul, ["1x3x4xf32", "2x4x5xf32"], .fails("expected equal")),
        RuleCase(.batchMatmul, ["4xf32", "4x5xf32"], .fails("'x'")),
        RuleCase(.batchMatmul, ["3x4xf32", "4x5xf16"], .fails("element type f16")),
        RuleCase(.broadcastingBatchMatmul, ["2x3x4xf32", "4x5xf32"], .types(["2x3x5xf32"])),
        RuleCase(.broadcastingBatchMatmul, ["7x1x3x4xf32", "2x4x5xf32"], .types(["7x2x3x5xf32"])),
        RuleCase(.broadcastingBatchMatmul, ["3x3x4xf32", "2x4x5xf32"], .fails("don't broadcast")),
        RuleCase(.broadcastingBatchMatmul, ["3x4xf32", "4xf32"], .fails("'y'")),
    ]

    @Test("matrix products", arguments: productCases)
    func products(rule: RuleCase) throws { try rule.check() }

    private static func conv(
        _ input: String, _ weight: String, stride: [Double] = [1, 1], dilation: [Double] = [1, 1],
        groups: Double = 1, _ expected: RuleCase.Expected
    ) -> RuleCase {
        RuleCase(
            stride.count == 3 ? .conv3d : .conv2d,
            [input, weight, "\(stride.count)xui32", "\(dilation.count)xui32", "ui32"], expected,
            contents: [2: stride, 3: dilation, 4: [groups]])
    }

    private static func transposed(
        _ input: String, _ weight: String, stride: [Double] = [1, 1], padding: [Double] = [0, 0],
        dilation: [Double] = [1, 1], extra: [Double] = [0, 0], groups: Double = 1, _ expected: RuleCase.Expected
    ) -> RuleCase {
        RuleCase(
            .convTranspose2d, [input, weight, "2xui32", "2xui32", "2xui32", "2xui32", "ui32"], expected,
            contents: [2: stride, 3: padding, 4: dilation, 5: extra, 6: [groups]])
    }

    private static let convolutionCases: [RuleCase] = [
        conv("1x3x10x10xf32", "4x3x3x3xf32", .types(["1x4x8x8xf32"])),
        conv("1x3x10x9xf32", "4x3x3x3xf32", stride: [2, 3], .types(["1x4x4x3xf32"])),
        conv("1x3x10x10xf32", "4x3x3x3xf32", dilation: [4, 1], .types(["1x4x2x8xf32"])),
        conv("1x4x5x5xf32", "8x1x1x1xf32", groups: 4, .types(["1x8x5x5xf32"])),
        conv("0x3x5x5xf32", "4x3x3x3xf32", .types(["0x4x3x3xf32"])),
        conv("1x2x4x4x4xf32", "3x2x2x2x2xf32", stride: [1, 1, 2], dilation: [1, 1, 1], .types(["1x3x3x3x2xf32"])),
        conv("1x3x2x2xf32", "4x3x3x3xf32", .fails("covers 3 elements, the input has 2")),
        conv("1x3x5x5xf32", "4x2x3x3xf32", .fails("2 channels a group, expected 3")),
        conv("1x3x5x5xf32", "4x3x3x3xf32", groups: 2, .fails("don't divide into 2 groups")),
        conv("1x4x5x5xf32", "3x2x3x3xf32", groups: 2, .fails("3 output channels")),
        conv("1x3x5x5xf32", "4x3x3x3xf32", groups: 0, .fails("groups is 0")),
        conv("1x3x5x5xf32", "4x3x3x3xf32", stride: [0, 1], .fails("stride is 0")),
        conv("1x3x5x5xf32", "4x3x3x3xf32", dilation: [1, 0], .fails("dilation is 0")),
        conv("1x3x5x5xf32", "4x3x3x3xf32", stride: [1], .fails("stride has 1 numbers, expected 2")),
        conv("1x3x5x5xf32", "4x3x0x3xf32", .fails("kernel extent is 0")),
        conv("3x5x5xf32", "4x3x3x3xf32", .fails("'input'")),
        RuleCase(.conv2d, ["1x3x5x5xf32", "4x3x3x3xf32", "2xui32", "2xui32", "ui32"], .needs([2, 3, 4])),
        RuleCase(.conv2d, ["1x3x5x5xf32", "4x3x3x3xf16", "2xui32", "2xui32", "ui32"], .fails("element type f16")),
        transposed("1x4x4x4xf32", "4x2x2x2xf32", stride: [2, 2], .types(["1x2x8x8xf32"])),
        transposed(
            "1x1x3x3xf32", "1x1x3x3xf32", stride: [2, 2], padding: [1, 1], dilation: [2, 2], .types(["1x1x7x7xf32"])),
        transposed(
            "1x1x3x3xf32", "1x1x3x3xf32", stride: [2, 2], padding: [1, 1], dilation: [2, 2], extra: [1, 1],
            .types(["1x1x8x8xf32"])),
        transposed("1x4x3x3xf32", "4x3x1x1xf32", groups: 2, .types(["1x6x3x3xf32"])),
        transposed("1x4x3x3xf32", "3x3x1x1xf32", .fails("3 input channels, expected 4")),
        transposed("1x3x3x3xf32", "3x3x1x1xf32", groups: 2, .fails("don't divide into 2 groups")),
        transposed("1x1x3x3xf32", "1x1x1x1xf32", padding: [2, 0], .fails("leaves nothing")),
        transposed("1x1x0x3xf32", "1x1x1x1xf32", .fails("0 elements")),
        RuleCase(
            .convTranspose3d, ["1x1x2x2x2xf32", "1x1x2x2x2xf32", "3xui32", "3xui32", "3xui32", "3xui32", "ui32"],
            .types(["1x1x3x3x3xf32"]),
            contents: [2: [1, 1, 1], 3: [0, 0, 0], 4: [1, 1, 1], 5: [0, 0, 0], 6: [1]]),
    ]

    @Test("convolutions", arguments: convolutionCases)
    func convolutions(rule: RuleCase) throws { try rule.check() }

    private static func maxPool(
        _ kernel: Double, _ stride: Double, ceiling: Bool, _ expected: RuleCase.Expected
    ) -> RuleCase {
        RuleCase(
            .maxPool2d, ["1x1x5x5xf32", "2xui32", "2xui32", "2xui32", "i1"], expected,
            contents: [1: [kernel, kernel], 2: [stride, stride], 3: [1, 1], 4: [ceiling ? 1 : 0]])
    }

    private static let poolCases: [RuleCase] = [
        maxPool(2, 2, ceiling: false, .types(["1x1x2x2xf32"])),
        maxPool(2, 2, ceiling: true, .types(["1x1x3x3xf32"])),
        maxPool(3, 1, ceiling: true, .types(["1x1x3x3xf32"])),
        maxPool(6, 1, ceiling: true, .fails("covers 6")),
        maxPool(2, 0, ceiling: true, .fails("stride is 0")),
        RuleCase(.maxPool2d, ["1x1x5x5xf32", "2xui32", "2xui32", "2xui32", "i1"], .needs([1, 2, 3, 4])),
        RuleCase(
            .maxPool3d, ["1x1x4x4x4xf32", "3xui32", "3xui32", "3xui32", "i1"], .types(["1x1x3x3x3xf32"]),
            contents: [1: [2, 2, 2], 2: [1, 1, 1], 3: [1, 1, 1], 4: [0]]),
        RuleCase(
            .sumPool2d, ["1x2x5x5xsi32", "2xui32", "2xui32", "2xui32"], .types(["1x2x2x1xsi32"]),
            contents: [1: [2, 3], 2: [2, 2], 3: [1, 2]]),
        RuleCase(
            .sumPool3d, ["1x1x4x4x4xf32", "3xui32", "3xui32", "3xui32"], .types(["1x1x2x2x2xf32"]),
            contents: [1: [2, 2, 2], 2: [2, 2, 2], 3: [1, 1, 1]]),
        RuleCase(
            .sumPool2d, ["1x2x5x5xf32", "2xui32", "2xui32", "2xui32"], .needs([2]), contents: [1: [2, 2], 3: [1, 1]]),
    ]

    @Test("pools", arguments: poolCases)
    func pools(rule: RuleCase) throws { try rule.check() }

    private static let linear = OpAttributes.interpolation(.linear)

    private static let interpolationCases: [RuleCase] = [
        RuleCase(
            .interpolate, ["4x4xf32", "2xsi32", "2xf32", "2xf32"], .types(["8x2xf32"]),
            contents: [1: [8, 2], 2: [2, 0.5], 3: [0, 0]], attributes: linear),
        RuleCase(
            .interpolate, ["4x4xf32", "2xsi32", "2xf32", "2xf32"], .fails("scale is 0.0"),
            contents: [1: [8, 2], 2: [2, 0]], attributes: linear),
        RuleCase(
            .interpolate, ["4x4xf32", "2xsi32", "2xf32", "2xf32"], .fails("output has -1"), contents: [1: [8, -1]],
            attributes: linear),
        RuleCase(
            .interpolate, ["0x4xf32", "2xsi32", "2xf32", "2xf32"], .fails("empty input"), contents: [1: [8, 2]],
            attributes: linear),
        RuleCase(.interpolate, ["4x4xf32", "1xsi32", "2xf32", "2xf32"], .fails("expected 2"), attributes: linear),
        RuleCase(.interpolate, ["4x4xf32", "2xsi32", "2xf32", "2xf32"], .needs([1]), attributes: linear),
        RuleCase(.interpolate, ["4x4xf32", "2xsi32", "2xf32", "2xf32"], .fails("no interpolation mode")),
        RuleCase(.interpolateCoordinates, ["4x4xf32", "5x2xf32"], .types(["5xf32"]), attributes: linear),
        RuleCase(.interpolateCoordinates, ["4x4xf32", "5x3xf32"], .fails("expected [?, 2]"), attributes: linear),
        RuleCase(.interpolateCoordinates, ["0x4xf32", "5x2xf32"], .fails("no value at 5"), attributes: linear),
        RuleCase(.interpolateCoordinates, ["0x4xf32", "0x2xf32"], .types(["0xf32"]), attributes: linear),
    ]

    @Test("interpolation", arguments: interpolationCases)
    func interpolation(rule: RuleCase) throws { try rule.check() }
}
