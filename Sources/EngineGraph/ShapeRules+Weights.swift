// Compressed weights, quantization, images, states.

extension ShapeRule {
    func inferWeights() throws(EngineError) -> ShapeAnswer {
        let input = try tensor(0)
        switch kind {
        case .blockwiseShiftScale:
            _ = try math.blocks(data: input.shape, scale: try shape(1))
            try requireSameShape(1, 2)
            try requireSameShape(1, 3)
            try requireSameElements(0, 2)
            return result(input.shape, try tensor(3).elementType)
        case .sparseWithBitmaskBlockwiseShiftScale:
            for index in 1..<query.operands.count { _ = try math.blocks(data: input.shape, scale: try shape(index)) }
            let elements = try declaredElements(.floats, default: try tensor(1).elementType)
            return .types([.tensor(TensorType(input.shape, elements, encoding: input.encoding))])
        case .lutToDense, .lutToSparseWithBitmask: return try inferPalette(input)
        case .buildSparseWithBitmask:
            let mask = try tensor(1)
            let (places, values) = (try math.elementCount(mask.shape), try math.elementCount(input.shape))
            try math.require(values <= places, "\(values) values for a mask of \(places) places")
            let encoding = TensorEncoding.bitmaskSparse(nonZeroCount: values)
            return .types([.tensor(TensorType(mask.shape, input.elementType, encoding: encoding))])
        case .sparseWithBitmaskToDense: return result(input.shape, input.elementType)
        case .quantize, .dequantize: return try inferQuantization(input)
        default: return try inferStatistics(input)
        }
    }

    private func inferPalette(_ indices: TensorType) throws(EngineError) -> ShapeAnswer {
        let table = try tensor(1)
        let axis = try scalar(2)
        if axis == nil, let vector = table.shape.last, vector != 1 { return unknown(2) }
        let lookup = try math.palette(
            indices: indices.shape, bits: indices.elementType.bitWidth, table: table.shape, axis: axis)
        guard case .bitmaskSparse(let stored) = indices.encoding else {
            return result(lookup.shape, table.elementType)
        }
        let count: Int? = if let stored { try math.product(stored, lookup.vector) } else { nil }
        let encoding = TensorEncoding.bitmaskSparse(nonZeroCount: count)
        return .types([.tensor(TensorType(lookup.shape, table.elementType, encoding: encoding))])
    }

    private func inferQuantization(_ input: TensorType) throws(EngineError) -> ShapeAnswer {
        // The side that has the input's element type, and the side that has the result's.
        let (own, other) = kind == .quantize ? (3, 2) : (2, 3)
        try requireSameElements(0, own)
        try requireSameShape(1, 2)
        try requireSameShape(1, 3)
        let isVector = try tensor(1).rank == 1
        let axisRank = try tensor(4).rank
        try math.require(
            !isVector || axisRank == 0, "the scale is a vector and the axes a list: a list takes a scalar scale")
        if let contents = try parameter(4) {
            let axes = try math.axes(contents, rank: input.rank)
            if isVector, let axis = axes.first {
                let count = try math.elementCount(shape(1))
                try math.require(
                    count == input.shape[axis] || count == 1,
                    "\(count) scales for dimension \(axis) of \(input.shape[axis]) elements")
            }
        }
        return result(input.shape, try tensor(other).elementType)
    }

    private func inferStatistics(_ input: TensorType) throws(EngineError) -> ShapeAnswer {
        let range = try tensor(1)
        try math.require(range.shape == [2], "the range has shape \(ShapeMath.text(range.shape)), expected [2]")
        if let bounds = try numbers(1) {
            try math.require(bounds[0] < bounds[1], "the range is \(bounds[0]) … \(bounds[1])")
        }
        guard let axis = try axis(2, rank: input.rank) else { return unknown(2) }
        let scale = ValueType.tensor(TensorType([input.shape[axis]], input.elementType))
        if kind == .symmetricQuantizationStatistics { return .types([scale]) }
        return .types([scale, .tensor(TensorType([input.shape[axis]], range.elementType))])
    }

    func inferOther() throws(EngineError) -> ShapeAnswer {
        switch kind {
        case .imageToTensor:
            guard case .image(let image) = query.operands[0] else { throw math.failure("the operand is no image") }
            return result(try math.pixels(image), .uint8)
        case .tensorToImage:
            guard query.declared.count == 1, case .image(let image) = query.declared[0] else {
                throw math.failure("the result is declared as \(query.declared), expected an image")
            }
            let (given, expected) = (try shape(0), try math.pixels(image))
            try math.require(
                given == expected,
                "\(ValueType.image(image)) takes shape \(ShapeMath.text(expected)), given \(ShapeMath.text(given))")
            return .types(query.declared)
        case .createToken, .joinToken: return .types([.token])
        case .readHandle: return .types([.tensor(try state(0)), .token])
        case .loadState: return .types([.tensor(try state(0))])
        case .writeHandle, .storeState:
            let (held, given) = (try state(0), try tensor(1))
            try math.require(held.accepts(given), "the state holds \(held), given \(given)")
            return .types(kind == .writeHandle ? [.token] : [])
        case .metalKernel: return try inferMetalKernel()
        default: return same(0)
        }
    }

    private func state(_ index: Int) throws(EngineError) -> TensorType {
        guard case .handle(let type) = query.operands[index] else {
            throw math.failure("operand \(index) is no state")
        }
        return type
    }

    /// The last operands are the results' shapes.
    private func inferMetalKernel() throws(EngineError) -> ShapeAnswer {
        let first = query.operands.count - query.declared.count
        try math.require(first >= 2, "\(query.operands.count) operands for \(query.declared.count) results")
        var types: [ValueType] = []
        var missing: [Int] = []
        for (index, declared) in query.declared.enumerated() {
            guard case .tensor(let type) = declared else { throw math.failure("result \(index) is no tensor") }
            try math.require(
                try tensor(first + index).elementType.isInteger, "operand \(first + index) is no shape")
            if let shape = try parameter(first + index) {
                types.append(.tensor(TensorType(shape, type.elementType)))
            } else {
                missing.append(first + index)
            }
        }
        return missing.isEmpty ? .types(types) : .needsValues(operands: missing)
    }
}

extension ShapeMath {
    /// The shape of an image's bytes as a tensor of `ui8`.
    package func pixels(_ image: ImageType) throws(EngineError) -> [Int] {
        let (height, width) = (image.height, image.width)
        try require(height >= 0 && width >= 0, "the image is \(width) × \(height)")
        switch image.pixelFormat {
        case 24: return [height, width, 3]
        case 32, fourCharacterCode("BGRA"), fourCharacterCode("ARGB"): return [height, width, 4]
        case fourCharacterCode("y420"):
            let chroma = try product(2, try product(height / 2, width / 2))
            return [try sum(try product(height, width), chroma)]
        default: return [try product(height, width)]
        }
    }

    private func fourCharacterCode(_ name: StaticString) -> UInt32 {
        name.description.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
