// Convolutions, pools, matrix products, blocks of compressed weights.

extension ShapeMath {
    /// The extent that a dilated kernel covers.
    package func dilated(kernel: Int, dilation: Int) throws(EngineError) -> Int {
        try require(kernel > 0, "a kernel extent is \(kernel), expected > 0")
        try require(dilation > 0, "a dilation is \(dilation), expected > 0")
        return try sum(try product(dilation, kernel - 1), 1)
    }

    /// The number of windows over one dimension. With `ceiling`, a last window may reach beyond the input.
    package func windows(
        _ extent: Int, kernel: Int, stride: Int, dilation: Int, ceiling: Bool = false
    ) throws(EngineError) -> Int {
        try require(stride > 0, "a stride is \(stride), expected > 0")
        let cover = try dilated(kernel: kernel, dilation: dilation)
        try require(cover <= extent, "the kernel covers \(cover) elements, the input has \(extent)")
        let room = extent - cover
        return room / stride + (ceiling && room % stride != 0 ? 1 : 0) + 1
    }

    /// The extent of a transposed convolution's result along one dimension.
    package func transposedWindows(
        _ extent: Int, kernel: Int, stride: Int, padding: Int, dilation: Int, outputPadding: Int
    ) throws(EngineError) -> Int {
        try require(stride > 0, "a stride is \(stride), expected > 0")
        try require(extent > 0, "the input has \(extent) elements along a spatial dimension")
        try require(padding >= 0 && outputPadding >= 0, "the padding is \(padding) and \(outputPadding), expected ≥ 0")
        let cover = try dilated(kernel: kernel, dilation: dilation)
        let reach = try sum(try sum(try product(extent - 1, stride), cover), outputPadding)
        let cut = try product(2, padding)
        try require(reach > cut, "the padding \(padding) leaves nothing of \(reach) elements")
        return reach - cut
    }

    /// The result shape of a convolution of `input` (N, C, spatial…) with `weight` (O, C / groups, spatial…).
    package func convolution(
        input: [Int], weight: [Int], stride: [Int], dilation: [Int], groups: Int
    ) throws(EngineError) -> [Int] {
        let spatial = try spatialRank(input, weight)
        try checkCount(stride, "stride", spatial)
        try checkCount(dilation, "dilation", spatial)
        try require(groups > 0, "groups is \(groups), expected > 0")
        try require(input[1] % groups == 0, "\(input[1]) input channels don't divide into \(groups) groups")
        try require(weight[0] % groups == 0, "\(weight[0]) output channels don't divide into \(groups) groups")
        try require(
            weight[1] == input[1] / groups,
            "the weight has \(weight[1]) channels a group, expected \(input[1] / groups)")
        var result = [input[0], weight[0]]
        for dimension in 0..<spatial {
            result.append(
                try windows(
                    input[2 + dimension], kernel: weight[2 + dimension], stride: stride[dimension],
                    dilation: dilation[dimension]))
        }
        return result
    }

    /// The result shape of a transposed convolution of `input` (N, C, spatial…) with `weight` (C, O / groups, spatial…).
    package func transposedConvolution(
        input: [Int], weight: [Int], stride: [Int], padding: [Int], dilation: [Int], outputPadding: [Int], groups: Int
    ) throws(EngineError) -> [Int] {
        let spatial = try spatialRank(input, weight)
        try checkCount(stride, "stride", spatial)
        try checkCount(padding, "padding", spatial)
        try checkCount(dilation, "dilation", spatial)
        try checkCount(outputPadding, "output_pad", spatial)
        try require(groups > 0, "groups is \(groups), expected > 0")
        try require(input[1] % groups == 0, "\(input[1]) input channels don't divide into \(groups) groups")
        try require(weight[0] == input[1], "the weight has \(weight[0]) input channels, expected \(input[1])")
        var result = [input[0], try product(weight[1], groups)]
        for dimension in 0..<spatial {
            result.append(
                try transposedWindows(
                    input[2 + dimension], kernel: weight[2 + dimension], stride: stride[dimension],
                    padding: padding[dimension], dilation: dilation[dimension],
                    outputPadding: outputPadding[dimension]))
        }
        return result
    }

    /// The result shape of a pool over `input` (N, C, spatial…).
    package func pool(
        input: [Int], kernel: [Int], stride: [Int], dilation: [Int], ceiling: Bool
    ) throws(EngineError) -> [Int] {
        let spatial = input.count - 2
        try require(spatial >= 1, "the input has rank \(input.count), expected at least 3")
        try checkCount(kernel, "kernel_size", spatial)
        try checkCount(stride, "stride", spatial)
        try checkCount(dilation, "dilation", spatial)
        var result = Array(input.prefix(2))
        for dimension in 0..<spatial {
            result.append(
                try windows(
                    input[2 + dimension], kernel: kernel[dimension], stride: stride[dimension],
                    dilation: dilation[dimension], ceiling: ceiling))
        }
        return result
    }

    private func spatialRank(_ input: [Int], _ weight: [Int]) throws(EngineError) -> Int {
        try require(
            input.count >= 3 && input.count == weight.count,
            "the input has rank \(input.count) and the weight \(weight.count), expected equal ranks of at least 3")
        return input.count - 2
    }

    private func checkCount(_ values: [Int], _ name: String, _ count: Int) throws(EngineError) {
        try require(values.count == count, "\(name) has \(values.count) numbers, expected \(count)")
    }

    /// The result shape of x · y over batches, equal or broadcast.
    package func matmul(_ x: [Int], _ y: [Int], broadcasting: Bool) throws(EngineError) -> [Int] {
        try require(
            x.count >= 2 && y.count >= 2, "the operands have ranks \(x.count) and \(y.count), expected at least 2")
        let (rows, inner) = (x[x.count - 2], x[x.count - 1])
        let (depth, columns) = (y[y.count - 2], y[y.count - 1])
        try require(
            inner == depth, "x \(Self.text(x)) has \(inner) columns, y \(Self.text(y)) has \(depth) rows")
        let (left, right) = (Array(x.dropLast(2)), Array(y.dropLast(2)))
        if !broadcasting {
            try require(left == right, "the batches are \(Self.text(left)) and \(Self.text(right)), expected equal")
        }
        return try broadcast(left, right) + [rows, columns]
    }

    /// The extents of one block: `data` over `scale`, dimension by dimension.
    package func blocks(data: [Int], scale: [Int]) throws(EngineError) -> [Int] {
        try require(
            data.count == scale.count, "the data has rank \(data.count), the scale \(scale.count), expected equal")
        var result: [Int] = []
        for (dimension, (extent, count)) in zip(data, scale).enumerated() {
            try require(
                count > 0 ? extent % count == 0 : extent == 0,
                "dimension \(dimension) of \(extent) elements doesn't divide into \(count) blocks")
            result.append(count > 0 ? extent / count : 1)
        }
        return result
    }

    /// The result shape of a palette lookup, and the palette's vector length.
    package func palette(
        indices: [Int], bits: Int, table: [Int], axis: Int?
    ) throws(EngineError) -> (shape: [Int], vector: Int, blocks: [Int]) {
        try require(
            table.count == indices.count + 2,
            "the table has rank \(table.count), expected \(indices.count + 2), two more than the indices")
        let (entries, vector) = (table[table.count - 2], table[table.count - 1])
        try require(bits < 32 && entries == 1 << bits, "the table has \(entries) entries for \(bits)-bit indices")
        try require(vector > 0, "the table's vectors have \(vector) elements")
        let blocks = try self.blocks(data: indices, scale: Array(table.dropLast(2)))
        var shape = indices
        if let axis, !indices.isEmpty || vector != 1 {
            let dimension = try self.axis(axis, rank: indices.count)
            shape[dimension] = try product(shape[dimension], vector)
        }
        return (shape, vector, blocks)
    }
}
