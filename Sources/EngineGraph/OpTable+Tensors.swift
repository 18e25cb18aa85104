// Rows of the ops on whole tensors: shapes, movement, reductions, products, windows.

extension OpTable {
    static let shapeRows: [Row] = [
        (.constant, OpInfo([], "Stored elements.")),
        (.getShape, OpInfo([.tensor("input", .any)], .shapeQuery, "The input's extents.")),
        (
            .broadcastShapes,
            OpInfo(
                [.parameter("shape_1"), .parameter("shape_2")], .shapeQuery, "The shape that two shapes broadcast to.")
        ),
        (
            .reshape,
            OpInfo([.tensor("input", .any), .parameter("new_shape")], .view, "The same elements in another shape.")
        ),
        (.expandDims, OpInfo([.tensor("input", .any), .parameter("axes")], .view, "Unit dimensions inserted.")),
        (.shrinkDims, OpInfo([.tensor("input", .any), .parameter("axes")], .view, "Unit dimensions removed.")),
        (
            .broadcastTo,
            OpInfo([.tensor("input", .any), .parameter("shape")], .movement, "Repeated to a shape.")
        ),
        (
            .broadcastInDims,
            OpInfo(
                [.tensor("input", .any), .parameter("dim_sizes"), .parameter("axes")], .movement,
                "Repeated along some axes.")
        ),
        (
            .range,
            OpInfo(
                [
                    .scalarParameter("start", .real), .scalarParameter("stop", .real), .scalarParameter("step", .real),
                ], "start, start + step, … before stop.")
        ),
    ]

    static let movementRows: [Row] = [
        (
            .transpose,
            OpInfo([.tensor("input", .any), .parameter("permutation")], .movement, "Dimensions reordered.")
        ),
        (.reverse, OpInfo([.tensor("input", .any), .parameter("dims")], .movement, "Axes mirrored.")),
        (
            .slice,
            OpInfo(
                [
                    .tensor("input", .any), .parameter("start_indices"), .parameter("end_indices"),
                    .parameter("strides"),
                ], .movement, "A strided box of the input.")
        ),
        (
            .sliceUpdate,
            OpInfo(
                [
                    .tensor("input", .any), .parameter("start_indices"), .parameter("end_indices"),
                    .parameter("strides"), .tensor("update", .any),
                ], .movement, "The input with a strided box replaced.")
        ),
        (
            .concat,
            OpInfo(
                [.scalarParameter("dimension")], variadic: .tensor("inputs", .any), minimumVariadic: 1, .movement,
                "Tensors joined along a dimension.")
        ),
        (
            .split,
            OpInfo(
                [
                    .tensor("input", .any), .parameter("split_size_or_sections", rank: 0...1), .scalarParameter("dim"),
                ], results: nil, .movement, "The input cut along a dimension.")
        ),
        (
            .pad,
            OpInfo(
                [.tensor("input", .any), .parameter("padding"), .tensor("padding_value", .any, rank: 0...1)],
                .movement, "Elements added around the input.")
        ),
        (
            .gatherAlongAxis,
            OpInfo(
                [.tensor("input", .any), .tensor("indices", .integers), .scalarParameter("axis")], .movement,
                "Elements picked along an axis.")
        ),
        (
            .gatherND,
            OpInfo([.tensor("input", .any), .tensor("indices", .integers)], .movement, "Slices picked by index.")
        ),
        (
            .scatterAlongAxis,
            OpInfo(
                [
                    .tensor("input", .any), .tensor("indices", .integers), .tensor("updates", .any),
                    .scalarParameter("axis"),
                ], .movement, "The input with elements updated along an axis.")
        ),
        (
            .scatterND,
            OpInfo(
                [.tensor("input", .any), .tensor("indices", .integers), .tensor("updates", .any)], .movement,
                bodies: 1...1, "The input with slices updated by index.")
        ),
        (
            .nonZero,
            OpInfo([.tensor("input", .any)], "The indices of the elements that are not zero.")
        ),
        (
            .tile,
            OpInfo(
                [.tensor("input", .any), .parameter("dims")], [.movement, .named], "Repeated along each dimension.")
        ),
    ]

    private static func reduction(_ elements: ElementSet, _ summary: String) -> OpInfo {
        OpInfo([.tensor("input", elements), .parameter("axes", rank: 0...1)], [.reduction, .named], summary)
    }

    private static let sortOperands: [OperandInfo] = [
        .tensor("input", .realOrBool), .scalarParameter("dim"), .scalarParameter("descending", .integersOrBool),
        .scalarParameter("stable", .integersOrBool),
    ]

    static let reductionRows: [Row] = [
        (
            .reduce,
            OpInfo(
                [.tensor("input", .any), .parameter("axes", rank: 0...1), .tensor("init_value", .any, rank: 0...0)],
                .reduction, bodies: 1...1, "Folded along axes by the body.")
        ),
        (
            .reduceIndex,
            OpInfo(
                [
                    .tensor("input", .realOrBool), .scalarParameter("axis"),
                    .tensor("init_value", .realOrBool, rank: 0...0), .tensor("init_index", .integers, rank: 0...0),
                ], .reduction, bodies: 1...1, "The index along an axis of the element that the body prefers.")
        ),
        (
            .scan,
            OpInfo(
                [
                    .tensor("input", .any), .scalarParameter("axis"), .scalarParameter("reverse", .integersOrBool),
                ], "Inclusive prefixes along an axis.")
        ),
        (.argsort, OpInfo(sortOperands, "The indices that sort the input along an axis.")),
        (.sort, OpInfo(sortOperands, .named, "Sorted along an axis.")),
        (
            .argmax,
            OpInfo(
                [.tensor("input", .realOrBool), .scalarParameter("axis")], [.reduction, .named],
                "The index of the first largest element along an axis.")
        ),
        (
            .softmax,
            OpInfo([.tensor("input", .floats), .scalarParameter("axis")], .named, "exp, normalized along an axis.")
        ),
        (.all, reduction(.bool, "Whether all hold, along axes.")),
        (.any, reduction(.bool, "Whether any holds, along axes.")),
        (.reduceMax, reduction(.realOrBool, "The largest along axes.")),
        (.reduceMean, reduction(.floatsOrComplex, "The mean along axes.")),
        (.reduceMin, reduction(.realOrBool, "The smallest along axes.")),
        (.reduceProduct, reduction(.numbers, "The product along axes.")),
        (.reduceSum, reduction(.numbers, "The sum along axes.")),
    ]

    static let productRows: [Row] = [
        (
            .batchMatmul,
            OpInfo(
                [.tensor("x", .numbers, rank: 2...8), .tensor("y", .numbers, rank: 2...8)], .heavy,
                "Matrix products over equal batches.")
        ),
        (
            .broadcastingBatchMatmul,
            OpInfo(
                [.tensor("x", .numbers, rank: 2...8), .tensor("y", .numbers, rank: 2...8)],
                [.heavy, .broadcasting, .named], "Matrix products over broadcast batches.")
        ),
    ]

    private static func convolution(_ spatial: Int) -> OpInfo {
        let rank = spatial + 2
        return OpInfo(
            [
                .tensor("input", .numbers, rank: rank...rank), .tensor("weight", .numbers, rank: rank...rank),
                .parameter("stride"), .parameter("dilation"), .scalarParameter("groups"),
            ], .heavy, "Convolution, without padding.")
    }

    private static func transposedConvolution(_ spatial: Int) -> OpInfo {
        let rank = spatial + 2
        return OpInfo(
            [
                .tensor("input", .numbers, rank: rank...rank), .tensor("weight", .numbers, rank: rank...rank),
                .parameter("stride"), .parameter("padding"), .parameter("dilation"), .parameter("output_pad"),
                .scalarParameter("groups"),
            ], .heavy, "The transpose of a convolution.")
    }

    private static func pool(_ spatial: Int, max: Bool) -> OpInfo {
        let rank = spatial + 2
        var operands: [OperandInfo] = [
            .tensor("input", max ? .real : .numbers, rank: rank...rank), .parameter("kernel_size"),
            .parameter("stride"), .parameter("dilation"),
        ]
        if max { operands.append(.scalarParameter("ceil_mode", .integersOrBool)) }
        return OpInfo(operands, max ? "The largest of each window." : "The sum of each window.")
    }

    static let windowRows: [Row] = [
        (.conv2d, convolution(2)), (.conv3d, convolution(3)),
        (.convTranspose2d, transposedConvolution(2)), (.convTranspose3d, transposedConvolution(3)),
        (.maxPool2d, pool(2, max: true)), (.maxPool3d, pool(3, max: true)),
        (.sumPool2d, pool(2, max: false)), (.sumPool3d, pool(3, max: false)),
        (
            .interpolate,
            OpInfo(
                [
                    .tensor("input", .real), .parameter("output_shape"), .parameter("scale", .floats),
                    .parameter("offset", .floats),
                ], "The input resampled on a grid.")
        ),
        (
            .interpolateCoordinates,
            OpInfo(
                [.tensor("input", .real), .tensor("coords", .floats, rank: 2...2)], "The input sampled at points.")
        ),
    ]
}
