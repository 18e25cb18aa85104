import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An elementwise function of one number, and the numbers to try it on.
private struct Function {
    let kind: OpKind
    let precision: Precision
    let fill: Fill
    let corners: [Double]
    let apply: @Sendable (Double) -> Double

    init(
        _ kind: OpKind, _ precision: Precision, _ fill: Fill = .small, corners: [Double],
        _ apply: @escaping @Sendable (Double) -> Double
    ) {
        self.kind = kind
        self.precision = precision
        self.fill = fill
        self.corners = corners
        self.apply = apply
    }
}

private let special: [Double] = [0, -0.0, .infinity, -.infinity, .nan, 1, -1, 0.5, -0.5, 2, -2]
/// Without infinities, for what a GPU may not promise there.
private let finite: [Double] = [0, -0.0, .nan, 1, -1, 0.5, -0.5, 2, -2, 3, -3]

private let functions: [Function] = [
    Function(.abs, .exact, corners: special + [0x1p-149, -0x1p-149, 65504, -65504]) { abs($0) },
    Function(.acos, .transcendental, .unit, corners: finite) { acos($0) },
    Function(.acosh, .transcendental, .positive, corners: special) { acosh($0) },
    Function(.asin, .transcendental, .unit, corners: finite) { asin($0) },
    Function(.asinh, .transcendental, corners: special + [1000, -1000]) { asinh($0) },
    Function(.atan, .transcendental, corners: special + [1000, -1000]) { atan($0) },
    Function(.atanh, .transcendental, .unit, corners: finite) { atanh($0) },
    Function(.cos, .transcendental, corners: special + [10, -10]) { cos($0) },
    Function(.cosh, .transcendental, corners: special + [9, -9]) { cosh($0) },
    Function(.erf, .transcendental, corners: special + [4, -4]) { erf($0) },
    Function(.exp, .transcendental, corners: special + [9, -9, 20, -20, -120, 120]) { exp($0) },
    Function(.log, .transcendental, .positive, corners: special + [1000, 0.001]) { log($0) },
    Function(.round, .exact, corners: special + [1.5, 2.5, 3.5, -1.5, -2.5, 0.25, 2047]) {
        $0.rounded(.toNearestOrEven)
    },
    Function(.rsqrt, .transcendental, .positive, corners: [.infinity, .nan, 0, 1, -1, 4, 0.25, 1024]) {
        1 / $0.squareRoot()
    },
    Function(.sin, .transcendental, corners: special + [10, -10]) { sin($0) },
    Function(.sinh, .transcendental, corners: special + [9, -9]) { sinh($0) },
    Function(.sqrt, .transcendental, .positive, corners: special + [4, 1024, 1e-4]) { $0.squareRoot() },
    Function(.tan, .transcendental, corners: [0, -0.0, .nan, .infinity, 1, -1, 1.5, -1.5, 3]) { tan($0) },
    Function(.tanh, .transcendental, corners: special + [20, -20, 1e-3]) { tanh($0) },
    Function(.relu, .exact, corners: [0, .infinity, -.infinity, 1, -1, 0x1p-149, 65504]) { max($0, 0) },
    Function(.sigmoid, .transcendental, corners: special + [20, -20, 80, -80]) { 1 / (1 + exp(-$0)) },
    Function(.silu, .transcendental, corners: finite + [20, -20, 60]) { $0 / (1 + exp(-$0)) },
]

extension OpCase {
    static let unaryCases: [OpCase] =
        functions.flatMap(floatCases) + geluCases + integerUnaryCases + [[], [3, 5], [0, 4]].map { notCase($0) }

    /// A scalar, odd sizes, every rank, and nothing at all.
    static let rankShapes: [[Int]] = [
        [], [1], [7], [3, 5], [0, 3], [2, 3, 4], [2, 1, 3, 2], [2, 1, 2, 3, 1], [1, 2, 1, 2, 1, 3],
        [2, 1, 2, 1, 2, 1, 2], [2, 1, 2, 1, 2, 1, 2, 3],
    ]
    /// More than 65,535 elements, and no multiple of anything.
    static let largeShape = [257, 257]

    private static func floatCases(_ function: Function) -> [OpCase] {
        var cases: [OpCase] = []
        for type in ElementType.plainFloats {
            var shapes = type == .float32 ? rankShapes : [[3, 5]]
            if type == .float32, [.abs, .exp].contains(function.kind) { shapes.append(largeShape) }
            for shape in shapes {
                cases.append(unary(function, type, shape.extentsText, Elements(shape, type, function.fill)))
            }
            let corners = Elements([function.corners.count], type, function.corners)
            cases.append(unary(function, type, "corners", corners))
        }
        return cases
    }

    private static func unary(
        _ function: Function, _ type: ElementType, _ variant: String, _ input: Elements
    ) -> OpCase {
        OpCase(function.kind, type, variant, function.precision) { builder in
            let x = builder.input(input)
            builder.output(builder.op(function.kind, [x], input.shape, type))
            // An exact op gives a value of the type; others are compared with the unrounded number.
            let result: ElementType = function.precision == .exact ? type : .float64
            return [Elements(input.shape, result, input.reals.map(function.apply))]
        }
    }

    private static func notCase(_ shape: [Int]) -> OpCase {
        OpCase(.not, .bool, shape.extentsText, .exact) { builder in
            let x = Elements(shape, .bool, .small)
            builder.output(builder.op(.not, [builder.input(x)], shape, .bool))
            return [Elements(shape, .bool, x.integers.map { 1 - $0 })]
        }
    }

    private static let geluCases: [OpCase] = [GeluApproximation.none, .tanh, .sigmoid].flatMap { approximation in
        ElementType.plainFloats.flatMap { type in
            [[3, 5], [9]].map { shape in
                OpCase(.gelu, type, "\(approximation).\(shape.extentsText)", .transcendental) { builder in
                    let x =
                        shape.count == 1
                        ? Elements(shape, type, .values([0, -0.0, .nan, 10, -10, 3, -3, 0.001, 30]))
                        : Elements(shape, type, .small)
                    builder.output(
                        builder.op(.gelu, [builder.input(x)], shape, type, .approximation(approximation)))
                    return [Elements(shape, .float64, x.reals.map { geluValue($0, approximation) })]
                }
            }
        }
    }

    private static let integerUnaryCases: [OpCase] = ElementType.plainIntegers.flatMap { type in
        [OpKind.abs, .round, .relu].map { kind in
            OpCase(kind, type, "corners", .exact) { builder in
                let least = type.isSignedInteger ? -1 << (type.bitWidth - 1) : 0
                let x = Elements([6], type, [least, least &+ 1, -1, 0, 1, least &- 1])
                builder.output(builder.op(kind, [builder.input(x)], [6], type))
                let answers = x.integers.map { value -> Int in
                    switch kind {
                    case .abs where type.isSignedInteger: value < 0 ? 0 &- value : value
                    case .relu where type.isSignedInteger: max(value, 0)
                    default: value
                    }
                }
                return [Elements([6], type, answers)]
            }
        }
    }
}

func geluValue(_ x: Double, _ approximation: GeluApproximation) -> Double {
    switch approximation {
    case .none: x * 0.5 * (1 + erf(x / 2.0.squareRoot()))
    case .tanh: 0.5 * x * (1 + tanh((2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
    case .sigmoid: x / (1 + exp(-1.702 * x))
    }
}
