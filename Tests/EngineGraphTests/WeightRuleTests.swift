import Testing

@testable import EngineGraph

@Suite("Shape rules: weights, images, states, control flow")
struct WeightRuleTests {
    private static let weightCases: [RuleCase] = [
        RuleCase(.blockwiseShiftScale, ["12x8xui4", "3x2xf16", "3x2xui4", "3x2xf16"], .types(["12x8xf16"])),
        RuleCase(.blockwiseShiftScale, ["4xsi8", "1xf16", "1xsi8", "1xf32"], .types(["4xf32"])),
        RuleCase(.blockwiseShiftScale, ["4xsi8", "3xf16", "3xsi8", "3xf16"], .fails("doesn't divide into 3")),
        RuleCase(.blockwiseShiftScale, ["4xsi8", "0xf16", "0xsi8", "0xf16"], .fails("into 0 blocks")),
        RuleCase(.blockwiseShiftScale, ["4xsi8", "2x1xf16", "2x1xsi8", "2x1xf16"], .fails("rank 1, the scale 2")),
        RuleCase(.blockwiseShiftScale, ["4xsi8", "2xf16", "1xsi8", "2xf16"], .fails("operand 2")),
        RuleCase(.blockwiseShiftScale, ["4xsi8", "2xf16", "2xui8", "2xf16"], .fails("element type ui8")),
        RuleCase(.blockwiseShiftScale, ["4xsi8", "2xf16", "2xsi8"], .fails("3 operands, expected 4")),
        RuleCase(.lutToDense, ["6x2xui2", "2x1x4x1xf16", "si16"], .types(["6x2xf16"]), contents: [2: [0]]),
        RuleCase(.lutToDense, ["6x2xui2", "2x1x4x1xf16", "si16"], .types(["6x2xf16"])),
        RuleCase(.lutToDense, ["2x2x2xui1", "1x1x1x2x3xf32", "si16"], .types(["2x6x2xf32"]), contents: [2: [1]]),
        RuleCase(.lutToDense, ["2x2x2xui1", "1x1x1x2x3xf32", "si16"], .needs([2])),
        RuleCase(.lutToDense, ["6x2xui2", "2x1x8x1xf16", "si16"], .fails("8 entries for 2-bit")),
        RuleCase(.lutToDense, ["6x2xui2", "4x1x4x1xf16", "si16"], .fails("doesn't divide into 4")),
        RuleCase(.lutToDense, ["6x2xui2", "1x4x1xf16", "si16"], .fails("rank 3, expected 4")),
        RuleCase(.lutToDense, ["6x2xui2", "2x1x4x1xf16", "si16"], .fails("axis 2"), contents: [2: [2]]),
        RuleCase(.lutToDense, ["6x2xui64", "2x1x4x1xf16", "si16"], .fails("64-bit")),
        RuleCase(.lutToDense, ["6x2xsi2", "2x1x4x1xf16", "si16"], .fails("'indices'")),
        RuleCase(
            .lutToSparseWithBitmask, ["sparse 4x6xui1", "1x1x2x2xf16", "si16"], .types(["sparse 8x6xf16"]),
            contents: [2: [0]]),
        RuleCase(.lutToSparseWithBitmask, ["4x6xui1", "1x1x2x2xf16", "si16"], .fails("bitmask tensor")),
        RuleCase(.buildSparseWithBitmask, ["3xsi8", "2x3xui1"], .types(["sparse 2x3xsi8"])),
        RuleCase(.buildSparseWithBitmask, ["3xsi8", "2x3xui1"], .fails("declared as"), declared: ["2x3xsi8"]),
        RuleCase(.buildSparseWithBitmask, ["7xsi8", "2x3xui1"], .fails("7 values for a mask of 6")),
        RuleCase(.sparseWithBitmaskToDense, ["sparse 2x3xsi8"], .types(["2x3xsi8"])),
        RuleCase(.sparseWithBitmaskToDense, ["2x3xsi8"], .fails("bitmask tensor")),
        RuleCase(
            .sparseWithBitmaskBlockwiseShiftScale, ["sparse 4x6xsi8", "2x1xf16", "2x1xsi8"],
            .types(["sparse 4x6xf16"])),
        RuleCase(
            .sparseWithBitmaskBlockwiseShiftScale, ["sparse 4x6xsi8", "3x1xf16"], .fails("doesn't divide into 3")),
    ]

    @Test("compressed weights", arguments: weightCases)
    func weights(rule: RuleCase) throws { try rule.check() }

    private static let quantizationCases: [RuleCase] = [
        RuleCase(.quantize, ["2x3xf32", "f32", "si8", "f32", "2xsi32"], .types(["2x3xsi8"]), contents: [4: [0, 1]]),
        RuleCase(.quantize, ["2x3xf32", "3xf32", "3xsi8", "3xf32", "si32"], .types(["2x3xsi8"]), contents: [4: [1]]),
        RuleCase(.quantize, ["2x3xf32", "1xf32", "1xsi8", "1xf32", "si32"], .types(["2x3xsi8"]), contents: [4: [1]]),
        RuleCase(
            .quantize, ["2x3xf32", "2xf32", "2xsi8", "2xf32", "si32"], .fails("2 scales for dimension 1"),
            contents: [4: [1]]),
        RuleCase(.quantize, ["2x3xf32", "3xf32", "si8", "3xf32", "si32"], .fails("operand 2")),
        RuleCase(.quantize, ["2x3xf32", "f32", "si8", "f16", "si32"], .fails("element type f16")),
        RuleCase(.quantize, ["3xf32", "3xf32", "3xsi8", "3xf32", "1xsi32"], .fails("takes a scalar scale")),
        RuleCase(.quantize, ["2x3xf32", "f32", "si8", "f32", "si32"], .fails("axis 2"), contents: [4: [2]]),
        RuleCase(.dequantize, ["2x3xsi8", "f16", "si8", "f32", "si32"], .types(["2x3xf32"]), contents: [4: [0]]),
        RuleCase(.dequantize, ["2x3xsi8", "2xf32", "2xsi8", "2xf32", "si32"], .types(["2x3xf32"]), contents: [4: [0]]),
        RuleCase(.dequantize, ["2x3xsi8", "2xf32", "2xui8", "2xf32", "si32"], .fails("element type ui8")),
        RuleCase(
            .symmetricQuantizationStatistics, ["2x3xf32", "2xf32", "si32"], .types(["3xf32"]), contents: [2: [1]]),
        RuleCase(.symmetricQuantizationStatistics, ["2x3xf32", "3xf32", "si32"], .fails("expected [2]")),
        RuleCase(.symmetricQuantizationStatistics, ["2x3xf32", "2xf32", "si32"], .needs([2])),
        RuleCase(
            .asymmetricQuantizationStatistics, ["2x3xf32", "2xsi8", "si32"], .types(["3xf32", "3xsi8"]),
            contents: [1: [-128, 127], 2: [1]]),
        RuleCase(
            .asymmetricQuantizationStatistics, ["2x3xf32", "2xsi8", "si32"], .fails("range is 5.0"),
            contents: [1: [5, 5], 2: [1]]),
    ]

    @Test("quantization", arguments: quantizationCases)
    func quantization(rule: RuleCase) throws { try rule.check() }

    private static let otherCases: [RuleCase] = [
        RuleCase(.imageToTensor, ["image 7x5 BGRA"], .types(["7x5x4xui8"])),
        RuleCase(.imageToTensor, ["image 7x5 32"], .types(["7x5x4xui8"])),
        RuleCase(.imageToTensor, ["image 7x5 24"], .types(["7x5x3xui8"])),
        RuleCase(.imageToTensor, ["image 7x5 y420"], .types(["47xui8"])),
        RuleCase(.imageToTensor, ["image 7x5 L008"], .types(["35xui8"])),
        RuleCase(.imageToTensor, ["image 4611686018427387904x4 BGRA"], .fails("too large")),
        RuleCase(.imageToTensor, ["7x5xui8"], .fails("an image")),
        RuleCase(.tensorToImage, ["7x5x4xui8"], .types(["image 7x5 32"])),
        RuleCase(.tensorToImage, ["7x5x3xui8"], .fails("takes shape [7, 5, 4]"), declared: ["image 7x5 BGRA"]),
        RuleCase(.tensorToImage, ["7x5x4xui8"], .fails("expected an image"), declared: ["7x5x4xui8"]),
        RuleCase(.createToken, [], .types(["token"])),
        RuleCase(.joinToken, ["token", "token"], .types(["token"])),
        RuleCase(.joinToken, ["token", "2xf32"], .fails("operand 1")),
        RuleCase(.readHandle, ["handle 2xf32", "token"], .types(["2xf32", "token"])),
        RuleCase(.readHandle, ["handle 2xf32", "token"], .fails("declared as"), declared: ["3xf32", "token"]),
        RuleCase(.writeHandle, ["handle 2xf32", "2xf32", "token"], .types(["token"])),
        RuleCase(.writeHandle, ["handle 2xf32", "3xf32", "token"], .fails("the state holds")),
        RuleCase(.loadState, ["handle 2xf32"], .types(["2xf32"])),
        RuleCase(.storeState, ["handle 2xf32", "2xf32"], .types([])),
        RuleCase(.storeState, ["handle 2xf32", "2xf16"], .fails("the state holds"), declared: []),
        RuleCase(.if, ["i1"], .types(["2xf32"])),
        RuleCase(.if, ["i1"], .needs([]), declared: ["?xf32"]),
        RuleCase(.if, ["1xi1"], .fails("'condition'")),
        RuleCase(.while, ["2xf32", "token"], .types(["2xf32", "token"])),
        RuleCase(.invoke, ["2xf32"], .needs([]), declared: ["?xf32"], attributes: .callee("f")),
        RuleCase(.invoke, ["2xf32"], .fails("no callee")),
        RuleCase(.named, ["2xf32"], .types(["7xf32"]), attributes: .name("x_v1")),
        RuleCase(
            .metalKernel, ["8xf32", "3xui32", "3xui32", "2xui32"], .types(["4x2xf32"]), contents: [3: [4, 2]],
            attributes: .kernel(name: "k", source: "")),
        RuleCase(
            .metalKernel, ["8xf32", "3xui32", "3xui32", "2xui32"], .needs([3]), declared: ["?x?xf32"],
            attributes: .kernel(name: "k", source: "")),
        RuleCase(.attention, ["2x4xf32", "2x4xf32", "2x4xf32"], .types(["2x4xf32"])),
    ]

    @Test("images, states, control flow", arguments: otherCases)
    func others(rule: RuleCase) throws { try rule.check() }
}
