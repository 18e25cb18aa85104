import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An elementwise op of two numbers: on floats, on integers and bools, and its broadcasting twin.
struct BinaryFunction: Sendable {
    let kind: OpKind
    let broadcasting: OpKind
    var precision = Precision.arithmetic
    /// What the second operand is filled with.
    var second = Fill.small
    var first = Fill.small
    var isPredicate = false
    /// Pairs to try on floats, beside the usual.
    var corners: [(Double, Double)] = []
    var real: (@Sendable (Double, Double) -> Double)?
    var integer: (@Sendable (Int, Int) -> Int)?
    var bool: (@Sendable (Int, Int) -> Int)?
}

private let inf = Double.infinity
private let specialPairs: [(Double, Double)] = [
    (0, 0), (0, -0.0), (1, inf), (inf, inf), (inf, -inf), (.nan, 1), (1, .nan), (-inf, 2), (3, 3), (-1, 1),
]

private func power(_ base: Int, _ exponent: Int) -> Int {
    (0..<max(exponent, 0)).reduce(1) { result, _ in result &* base }
}

let binaryFunctions: [BinaryFunction] = [
    BinaryFunction(
        kind: .add, broadcasting: .broadcastingAdd, corners: specialPairs, real: { $0 + $1 }, integer: { $0 &+ $1 },
        bool: { $0 | $1 }),
    BinaryFunction(
        kind: .sub, broadcasting: .broadcastingSub, corners: specialPairs, real: { $0 - $1 }, integer: { $0 &- $1 }),
    BinaryFunction(
        kind: .mul, broadcasting: .broadcastingMul, corners: specialPairs, real: { $0 * $1 }, integer: { $0 &* $1 },
        bool: { $0 & $1 }),
    BinaryFunction(
        kind: .divide, broadcasting: .broadcastingDivide, second: .nonZero,
        corners: [(1, 0), (-1, 0), (0, 0), (inf, inf), (1, inf), (.nan, 1), (1, .nan), (inf, 2)],
        real: { $0 / $1 }, integer: { $0 / $1 }),
    BinaryFunction(
        kind: .floorDivide, broadcasting: .broadcastingFloorDivide, second: .nonZero,
        corners: [(-1, 2), (1, -2), (-10, 3), (10, -3), (.nan, 1), (6, 3), (-6, 3)],
        real: { ($0 / $1).rounded(.down) },
        integer: { x, y in
            let (quotient, remainder) = x.quotientAndRemainder(dividingBy: y)
            return remainder != 0 && (remainder < 0) != (y < 0) ? quotient - 1 : quotient
        }),
    BinaryFunction(
        kind: .modulo, broadcasting: .broadcastingModulo, second: .nonZero,
        corners: [(-7, 3), (7, -3), (5.5, 2), (-5.5, 2), (.nan, 1), (inf, 2), (6, 3)],
        real: { fmod($0, $1) }, integer: { $0 % $1 }),
    BinaryFunction(
        kind: .pow, broadcasting: .broadcastingPow, precision: .transcendental, second: .small, first: .positive,
        corners: [(0, 2), (0, -1), (2, 0), (-2, 2), (-2, 3), (-2, 0.5), (1, 5), (.nan, 0), (2, .nan), (inf, 2)],
        real: { pow($0, $1) }, integer: power),
    BinaryFunction(
        kind: .maximum, broadcasting: .broadcastingMaximum, precision: .exact,
        corners: Array(specialPairs.dropFirst(2)),
        real: { $0.isNaN || $1.isNaN ? .nan : max($0, $1) }, integer: { max($0, $1) }, bool: { $0 | $1 }),
    BinaryFunction(
        kind: .minimum, broadcasting: .broadcastingMinimum, precision: .exact,
        corners: Array(specialPairs.dropFirst(2)),
        real: { $0.isNaN || $1.isNaN ? .nan : min($0, $1) }, integer: { min($0, $1) }, bool: { $0 & $1 }),
    BinaryFunction(
        kind: .equal, broadcasting: .broadcastingEqual, isPredicate: true, corners: specialPairs,
        real: { $0 == $1 ? 1 : 0 }, integer: { $0 == $1 ? 1 : 0 }, bool: { $0 == $1 ? 1 : 0 }),
    BinaryFunction(
        kind: .notEqual, broadcasting: .broadcastingNotEqual, isPredicate: true, corners: specialPairs,
        real: { $0 != $1 ? 1 : 0 }, integer: { $0 != $1 ? 1 : 0 }, bool: { $0 != $1 ? 1 : 0 }),
    BinaryFunction(
        kind: .greater, broadcasting: .broadcastingGreater, isPredicate: true, corners: specialPairs,
        real: { $0 > $1 ? 1 : 0 }, integer: { $0 > $1 ? 1 : 0 }, bool: { $0 > $1 ? 1 : 0 }),
    BinaryFunction(kind: .logicalAnd, broadcasting: .broadcastingLogicalAnd, bool: { $0 & $1 }),
    BinaryFunction(kind: .logicalOr, broadcasting: .broadcastingLogicalOr, bool: { $0 | $1 }),
    BinaryFunction(kind: .logicalXor, broadcasting: .broadcastingLogicalXor, bool: { $0 ^ $1 }),
    BinaryFunction(
        kind: .bitwiseAnd, broadcasting: .broadcastingBitwiseAnd, second: .codes, first: .codes,
        integer: { $0 & $1 }, bool: { $0 & $1 }),
    BinaryFunction(
        kind: .bitwiseOr, broadcasting: .broadcastingBitwiseOr, second: .codes, first: .codes,
        integer: { $0 | $1 }, bool: { $0 | $1 }),
    BinaryFunction(
        kind: .bitwiseXor, broadcasting: .broadcastingBitwiseXor, second: .codes, first: .codes,
        integer: { $0 ^ $1 }, bool: { $0 ^ $1 }),
]

extension BinaryFunction {
    func takes(_ type: ElementType) -> Bool {
        type == .bool ? bool != nil : type.isInteger ? integer != nil : real != nil && type.isFloat
    }

    /// The results for operands of one shape.
    func apply(_ x: Elements, _ y: Elements) -> Elements {
        let type = x.type.elementType
        if type.isFloat, let real {
            let result: ElementType = isPredicate ? .bool : precision == .exact ? type : .float64
            return Elements(x.shape, result, zip(x.reals, y.reals).map(real))
        }
        let function = type == .bool ? bool : integer
        let result: ElementType = isPredicate ? .bool : type
        return Elements(x.shape, result, zip(x.integers, y.integers).map { function?($0, $1) ?? 0 })
    }
}

extension OpCase {
    static let binaryCases: [OpCase] = binaryFunctions.flatMap(cases) + whereCases

    private static let broadcasts: [([Int], [Int])] = [
        ([3, 5], []), ([], [3, 5]), ([3, 1], [1, 5]), ([5], [2, 3, 5]), ([2, 1, 3, 1], [4, 1, 2]), ([0, 3], [1, 3]),
        ([1, 2, 1, 2, 1, 2, 1, 3], [2, 1, 2, 1, 2, 1, 2, 1]),
    ]

    private static func cases(_ function: BinaryFunction) -> [OpCase] {
        var cases: [OpCase] = []
        for type in ElementType.plainReals + [.bool] where function.takes(type) {
            let isMain = type == .float32 || (function.real == nil && (type == .int32 || type == .bool))
            var shapes = isMain ? rankShapes : [[3, 5]]
            if type == .float32, function.kind == .add { shapes.append(largeShape) }
            for shape in shapes { cases.append(binary(function, function.kind, type, shape, shape)) }
            for (x, y) in isMain ? broadcasts : [([3, 1], [1, 5])] {
                cases.append(binary(function, function.broadcasting, type, x, y))
            }
            if type == .float32, function.kind == .mul {
                cases.append(binary(function, function.broadcasting, type, largeShape, [257]))
            }
            if type.isFloat, !function.corners.isEmpty { cases.append(corners(function, type)) }
            if type.isInteger, [.add, .sub, .mul].contains(function.kind) { cases.append(wrap(function, type)) }
        }
        return cases
    }

    private static func binary(
        _ function: BinaryFunction, _ kind: OpKind, _ type: ElementType, _ xShape: [Int], _ yShape: [Int]
    ) -> OpCase {
        let variant = xShape == yShape ? xShape.extentsText : "\(xShape.extentsText).\(yShape.extentsText)"
        return OpCase(kind, type, variant, function.precision) { builder in
            let x = Elements(xShape, type, function.first)
            // A negative exponent is no integer power.
            let isPower = function.kind == .pow && type.isInteger
            let y = Elements(yShape, type, isPower ? .below(4) : function.second, seed: 2)
            let shape = Grid.broadcast([xShape, yShape])
            let answer = function.apply(x.broadcast(to: shape), y.broadcast(to: shape))
            builder.output(
                builder.op(
                    kind, [builder.input(x), builder.input(y)], shape, function.isPredicate ? .bool : type))
            return [answer]
        }
    }

    private static func corners(_ function: BinaryFunction, _ type: ElementType) -> OpCase {
        OpCase(function.kind, type, "corners", function.precision) { builder in
            let shape = [function.corners.count]
            let x = Elements(shape, type, function.corners.map(\.0))
            let y = Elements(shape, type, function.corners.map(\.1))
            builder.output(
                builder.op(
                    function.kind, [builder.input(x), builder.input(y)], shape, function.isPredicate ? .bool : type))
            return [function.apply(x, y)]
        }
    }

    /// Sums, differences and products that don't fit wrap.
    private static func wrap(_ function: BinaryFunction, _ type: ElementType) -> OpCase {
        OpCase(function.kind, type, "wrap", .exact) { builder in
            let least = type.isSignedInteger ? -1 << (type.bitWidth - 1) : 0
            let x = Elements([6], type, [least, least &- 1, least &- 1, least, 0, least &- 2])
            let y = Elements([6], type, [-1, 1, least &- 1, least, 1, 3])
            builder.output(builder.op(function.kind, [builder.input(x), builder.input(y)], [6], type))
            return [function.apply(x, y)]
        }
    }

    private static let whereCases: [OpCase] = (ElementType.plain).flatMap { type in
        let shapes: [([Int], [Int], [Int])] =
            [([3, 5], [3, 5], [3, 5]), ([3, 1], [5], []), ([2, 1, 1], [1, 3, 1], [1, 1, 2])]
            + (type == .float32 ? [([], [], []), ([0, 2], [0, 2], [0, 2]), ([4], [3, 4], [2, 1, 4])] : [])
        return shapes.map { c, a, b in
            let kind: OpKind = c == a && a == b ? .where : .broadcastingWhere
            let variant = kind == .where ? c.extentsText : [c, a, b].map(\.extentsText).joined(separator: ".")
            return OpCase(kind, type, variant, .exact) { builder in
                let condition = Elements(c, .bool, .small)
                let (x, y) = (Elements(a, type, .codes), Elements(b, type, .codes, seed: 2))
                let shape = Grid.broadcast([c, a, b])
                builder.output(
                    builder.op(
                        kind, [builder.input(condition), builder.input(x), builder.input(y)], shape, type))
                return [chosen(condition.broadcast(to: shape), x.broadcast(to: shape), y.broadcast(to: shape))]
            }
        }
    }

    private static func chosen(_ condition: Elements, _ x: Elements, _ y: Elements) -> Elements {
        let parts = x.type.elementType.isComplex ? 2 : 1
        let bits = x.bits.indices.map { condition.bits[$0 / parts] != 0 ? x.bits[$0] : y.bits[$0] }
        return Elements(x.type, bits: bits)
    }
}
