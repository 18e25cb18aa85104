import EngineGraph

extension OpCase {
    static let weightCases: [OpCase] =
        blockCases + paletteCases + sparseCases + quantizeCases + dequantizeCases + statisticsCases

    /// Stored types of weights, with those that take no whole byte.
    private static let storedTypes: [ElementType] = [
        .int2, .int3, .int4, .int6, .int8, .int16, .uint1, .uint2, .uint3, .uint4, .uint6, .uint8, .uint16,
        .float8e4m3fn,
        .float8e5m2, .float4e2m1fn, .float16, .bfloat16, .float32,
    ]
    private static let results: [ElementType] = [.float16, .bfloat16, .float32]

    private static let blockCases: [OpCase] = storedTypes.flatMap { type in
        results.flatMap { result in
            let rows: [([Int], [Int])] =
                [([4, 6], [4, 1]), ([4, 6], [2, 3])]
                + (result == .float32
                    ? [([6], [1]), ([3, 5], [1, 1]), ([2, 4, 6], [2, 2, 1]), ([3, 64], [3, 2])] : [])
            return rows.map { shape, blocks in
                OpCase(
                    .blockwiseShiftScale, type, "\(shape.extentsText).\(blocks.extentsText).to.\(result.dialectName)"
                ) { builder in
                    let (data, shift) = (Elements(shape, type, .codes), Elements(blocks, type, .codes, seed: 3))
                    let (scale, bias) = (Elements(blocks, result, .positive), Elements(blocks, result, .small))
                    let operands = [data, scale, shift, bias].map { builder.constant($0) }
                    builder.output(builder.op(.blockwiseShiftScale, operands, shape, result))
                    let grid = Grid(blocks)
                    let (numbers, shifts, factors, biases) = (data.reals, shift.reals, scale.reals, bias.reals)
                    let answers = Grid(shape).indices.enumerated().map { position, index -> Double in
                        let block = grid.flat(index.indices.map { index[$0] / (shape[$0] / blocks[$0]) })
                        return factors[block] * (numbers[position] - shifts[block]) + biases[block]
                    }
                    return [Elements(shape, .float64, answers)]
                }
            }
        }
    }

    private static let paletteCases: [OpCase] = [ElementType.uint1, .uint2, .uint3, .uint4, .uint6, .uint8].flatMap {
        type in
        let entries = 1 << type.bitWidth
        let rows: [([Int], [Int], Int, Int)] = [
            ([6, 4], [1, 1], 1, 0), ([6, 4], [2, 1], 1, 0), ([3, 4], [1, 2], 2, 1), ([4], [1], 3, 0),
            ([2, 3], [2, 1], 2, 0),
        ]
        return results.flatMap { result in
            rows.map { shape, blocks, vector, axis in
                OpCase(
                    .lutToDense, type,
                    "\(shape.extentsText).\(blocks.extentsText).v\(vector).\(axis).to.\(result.dialectName)", .exact
                ) { builder in
                    let indices = Elements(shape, type, .codes)
                    let table = Elements(blocks + [entries, vector], result, .codes)
                    let operands = [builder.constant(indices), builder.constant(table), builder.scalar(axis)]
                    var expanded = shape
                    expanded[axis] *= vector
                    builder.output(builder.op(.lutToDense, operands, expanded, result))
                    let (grid, places, picks) = (Grid(table.shape), Grid(shape), indices.integers)
                    return [
                        table.moved(to: expanded) { index in
                            var own = index
                            own[axis] /= vector
                            let block = own.indices.map { own[$0] / (shape[$0] / blocks[$0]) }
                            return grid.flat(block + [picks[places.flat(own)], index[axis] % vector])
                        }
                    ]
                }
            }
        }
    }

    // MARK: Sparse

    private static let mask = [1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1]

    /// Stored values at the mask's places, zeros elsewhere.
    private static func spread(_ values: Elements, _ shape: [Int]) -> Elements {
        var next = 0
        let bits = mask.map { flag -> UInt64 in
            guard flag == 1 else { return 0 }
            defer { next += 1 }
            return values.bits[next]
        }
        return Elements(TensorType(shape, values.type.elementType), bits: bits)
    }

    private static func sparse(_ builder: inout CaseBuilder, _ values: Elements) -> Value {
        let operands = [builder.constant(values), builder.constant(Elements([3, 4], .uint1, mask))]
        let type = TensorType(
            [3, 4], values.type.elementType, encoding: .bitmaskSparse(nonZeroCount: values.count))
        return builder.ops(.buildSparseWithBitmask, operands, [type])[0]
    }

    private static let sparseCases: [OpCase] =
        [OpKind.buildSparseWithBitmask, .sparseWithBitmaskToDense].flatMap { kind in
            [ElementType.int8, .uint8, .float16, .bfloat16, .float32].map { type in
                OpCase(kind, type, "3x4", .exact) { builder in
                    let values = Elements([6], type, .codes)
                    let stored = sparse(&builder, values)
                    builder.output(builder.op(.sparseWithBitmaskToDense, [stored], [3, 4], type))
                    return [spread(values, [3, 4])]
                }
            }
        }
        + results.flatMap { result in
            [
                OpCase(.sparseWithBitmaskBlockwiseShiftScale, .int8, "3x4.to.\(result.dialectName)") { builder in
                    let values = Elements([6], .int8, .nonZero)
                    let (scale, shift) = (Elements([3, 1], result, .positive), Elements([3, 1], .int8, .small))
                    let bias = Elements([3, 1], result, .values([0]))
                    let operands =
                        [sparse(&builder, values)] + [scale, shift, bias].map { builder.constant($0) }
                    let type = TensorType([3, 4], result, encoding: .bitmaskSparse(nonZeroCount: 6))
                    let scaled = builder.ops(.sparseWithBitmaskBlockwiseShiftScale, operands, [type])[0]
                    builder.output(builder.op(.sparseWithBitmaskToDense, [scaled], [3, 4], result))
                    let dense = spread(values, [3, 4]).reals
                    let answers = mask.indices.map { index in
                        mask[index] == 0 ? 0 : scale.reals[index / 4] * (dense[index] - shift.reals[index / 4])
                    }
                    return [Elements([3, 4], .float64, answers)]
                },
                OpCase(.lutToSparseWithBitmask, .uint4, "3x4.to.\(result.dialectName)", .exact) { builder in
                    let values = Elements([6], .uint4, .codes)
                    let table = Elements([1, 1, 16, 1], result, .codes)
                    let operands = [sparse(&builder, values), builder.constant(table), builder.scalar(0)]
                    let type = TensorType([3, 4], result, encoding: .bitmaskSparse(nonZeroCount: 6))
                    let looked = builder.ops(.lutToSparseWithBitmask, operands, [type])[0]
                    builder.output(builder.op(.sparseWithBitmaskToDense, [looked], [3, 4], result))
                    let picks = spread(values, [3, 4]).integers
                    let bits = mask.indices.map { mask[$0] == 0 ? 0 : table.bits[picks[$0]] }
                    return [Elements(TensorType([3, 4], result), bits: bits)]
                },
            ]
        }

    // MARK: Quantization

    private static let quantizeCases: [OpCase] = [ElementType.int8, .uint8, .int16].flatMap { type in
        [ElementType.float16, .float32].flatMap { source in
            [true, false].map { isPerAxis in
                OpCase(.quantize, type, (isPerAxis ? "axis" : "tensor") + ".of.\(source.dialectName)", .exact) {
                    builder in
                    let x = Elements([3, 4], source, .values([-2, -0.25, 0.25, 0.75, 100, -100, 1.25, 0]))
                    let shape = isPerAxis ? [3] : []
                    // Powers of two, so that ties are ties.
                    let scale = Elements(shape, source, .values([0.5, 0.25, 1]))
                    let (zero, bias) = (
                        Elements(shape, type, .values([3, 0, 7])), Elements(shape, source, .values([0]))
                    )
                    let axis = isPerAxis ? builder.scalar(0) : builder.vector([0, 1])
                    let operands = [builder.input(x)] + [scale, zero, bias].map { builder.constant($0) } + [axis]
                    builder.output(builder.op(.quantize, operands, [3, 4], type))
                    let range = type == .uint8 ? 0.0...255 : type == .int8 ? -128.0...127 : -32768.0...32767
                    let answers = x.reals.enumerated().map { index, value in
                        let channel = isPerAxis ? index / 4 : 0
                        let whole = (value / scale.reals[channel]).rounded(.toNearestOrEven) + zero.reals[channel]
                        return min(max(whole, range.lowerBound), range.upperBound)
                    }
                    return [Elements([3, 4], type, answers)]
                }
            }
        }
    }

    private static let dequantizeCases: [OpCase] = [ElementType.int8, .uint8, .int16, .float8e4m3fn].flatMap { type in
        results.flatMap { result in
            [true, false].map { isPerAxis in
                OpCase(.dequantize, type, (isPerAxis ? "axis" : "tensor") + ".to.\(result.dialectName)") { builder in
                    let x = Elements([3, 4], type, .codes)
                    let shape = isPerAxis ? [4] : []
                    let (scale, zero) = (Elements(shape, result, .positive), Elements(shape, type, .codes, seed: 2))
                    let bias = Elements(shape, result, .small)
                    let axis = isPerAxis ? builder.scalar(-1) : builder.vector([0, 1])
                    let operands = [builder.input(x)] + [scale, zero, bias].map { builder.constant($0) } + [axis]
                    builder.output(builder.op(.dequantize, operands, [3, 4], result))
                    let answers = x.reals.enumerated().map { index, value in
                        let channel = isPerAxis ? index % 4 : 0
                        return (value - zero.reals[channel]) * scale.reals[channel] + bias.reals[channel]
                    }
                    return [Elements([3, 4], .float64, answers)]
                }
            }
        }
    }

    private static let statisticsCases: [OpCase] = [ElementType.float16, .float32].flatMap { type in
        [OpKind.symmetricQuantizationStatistics, .asymmetricQuantizationStatistics].map { kind in
            // How the range enters is the op's own affair: the reference delegate says.
            OpCase(kind, type, "4x6.1") { builder in
                let x = builder.input(Elements([4, 6], type, .small))
                let range = builder.constant(Elements([2], .int8, [-128, 127]))
                let scale = TensorType([6], type)
                let types = kind == .symmetricQuantizationStatistics ? [scale] : [scale, TensorType([6], .int8)]
                for value in builder.ops(kind, [x, range, builder.scalar(1)], types) { builder.output(value) }
                return nil
            }
        }
    }
}
