extension OpKind {
    /// The op's row in the table: operands, results, categories.
    package var info: OpInfo { OpTable.rows[self] ?? OpTable.unknown }

    /// The name for messages: the dialect's, without group and version.
    package var name: String { rawValue }
}

/// A row per `OpKind`, gathered from the families.
package enum OpTable {
    typealias Row = (kind: OpKind, info: OpInfo)

    static let rows: [OpKind: OpInfo] = Dictionary(
        [
            unaryRows, binaryRows, broadcastingRows, shapeRows, movementRows, reductionRows, productRows, windowRows,
            weightRows, controlRows, compilerRows,
        ].joined().map { ($0.kind, $0.info) },
        uniquingKeysWith: { first, _ in first }
    )

    /// For a kind without a row: takes anything.
    static let unknown = OpInfo([], variadic: .other("operands", .any), results: nil, "Not in the table.")
}

// MARK: Elementwise

extension OpTable {
    private static func unary(
        _ elements: ElementSet, named: Bool = false, predicate: Bool = false, _ summary: String
    ) -> OpInfo {
        var category: OpCategory = .unary
        if named { category.insert(.named) }
        if predicate { category.insert(.predicate) }
        return OpInfo([.tensor("x", elements)], category, summary)
    }

    private static func binary(_ elements: ElementSet, _ more: OpCategory = [], _ summary: String) -> OpInfo {
        OpInfo([.tensor("x", elements), .tensor("y", elements)], more.union(.binary), summary)
    }

    static let unaryRows: [Row] = [
        (.abs, unary(.real, "Absolute value; the least integer stays.")),
        (.acos, unary(.floats, "Inverse cosine.")),
        (.acosh, unary(.floats, "Inverse hyperbolic cosine.")),
        (.asin, unary(.floats, "Inverse sine.")),
        (.asinh, unary(.floats, "Inverse hyperbolic sine.")),
        (.atan, unary(.floats, "Inverse tangent.")),
        (.atanh, unary(.floats, "Inverse hyperbolic tangent.")),
        (.cos, unary(.floatsOrComplex, "Cosine.")),
        (.cosh, unary(.floatsOrComplex, "Hyperbolic cosine.")),
        (.erf, unary(.floats, "Gauss error function.")),
        (.exp, unary(.floatsOrComplex, "e to the power x.")),
        (.gelu, unary(.floats, "Gaussian error linear unit.")),
        (.log, unary(.floatsOrComplex, "Natural logarithm.")),
        (.not, unary(.bool, "Logical not.")),
        (.round, unary(.real, "To the nearest integer, ties to even.")),
        (.rsqrt, unary(.floats, "One over the square root.")),
        (.sin, unary(.floatsOrComplex, "Sine.")),
        (.sinh, unary(.floatsOrComplex, "Hyperbolic sine.")),
        (.sqrt, unary(.floats, "Square root.")),
        (.tan, unary(.floatsOrComplex, "Tangent.")),
        (.tanh, unary(.floats, "Hyperbolic tangent.")),
        (.cast, unary(.any, "To the result's element type.")),
        (.realPart, unary(.complex, "The real parts.")),
        (.imaginaryPart, unary(.complex, "The imaginary parts.")),
        (.relu, unary(.real, named: true, "max(0, x).")),
        (.sigmoid, unary(.floatsOrComplex, named: true, "1 / (1 + exp(−x)).")),
        (.silu, unary(.floatsOrComplex, named: true, "x · sigmoid(x).")),
    ]

    /// What each arithmetic op takes, with equal shapes or broadcast.
    private static let arithmetic: [(kind: OpKind, broadcasting: OpKind, ElementSet, OpCategory, String)] = [
        (.add, .broadcastingAdd, .any, [], "x + y; or on bools."),
        (.sub, .broadcastingSub, .numbers, [], "x − y."),
        (.mul, .broadcastingMul, .any, [], "x · y; and on bools."),
        (.divide, .broadcastingDivide, .numbers, [], "x / y; integers truncate."),
        (.floorDivide, .broadcastingFloorDivide, .real, [], "floor(x / y)."),
        (.modulo, .broadcastingModulo, .real, [], "The remainder with x's sign."),
        (.pow, .broadcastingPow, .numbers, [], "x to the power y."),
        (.maximum, .broadcastingMaximum, .realOrBool, [], "The larger; NaN wins."),
        (.minimum, .broadcastingMinimum, .realOrBool, [], "The smaller; NaN wins."),
        (.equal, .broadcastingEqual, .any, .predicate, "Whether x = y."),
        (.notEqual, .broadcastingNotEqual, .any, .predicate, "Whether x ≠ y."),
        (.greater, .broadcastingGreater, .realOrBool, .predicate, "Whether x > y."),
        (.logicalAnd, .broadcastingLogicalAnd, .bool, [], "Both."),
        (.logicalOr, .broadcastingLogicalOr, .bool, [], "Either."),
        (.logicalXor, .broadcastingLogicalXor, .bool, [], "One of the two."),
        (.bitwiseAnd, .broadcastingBitwiseAnd, .integersOrBool, [], "Bits of both."),
        (.bitwiseOr, .broadcastingBitwiseOr, .integersOrBool, [], "Bits of either."),
        (.bitwiseXor, .broadcastingBitwiseXor, .integersOrBool, [], "Bits of one of the two."),
    ]

    static let binaryRows: [Row] =
        arithmetic.map { ($0.kind, binary($0.2, $0.3, $0.4)) } + [
            (
                .createComplex,
                OpInfo([.tensor("real", .floats), .tensor("imaginary", .floats)], .binary, "real + i · imaginary.")
            ),
            (
                .where,
                OpInfo(
                    [.tensor("condition", .bool), .tensor("a", .any), .tensor("b", .any)],
                    "Elements of a where the condition holds, else of b.")
            ),
        ]

    static let broadcastingRows: [Row] =
        arithmetic.map { ($0.broadcasting, binary($0.2, $0.3.union([.broadcasting, .named]), $0.4)) } + [
            (
                .broadcastingWhere,
                OpInfo(
                    [.tensor("condition", .bool), .tensor("a", .any), .tensor("b", .any)], [.broadcasting, .named],
                    "Elements of a where the condition holds, else of b.")
            )
        ]

    /// The op that does the same to operands of equal shapes.
    package static func unbroadcast(_ kind: OpKind) -> OpKind? {
        switch kind {
        case .broadcastingWhere: .where
        case .broadcastingBatchMatmul: .batchMatmul
        default: unbroadcastKinds[kind]
        }
    }

    private static let unbroadcastKinds: [OpKind: OpKind] = Dictionary(
        arithmetic.map { ($0.broadcasting, $0.kind) }, uniquingKeysWith: { first, _ in first })
}
