import Testing

@testable import EngineGraph

@Suite("Shape rules: shapes and movement")
struct ShapeOpRuleTests {
    private static let shapesCases: [RuleCase] = [
        RuleCase(.getShape, ["2x3xf32"], .types(["2xui32"])),
        RuleCase(.getShape, ["f32"], .types(["0xui16"])),
        RuleCase(.getShape, ["2xf32"], .fails("expected integer"), declared: ["1xf32"]),
        RuleCase(.broadcastShapes, ["2xui32", "3xui32"], .types(["3xui32"])),
        RuleCase(.broadcastShapes, ["0xui32", "0xui32"], .types(["0xui32"])),
        RuleCase(
            .broadcastShapes, ["1xui32", "1xui32"], .fails("don't broadcast"), contents: [0: [2], 1: [3]]),
        RuleCase(.reshape, ["2x3xf32", "2xsi32"], .types(["3x2xf32"]), contents: [1: [3, -1]]),
        RuleCase(.reshape, ["1xf32", "0xsi32"], .types(["f32"]), contents: [1: []]),
        RuleCase(.reshape, ["0x4xf32", "2xsi32"], .types(["0x5xf32"]), contents: [1: [0, 5]]),
        RuleCase(.reshape, ["2x3xf32", "1xsi32"], .fails("don't fill"), contents: [1: [5]]),
        RuleCase(.reshape, ["2x3xf32", "2xsi32"], .fails("more than one −1"), contents: [1: [-1, -1]]),
        RuleCase(.reshape, ["2x3xf32", "2xsi32"], .fails("negative extent"), contents: [1: [-2, -3]]),
        RuleCase(.reshape, ["2x3xf32", "2xsi32"], .fails("don't fill"), contents: [1: [4, -1]]),
        RuleCase(.reshape, ["0xf32", "2xsi32"], .fails("don't fill"), contents: [1: [0, -1]]),
        RuleCase(.reshape, ["2x3xf32", "2xsi32"], .needs([1])),
        RuleCase(.reshape, ["2x3xf32", "2xf32"], .fails("'new_shape'")),
        RuleCase(.reshape, ["2x3xf32", "2xsi32"], .fails("1 known elements"), contents: [1: [6]]),
        RuleCase(
            .reshape, ["1xf32", "2xsi64"], .fails("too large"),
            contents: [1: [4_611_686_018_427_387_904, 4_611_686_018_427_387_904]]),
        RuleCase(.expandDims, ["2x3x4xf32", "2xsi32"], .types(["2x1x3x1x4xf32"]), contents: [1: [3, -4]]),
        RuleCase(.expandDims, ["f32", "2xsi32"], .types(["1x1xf32"]), contents: [1: [0, 1]]),
        RuleCase(.expandDims, ["2xf32", "1xsi32"], .fails("axis 2 is out of range"), contents: [1: [2]]),
        RuleCase(.expandDims, ["2xf32", "2xsi32"], .fails("given twice"), contents: [1: [0, -3]]),
        RuleCase(
            .expandDims, ["1x1x1x1x1x1x1x1xf32", "1xsi32"], .fails("rank 9"), declared: ["?x?xf32"],
            contents: [1: [0]]),
        RuleCase(.shrinkDims, ["1x3x1xf32", "2xsi32"], .types(["3xf32"]), contents: [1: [0, -1]]),
        RuleCase(.shrinkDims, ["2x3xf32", "1xsi32"], .fails("has 2 elements, expected 1"), contents: [1: [0]]),
        RuleCase(.shrinkDims, ["1x3xf32", "1xsi32"], .needs([1])),
        RuleCase(.broadcastTo, ["3x1xf32", "3xui32"], .types(["2x3x4xf32"]), contents: [1: [2, 3, 4]]),
        RuleCase(.broadcastTo, ["f32", "1xui32"], .types(["0xf32"]), contents: [1: [0]]),
        RuleCase(.broadcastTo, ["2xf32", "1xui32"], .fails("doesn't broadcast"), contents: [1: [3]]),
        RuleCase(.broadcastTo, ["2x2xf32", "1xui32"], .fails("doesn't broadcast"), contents: [1: [2]]),
        RuleCase(.broadcastTo, ["1xf32", "1xsi32"], .fails("negative extent"), contents: [1: [-1]]),
        RuleCase(
            .broadcastInDims, ["2x1x4xf32", "1xui32", "1xsi32"], .types(["2x3x4xf32"]),
            contents: [1: [3], 2: [-2]]),
        RuleCase(
            .broadcastInDims, ["2x2xf32", "0xui32", "0xsi32"], .types(["2x2xf32"]), contents: [1: [], 2: []]),
        RuleCase(
            .broadcastInDims, ["2xf32", "1xui32", "1xsi32"], .fails("can't be broadcast"),
            contents: [1: [3], 2: [0]]),
        RuleCase(
            .broadcastInDims, ["1x1xf32", "1xui32", "2xsi32"], .fails("1 sizes for 2 axes"),
            contents: [1: [3], 2: [0, 1]]),
        RuleCase(.broadcastInDims, ["1xf32", "1xui32", "1xsi32"], .needs([1]), contents: [2: [0]]),
        RuleCase(.tile, ["2x3xf32", "1xui32"], .types(["2x6xf32"]), contents: [1: [2]]),
        RuleCase(.tile, ["2x3xf32", "2xui32"], .types(["6x3xf32"]), contents: [1: [3, 1]]),
        RuleCase(.tile, ["3xf32", "2xui32"], .fails("2 repetitions"), contents: [1: [1, 1]]),
        RuleCase(.tile, ["3xf32", "1xui32"], .fails("repeated 0 times"), contents: [1: [0]]),
        RuleCase(
            .tile, ["4xf32", "1xsi64"], .fails("too large"), contents: [1: [4_611_686_018_427_387_904]]),
    ]

    @Test("views, broadcasts, tiles", arguments: shapesCases)
    func shapes(rule: RuleCase) throws { try rule.check() }

    private static let rangesCases: [RuleCase] = [
        RuleCase(.range, ["si32", "si32", "si32"], .types(["10xsi32"]), contents: [0: [0], 1: [20], 2: [2]]),
        RuleCase(.range, ["si32", "si32", "si32"], .types(["10xsi32"]), contents: [0: [10], 1: [0], 2: [-1]]),
        RuleCase(.range, ["si32", "si32", "si32"], .types(["0xsi32"]), contents: [0: [5], 1: [5], 2: [1]]),
        RuleCase(.range, ["si32", "si32", "si32"], .types(["0xsi32"]), contents: [0: [0], 1: [5], 2: [-1]]),
        RuleCase(.range, ["si32", "si32", "si32"], .fails("step is 0"), contents: [0: [0], 1: [5], 2: [0]]),
        RuleCase(.range, ["si32", "si32", "si32"], .needs([1]), contents: [0: [0], 2: [1]]),
        RuleCase(.range, ["si32", "si32", "si64"], .fails("element type si64")),
        RuleCase(.range, ["f32", "f32", "f32"], .types(["10xf32"]), contents: [0: [0], 1: [1], 2: [0.1]]),
        // The step is 0.1 in single precision; 0.3 / 0.1 is 3 there and more than 3 in double.
        RuleCase(
            .range, ["f32", "f32", "f32"], .types(["3xf32"]), declared: ["?xf32"],
            contents: [0: [0], 1: [Double(Float(0.3))], 2: [Double(Float(0.1))]]),
        RuleCase(
            .range, ["f32", "f32", "f32"], .types(["4xf32"]), declared: ["4xf32"],
            contents: [0: [0], 1: [0.300000012], 2: [0.1]]),
        RuleCase(.range, ["f32", "f32", "f32"], .fails("step is 0"), contents: [0: [0], 1: [1], 2: [0]]),
        RuleCase(.range, ["f32", "f32", "f32"], .fails("from 0.0 to nan"), contents: [0: [0], 1: [.nan], 2: [1]]),
        RuleCase(.range, ["f64", "f64", "f64"], .fails("too long"), contents: [0: [0], 1: [1e300], 2: [1e-300]]),
        RuleCase(.range, ["f32", "f32", "f32"], .needs([0, 1, 2])),
    ]

    @Test("ranges", arguments: rangesCases)
    func ranges(rule: RuleCase) throws { try rule.check() }

    @Test("a constant's bytes cover its type")
    func constants() throws {
        let four = OpAttributes.constant(Constant(bytes: [1, 2, 3, 4]))
        try RuleCase(.constant, [], .types(["4xui8"]), attributes: four).check()
        try RuleCase(.constant, [], .types(["f32"]), attributes: four).check()
        try RuleCase(.constant, [], .types(["8xui4"]), attributes: four).check()
        try RuleCase(.constant, [], .fails("4 bytes, expected 5"), declared: ["5xui8"], attributes: four).check()
        try RuleCase(.constant, [], .fails("static"), declared: ["?xui8"], attributes: four).check()
        try RuleCase(.constant, [], .fails("no elements"), declared: ["4xui8"]).check()
        let splat = OpAttributes.constant(Constant(bytes: [7], isSplat: true))
        try RuleCase(.constant, [], .types(["1000x1000xui8"]), attributes: splat).check()
        try RuleCase(.constant, [], .fails("1 bytes, expected 4"), declared: ["2xf32"], attributes: splat).check()
    }
}
