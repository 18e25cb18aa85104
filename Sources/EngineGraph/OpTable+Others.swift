// Rows of compressed weights, images, control flow, states, and what the compiler makes.

extension OpTable {
    private static let quantizationVector: ClosedRange<Int> = 0...1

    static let weightRows: [Row] = [
        (
            .blockwiseShiftScale,
            OpInfo(
                [
                    .tensor("data", .real), .tensor("scale", .real), .tensor("offset1", .real),
                    .tensor("offset2", .real),
                ], .compressedWeights, "scale · (data − offset1) + offset2 by blocks.")
        ),
        (
            .lutToDense,
            OpInfo(
                [.tensor("indices", .unsignedIntegers), .tensor("lut", .numbers), .scalarParameter("axis")],
                .compressedWeights, "Entries of a palette by index.")
        ),
        (
            .lutToSparseWithBitmask,
            OpInfo(
                [.other("indices", .sparse(.unsignedIntegers)), .tensor("lut", .numbers), .scalarParameter("axis")],
                .compressedWeights, "Entries of a palette by sparse index.")
        ),
        (
            .buildSparseWithBitmask,
            OpInfo(
                [
                    .tensor("values", .any, rank: 1...1),
                    .tensor("bitmask", ElementSet.uint1.union(.bool).union(.uint8)),
                ], .compressedWeights, "A sparse tensor from its values and their places.")
        ),
        (
            .sparseWithBitmaskToDense,
            OpInfo([.other("input", .sparse(.any))], .compressedWeights, "Zeros filled in.")
        ),
        (
            .sparseWithBitmaskBlockwiseShiftScale,
            OpInfo(
                [.other("data", .sparse(.real)), .tensor("scale", .real)], variadic: .tensor("offset", .real),
                .compressedWeights, "scale · (data − offset) by blocks, on the stored values.")
        ),
        (
            .quantize,
            OpInfo(
                [
                    .tensor("input", .real), .tensor("scale", .real, rank: quantizationVector),
                    .tensor("offset1", .real, rank: quantizationVector),
                    .tensor("offset2", .real, rank: quantizationVector), .parameter("axis", rank: 0...1),
                ], .named, "round((input − offset2) / scale) + offset1, clipped.")
        ),
        (
            .dequantize,
            OpInfo(
                [
                    .tensor("input", .real), .tensor("scale", .real, rank: quantizationVector),
                    .tensor("offset1", .real, rank: quantizationVector),
                    .tensor("offset2", .real, rank: quantizationVector), .parameter("axis", rank: 0...1),
                ], .named, "(input − offset1) · scale + offset2.")
        ),
        (
            .symmetricQuantizationStatistics,
            OpInfo(
                [.tensor("input", .real), .tensor("range", .real, rank: 1...1), .scalarParameter("axis")], .named,
                "The scale of each channel, around zero.")
        ),
        (
            .asymmetricQuantizationStatistics,
            OpInfo(
                [.tensor("input", .real), .tensor("range", .real, rank: 1...1), .scalarParameter("axis")], results: 2,
                .named, "The scale and zero point of each channel.")
        ),
    ]

    static let controlRows: [Row] = [
        (.imageToTensor, OpInfo([.other("source", .image)], "An image's bytes.")),
        (.tensorToImage, OpInfo([.tensor("source", .uint8)], "Bytes as an image.")),
        (
            .if,
            OpInfo(
                [.parameter("condition", rank: 0...0, .bool)], results: nil, .controlFlow, regions: 1...2,
                "One region or the other.")
        ),
        (
            .while,
            OpInfo(
                [], variadic: .other("inits", .any), results: nil, .controlFlow, regions: 2...2,
                "The second region while the first one's condition holds.")
        ),
        (
            .invoke,
            OpInfo([], variadic: .other("operands", .any), results: nil, .controlFlow, "A graph, called.")
        ),
        (
            .delegate,
            OpInfo(
                [], variadic: .other("inputs", .any), results: nil, .controlFlow,
                "A part that another engine compiled.")
        ),
        (
            .isolatedGroup,
            OpInfo(
                [], variadic: .other("inputs", .any), results: nil, .controlFlow, bodies: 1...1,
                "A body for a named delegate.")
        ),
        (.createToken, OpInfo([], .state, "A token that waits for nothing.")),
        (
            .joinToken,
            OpInfo([.other("in_token", .token)], variadic: .other("rest_tokens", .token), .state, "Waits for all.")
        ),
        (
            .readHandle,
            OpInfo(
                [.other("handle", .handle), .other("in_token", .token)], results: 2, .state,
                "A state's value and a token after it.")
        ),
        (
            .writeHandle,
            OpInfo(
                [.other("handle", .handle), .other("data", .tensor(.any)), .other("in_token", .token)], .state,
                "A state's value, replaced.")
        ),
        (.copyWithConstraints, OpInfo([.other("input", .any)], .view, "The input, placed for hardware.")),
        (.copyDiscardingConstraints, OpInfo([.other("input", .any)], .view, "The input, placed anywhere.")),
        (
            .metalKernel,
            OpInfo([], variadic: .tensor("operands", .any), minimumVariadic: 3, results: nil, "Metal source text.")
        ),
        (
            .named,
            OpInfo(
                [], variadic: .other("operands", .any), results: nil, .named, "An op known by its decomposition only.")
        ),
    ]

    private static func fused(_ least: Int, _ category: OpCategory, _ summary: String) -> OpInfo {
        OpInfo(
            [], variadic: .tensor("operands", .any), minimumVariadic: least, category.union(.compilerMade), summary)
    }

    static let compilerRows: [Row] = [
        (.loadState, OpInfo([.other("state", .handle)], [.state, .compilerMade], "A state's value.")),
        (
            .storeState,
            OpInfo(
                [.other("state", .handle), .other("value", .tensor(.any))], results: 0, [.state, .compilerMade],
                "A state's value, replaced.")
        ),
        (.copy, OpInfo([.tensor("input", .any)], [.movement, .compilerMade], "A copy.")),
        (.elementwise, fused(1, .broadcasting, "A chain of elementwise ops.")),
        (.matmul, fused(2, .heavy, "A matrix product with what follows it.")),
        (.convolution, fused(2, .heavy, "A convolution with what follows it.")),
        (.layerNorm, fused(1, [], "Normalized over trailing dimensions.")),
        (.rmsNorm, fused(1, [], "Normalized by the root mean square.")),
        (.groupNorm, fused(1, [], "Normalized over groups of channels.")),
        (.rotary, fused(3, [], "The halves of the last dimension, turned by an angle.")),
        (.attention, fused(3, .heavy, "Attention over keys and values.")),
    ]
}
