import EngineGraph

extension OpCase {
    static let castCases: [OpCase] = castPairs + [castCorners, castTies] + complexCasts + packedCasts

    private static let castTypes = ElementType.plainReals + [.bool]

    private static let castPairs: [OpCase] = castTypes.flatMap { source in
        castTypes.map { target in
            OpCase(.cast, source, "to.\(target.dialectName)", .exact) { builder in
                // Values that both types hold, with a fraction where there is one: it is cut off.
                let isSigned = !source.isUnsignedInteger && !target.isUnsignedInteger
                let values: [Double] = isSigned ? [0, 1, -1, 2.5, -2.5, 100, -100, 0.75] : [0, 1, 2.5, 3.75, 100, 127]
                let x = Elements([values.count], source, .values(values))
                builder.output(builder.op(.cast, [builder.input(x)], x.shape, target))
                return [Elements(x.shape, target, x.reals)]
            }
        }
    }

    private static let castCorners = OpCase(.cast, .float32, "corners.to.i1", .exact) { builder in
        let x = Elements([6], .float32, [.nan, .infinity, -.infinity, 0, -0.0, 0.25])
        builder.output(builder.op(.cast, [builder.input(x)], [6], .bool))
        return [Elements([6], .bool, [1, 1, 1, 0, 0, 1])]
    }

    /// Halfway between two values of the target: to even; beyond its largest: infinite.
    private static let castTies = OpCase(.cast, .float32, "ties.to.f16", .exact) { builder in
        let x = Elements([8], .float32, [2049, 2051, 1 + 0x1p-11, 1 + 0x3p-11, 65504, 65520, -65536, .nan])
        builder.output(builder.op(.cast, [builder.input(x)], [8], .float16))
        return [Elements([8], .float16, [2048, 2052, 1, 1 + 0x1p-9, 65504, .infinity, -.infinity, .nan])]
    }

    private static let complexCasts: [OpCase] = [ElementType.complexFloat16, .complexFloat64].map { target in
        OpCase(.cast, .complexFloat32, "to.\(target.dialectName)", .exact) { builder in
            let x = Elements([3, 2], .complexFloat32, .small)
            builder.output(builder.op(.cast, [builder.input(x)], [3, 2], target))
            return [Elements([3, 2], target, x.reals)]
        }
    }

    private static let packedCasts: [OpCase] = [
        ElementType.int2, .int4, .uint1, .uint2, .uint3, .uint4, .uint6, .float8e4m3fn, .float8e5m2, .float4e2m1fn,
    ].map { source in
        OpCase(.cast, source, "to.f32", .exact) { builder in
            let x = Elements([5, 7], source, .codes)
            builder.output(builder.op(.cast, [builder.input(x)], [5, 7], .float32))
            return [Elements([5, 7], .float32, x.reals)]
        }
    }
}
