// Matrix products, convolutions, pools, interpolation.

extension ShapeRule {
    func inferWindows() throws(EngineError) -> ShapeAnswer {
        switch kind {
        case .batchMatmul, .broadcastingBatchMatmul:
            try requireSameElements(0, 1)
            let shape = try math.matmul(
                try shape(0), try shape(1), broadcasting: kind == .broadcastingBatchMatmul)
            return result(shape, try tensor(0).elementType)
        case .conv2d, .conv3d: return try inferConvolution()
        case .convTranspose2d, .convTranspose3d: return try inferTransposedConvolution()
        case .interpolate: return try inferInterpolation()
        case .interpolateCoordinates:
            let (input, points) = (try tensor(0), try shape(1))
            try math.require(
                points.count == 2 && points[1] == input.rank,
                "the coordinates have shape \(ShapeMath.text(points)), expected [?, \(input.rank)]")
            try math.require(
                points[0] == 0 || !input.shape.contains(0), "an empty input has no value at \(points[0]) points")
            return result([points[0]], input.elementType)
        default: return try inferPool()
        }
    }

    private func inferConvolution() throws(EngineError) -> ShapeAnswer {
        try requireSameElements(0, 1)
        guard let stride = try parameter(2), let dilation = try parameter(3), let groups = try scalar(4) else {
            return unknown(2, 3, 4)
        }
        let shape = try math.convolution(
            input: try shape(0), weight: try shape(1), stride: stride, dilation: dilation, groups: groups)
        return result(shape, try tensor(0).elementType)
    }

    private func inferTransposedConvolution() throws(EngineError) -> ShapeAnswer {
        try requireSameElements(0, 1)
        guard let stride = try parameter(2), let padding = try parameter(3), let dilation = try parameter(4),
            let outputPadding = try parameter(5), let groups = try scalar(6)
        else { return unknown(2, 3, 4, 5, 6) }
        let shape = try math.transposedConvolution(
            input: try shape(0), weight: try shape(1), stride: stride, padding: padding, dilation: dilation,
            outputPadding: outputPadding, groups: groups)
        return result(shape, try tensor(0).elementType)
    }

    private func inferPool() throws(EngineError) -> ShapeAnswer {
        var ceiling = false
        if kind == .maxPool2d || kind == .maxPool3d {
            guard let mode = try scalar(4) else { return unknown(1, 2, 3, 4) }
            ceiling = mode != 0
        }
        guard let kernel = try parameter(1), let stride = try parameter(2), let dilation = try parameter(3) else {
            return unknown(1, 2, 3)
        }
        let shape = try math.pool(
            input: try shape(0), kernel: kernel, stride: stride, dilation: dilation, ceiling: ceiling)
        return result(shape, try tensor(0).elementType)
    }

    private func inferInterpolation() throws(EngineError) -> ShapeAnswer {
        let input = try tensor(0)
        for index in 1...3 {
            let count = try math.elementCount(shape(index))
            try math.require(
                count == input.rank, "operand \(index) has \(count) elements, expected \(input.rank), the input's rank")
        }
        for scale in try numbers(2) ?? [] {
            try math.require(scale.isFinite && scale != 0, "a scale is \(scale)")
        }
        guard let shape = try parameter(1) else { return unknown(1) }
        for (dimension, extent) in shape.enumerated() {
            try math.require(extent >= 0, "the output has \(extent) elements along dimension \(dimension)")
        }
        try math.require(
            shape.contains(0) || !input.shape.contains(0),
            "an empty input of shape \(ShapeMath.text(input.shape)) can't fill \(ShapeMath.text(shape))")
        return result(shape, input.elementType)
    }
}
