import Testing

@testable import EngineGraph

@Suite("Shape rules: elementwise")
struct ElementwiseRuleTests {
    @Test("one operand: the same type", arguments: OpTable.unaryRows.map(\.kind))
    func unary(kind: OpKind) throws {
        switch kind {
        case .cast, .realPart, .imaginaryPart: return
        case .not:
            try RuleCase(kind, ["2x3xi1"], .types(["2x3xi1"])).check()
            try RuleCase(kind, ["2xf32"], .fails("expected a tensor of bool")).check()
        default:
            try RuleCase(kind, ["2x3xf32"], .types(["2x3xf32"])).check()
            try RuleCase(kind, ["f16"], .types(["f16"])).check()
            try RuleCase(kind, ["2x3xf32"], .types(["2x3xf32"]), declared: ["?x3xf32"]).check()
            try RuleCase(kind, ["2x3xf32"], .fails("declared as"), declared: ["2x4xf32"]).check()
            try RuleCase(kind, ["2x3xf32"], .fails("declared as"), declared: ["2x3xf16"]).check()
            try RuleCase(kind, ["2xi1"], .fails("expected a tensor of")).check()
        }
        try RuleCase(kind, ["token"], .fails("operand 0")).check()
        try RuleCase(kind, ["sparse 2xf32"], .fails("operand 0")).check()
        try RuleCase(kind, ["1x1x1x1x1x1x1x1x1xf32"], .fails(kind == .not ? "operand" : "rank 9")).check()
        try RuleCase(kind, ["2x?xi1"], .fails(kind == .not ? "dynamic" : "operand")).check()
        try RuleCase(kind, ["2xi1", "2xi1"], .fails("2 operands, expected 1")).check()
    }

    private static let floatBinary: [OpKind] = [
        .add, .sub, .mul, .divide, .floorDivide, .modulo, .pow, .maximum, .minimum,
    ]

    @Test("two operands of one shape", arguments: floatBinary)
    func binary(kind: OpKind) throws {
        try RuleCase(kind, ["2x3xf32", "2x3xf32"], .types(["2x3xf32"])).check()
        try RuleCase(kind, ["2xsi32", "2xsi32"], .types(["2xsi32"])).check()
        try RuleCase(kind, ["2xf32", "1xf32"], .fails("shape [1], expected [2]")).check()
        try RuleCase(kind, ["2xf32", "f32"], .fails("shape [], expected [2]")).check()
        try RuleCase(kind, ["2xf32", "2xsi32"], .fails("element type si32, expected f32")).check()
        let broadcasting = try #require(OpKind(rawValue: "broadcasting_" + kind.rawValue))
        try RuleCase(broadcasting, ["2x1xf32", "3xf32"], .types(["2x3xf32"])).check()
        try RuleCase(broadcasting, ["f32", "0x3xf32"], .types(["0x3xf32"])).check()
        try RuleCase(broadcasting, ["2xf32", "3xf32"], .fails("don't broadcast: 2 against 3")).check()
        try RuleCase(broadcasting, ["2xf32", "2xf16"], .fails("element type f16")).check()
    }

    @Test("predicates give bools", arguments: [OpKind.equal, .notEqual, .greater])
    func predicates(kind: OpKind) throws {
        try RuleCase(kind, ["2xf32", "2xf32"], .types(["2xi1"])).check()
        try RuleCase(kind, ["2xf32", "2xf32"], .fails("declared as"), declared: ["2xf32"]).check()
        let broadcasting = try #require(OpKind(rawValue: "broadcasting_" + kind.rawValue))
        try RuleCase(broadcasting, ["2x1xsi32", "si32"], .types(["2x1xi1"])).check()
    }

    @Test("logic and bits")
    func logic() throws {
        for kind in [OpKind.logicalAnd, .logicalOr, .logicalXor] {
            try RuleCase(kind, ["2xi1", "2xi1"], .types(["2xi1"])).check()
            try RuleCase(kind, ["2xsi8", "2xsi8"], .fails("operand 0")).check()
        }
        for kind in [OpKind.bitwiseAnd, .bitwiseOr, .bitwiseXor] {
            try RuleCase(kind, ["2xi1", "2xi1"], .types(["2xi1"])).check()
            try RuleCase(kind, ["2xui8", "2xui8"], .types(["2xui8"])).check()
            try RuleCase(kind, ["2xf32", "2xf32"], .fails("operand 0")).check()
        }
    }

    private static let othersCases: [RuleCase] = [
        RuleCase(.cast, ["2xf32"], .types(["2xsi8"])),
        RuleCase(.cast, ["2xf32"], .types(["2xi1"]), declared: ["?xi1"]),
        RuleCase(.cast, ["2xf32"], .fails("declared as"), declared: ["3xsi8"]),
        RuleCase(.cast, ["2xcomplex<f32>"], .types(["2xf32"]), declared: ["2xf32"]),
        RuleCase(.cast, ["2xf16"], .types(["2xcomplex<f32>"]), declared: ["2xcomplex<f32>"]),
        RuleCase(.cast, ["2xf32"], .fails("expected a tensor"), declared: ["token"]),
        RuleCase(.realPart, ["2xcomplex<f32>"], .types(["2xf32"])),
        RuleCase(.imaginaryPart, ["2xcomplex<f16>"], .types(["2xf16"])),
        RuleCase(.realPart, ["2xf32"], .fails("expected a tensor of complex")),
        RuleCase(.createComplex, ["2xf32", "2xf32"], .types(["2xcomplex<f32>"])),
        RuleCase(.createComplex, ["2xf32", "3xf32"], .fails("shape [3]")),
        RuleCase(.createComplex, ["2xf8E8M0FNU", "2xf8E8M0FNU"], .fails("no complex type")),
        RuleCase(.where, ["2xi1", "2xf32", "2xf32"], .types(["2xf32"])),
        RuleCase(.where, ["i1", "2xf32", "2xf32"], .fails("operand 1")),
        RuleCase(.where, ["2xi1", "2xf32", "3xf32"], .fails("shape [3]")),
        RuleCase(.where, ["2xi1", "2xf32", "2xf16"], .fails("element type f16")),
        RuleCase(.where, ["2xsi32", "2xf32", "2xf32"], .fails("'condition'")),
        RuleCase(.broadcastingWhere, ["2x1xi1", "3xf32", "f32"], .types(["2x3xf32"])),
        RuleCase(.broadcastingWhere, ["2xi1", "3xf32", "f32"], .fails("don't broadcast")),
        RuleCase(.gelu, ["2xf32"], .types(["2xf32"]), attributes: .approximation(.tanh)),
        RuleCase(.gelu, ["2xf32"], .fails("no approximation"), attributes: .padding(.constant)),
        RuleCase(.abs, ["2xf32"], .fails("2 results, expected 1"), declared: ["2xf32", "2xf32"]),
        RuleCase(
            .abs, ["4611686018427387904x4xf32"], .fails("too large")),
        RuleCase(.copy, ["2xi1"], .types(["2xi1"])),
        RuleCase(.copyWithConstraints, ["2x3xf32"], .types(["2x3xf32"])),
        RuleCase(.copyDiscardingConstraints, ["token"], .types(["token"])),
    ]

    @Test("casts, parts, choices", arguments: othersCases)
    func others(rule: RuleCase) throws { try rule.check() }
}
