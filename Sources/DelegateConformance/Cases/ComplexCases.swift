import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A complex number, as far as references need one.
private struct Pair {
    var real: Double
    var imaginary: Double

    static func + (x: Pair, y: Pair) -> Pair { Pair(real: x.real + y.real, imaginary: x.imaginary + y.imaginary) }
    static func - (x: Pair, y: Pair) -> Pair { Pair(real: x.real - y.real, imaginary: x.imaginary - y.imaginary) }
    static func * (x: Pair, y: Pair) -> Pair {
        Pair(
            real: x.real * y.real - x.imaginary * y.imaginary, imaginary: x.real * y.imaginary + x.imaginary * y.real)
    }
    static func / (x: Pair, y: Pair) -> Pair {
        let size = y.real * y.real + y.imaginary * y.imaginary
        let product = x * Pair(real: y.real, imaginary: -y.imaginary)
        return Pair(real: product.real / size, imaginary: product.imaginary / size)
    }
    static let one = Pair(real: 1, imaginary: 0)
    /// i times the number.
    var turned: Pair { Pair(real: -imaginary, imaginary: real) }
    var negated: Pair { Pair(real: -real, imaginary: -imaginary) }
    var half: Pair { Pair(real: real / 2, imaginary: imaginary / 2) }

    var exponential: Pair {
        Pair(real: exp(real) * cos(imaginary), imaginary: exp(real) * sin(imaginary))
    }
    var logarithm: Pair { Pair(real: log(hypot(real, imaginary)), imaginary: atan2(imaginary, real)) }
    var hyperbolicSine: Pair { (exponential - negated.exponential).half }
    var hyperbolicCosine: Pair { (exponential + negated.exponential).half }
    var cosine: Pair { turned.hyperbolicCosine }
    /// sin z = −i · sinh(i · z).
    var sine: Pair { turned.hyperbolicSine.turned.negated }
    var sigmoid: Pair { .one / (.one + negated.exponential) }
}

extension Elements {
    fileprivate var pairs: [Pair] {
        let parts = reals
        return (0..<(count / 2)).map { Pair(real: parts[2 * $0], imaginary: parts[2 * $0 + 1]) }
    }

    fileprivate init(_ shape: [Int], _ pairs: [Pair]) {
        self.init(shape, .complexFloat64, pairs.flatMap { [$0.real, $0.imaginary] })
    }
}

extension OpCase {
    private static let complexTypes: [ElementType] = [.complexFloat32, .complexFloat64, .complexFloat16]

    private static let complexUnary: [(OpKind, @Sendable (Pair) -> Pair)] = [
        (.exp, { $0.exponential }), (.log, { $0.logarithm }), (.cos, { $0.cosine }), (.sin, { $0.sine }),
        (.cosh, { $0.hyperbolicCosine }), (.sinh, { $0.hyperbolicSine }), (.tan, { $0.sine / $0.cosine }),
        (.sigmoid, { $0.sigmoid }), (.silu, { $0 * $0.sigmoid }),
    ]

    private static let complexBinary: [(OpKind, OpKind, @Sendable (Pair, Pair) -> Pair)] = [
        (.add, .broadcastingAdd, { $0 + $1 }), (.sub, .broadcastingSub, { $0 - $1 }),
        (.mul, .broadcastingMul, { $0 * $1 }), (.divide, .broadcastingDivide, { $0 / $1 }),
        (.pow, .broadcastingPow, { ($1 * $0.logarithm).exponential }),
    ]

    static let complexCases: [OpCase] = complexTypes.flatMap { type in
        complexUnary.map { complexUnaryCase($0.0, type, $0.1) }
            + complexBinary.flatMap { row in
                [[4], [3, 4]].map { complexBinaryCase($0.count == 1 ? row.1 : row.0, type, $0, row.2) }
            }
            + [OpKind.equal, .notEqual, .broadcastingEqual, .broadcastingNotEqual].map { complexPredicate($0, type) }
            + partCases(type)
    }

    /// Away from the cuts and poles: both parts not zero.
    private static func complexUnaryCase(
        _ kind: OpKind, _ type: ElementType, _ function: @escaping @Sendable (Pair) -> Pair
    ) -> OpCase {
        OpCase(kind, type, "3x4", .transcendental) { builder in
            let x = Elements([3, 4], type, .nonZero)
            builder.output(builder.op(kind, [builder.input(x)], [3, 4], type))
            return [Elements([3, 4], x.pairs.map(function))]
        }
    }

    private static func complexBinaryCase(
        _ kind: OpKind, _ type: ElementType, _ second: [Int], _ function: @escaping @Sendable (Pair, Pair) -> Pair
    ) -> OpCase {
        OpCase(kind, type, "3x4.\(second.extentsText)", .transcendental) { builder in
            let x = Elements([3, 4], type, .nonZero)
            let y = Elements(second, type, .nonZero, seed: 2)
            builder.output(builder.op(kind, [builder.input(x), builder.input(y)], [3, 4], type))
            return [Elements([3, 4], zip(x.pairs, y.broadcast(to: [3, 4]).pairs).map(function))]
        }
    }

    private static func complexPredicate(_ kind: OpKind, _ type: ElementType) -> OpCase {
        OpCase(kind, type, "6", .exact) { builder in
            let x = Elements([6], type, [1, 2, 1, 2, 1, 2, 0, 0, .nan, 0, 3, 4])
            let y = Elements([6], type, [1, 2, 1, 3, 2, 2, -0.0, 0, .nan, 0, 3, 4])
            builder.output(builder.op(kind, [builder.input(x), builder.input(y)], [6], .bool))
            let isNegated = kind == .notEqual || kind == .broadcastingNotEqual
            let equal = zip(x.pairs, y.pairs).map { $0.real == $1.real && $0.imaginary == $1.imaginary }
            return [Elements([6], .bool, equal.map { $0 != isNegated ? 1 : 0 })]
        }
    }

    private static func partCases(_ type: ElementType) -> [OpCase] {
        guard let part = type.complexPart else { return [] }
        return [
            OpCase(.realPart, type, "3x4", .exact) { builder in
                let x = Elements([3, 4], type, .small)
                builder.output(builder.op(.realPart, [builder.input(x)], [3, 4], part))
                return [Elements([3, 4], part, x.pairs.map(\.real))]
            },
            OpCase(.imaginaryPart, type, "3x4", .exact) { builder in
                let x = Elements([3, 4], type, .small)
                builder.output(builder.op(.imaginaryPart, [builder.input(x)], [3, 4], part))
                return [Elements([3, 4], part, x.pairs.map(\.imaginary))]
            },
            OpCase(.createComplex, type, "3x4", .exact) { builder in
                let (x, y) = (Elements([3, 4], part, .small), Elements([3, 4], part, .small, seed: 2))
                builder.output(builder.op(.createComplex, [builder.input(x), builder.input(y)], [3, 4], type))
                return [Elements([3, 4], type, zip(x.reals, y.reals).flatMap { [$0, $1] })]
            },
        ]
    }
}
