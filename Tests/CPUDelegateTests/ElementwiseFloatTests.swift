import CPUKernels
import Foundation
import Testing

@Suite struct ElementwiseFloatTests {
    /// Values where functions turn, at the ends of the range and spread over it.
    static let samples: [Float] = {
        var values: [Float] = [
            0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .leastNormalMagnitude, 0x1p-135, -0x1p-140,
            .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1, -1, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.625,
            88.72283,
            88.72284, -87.33655, -103.97207, -103.97208, -104.5, 1e6, 1e9, -3e20, .pi, .pi / 2, 22, 16_777_216,
            8_388_609,
        ]
        var random = TestRandom(1)
        values += (0..<400).map { _ in Float(bitPattern: UInt32.random(in: 0...UInt32.max, using: &random)) }
        values += (0..<1600).map { _ in Float.random(in: -20...20, using: &random) }
        values += (0..<403).map { _ in Float.random(in: -0.1...0.1, using: &random) }
        return values
    }()

    struct Function: Sendable {
        let op: ck_ew_op
        let ulps: Double
        /// Where the reference itself is below this, only the absolute error counts.
        var floor = 0.0
        let reference: @Sendable (Double) -> Double
    }

    static func sigmoid(_ x: Double) -> Double { x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)) }

    static let functions: [Function] = [
        Function(op: CK_EW_ABS, ulps: 0, reference: abs),
        Function(op: CK_EW_NEG, ulps: 0) { -$0 },
        Function(op: CK_EW_RELU, ulps: 0) { $0.isNaN ? $0 : max(0, $0) },
        Function(op: CK_EW_ROUND, ulps: 0) { $0.rounded(.toNearestOrEven) },
        Function(op: CK_EW_FLOOR, ulps: 0, reference: floor),
        Function(op: CK_EW_CEIL, ulps: 0, reference: ceil),
        Function(op: CK_EW_TRUNC, ulps: 0, reference: trunc),
        Function(op: CK_EW_SQRT, ulps: 0.5) { $0.squareRoot() },
        Function(op: CK_EW_RSQRT, ulps: 1.5) { 1 / $0.squareRoot() },
        Function(op: CK_EW_RECIPROCAL, ulps: 0.5) { 1 / $0 },
        Function(op: CK_EW_EXP, ulps: 1, reference: exp),
        Function(op: CK_EW_LOG, ulps: 1, reference: log),
        Function(op: CK_EW_ERF, ulps: 1.5, reference: erf),
        Function(op: CK_EW_SIN, ulps: 2, reference: sin),
        Function(op: CK_EW_COS, ulps: 2, reference: cos),
        Function(op: CK_EW_TAN, ulps: 2, reference: tan),
        Function(op: CK_EW_ASIN, ulps: 2, reference: asin),
        Function(op: CK_EW_ACOS, ulps: 2, reference: acos),
        Function(op: CK_EW_ATAN, ulps: 2, reference: atan),
        Function(op: CK_EW_SINH, ulps: 3, reference: sinh),
        Function(op: CK_EW_COSH, ulps: 3, reference: cosh),
        Function(op: CK_EW_TANH, ulps: 1.5, reference: tanh),
        Function(op: CK_EW_ASINH, ulps: 3, reference: asinh),
        Function(op: CK_EW_ACOSH, ulps: 3, reference: acosh),
        Function(op: CK_EW_ATANH, ulps: 3, reference: atanh),
        Function(op: CK_EW_SIGMOID, ulps: 3, reference: sigmoid),
        Function(op: CK_EW_SILU, ulps: 4, floor: 1e-36) { $0 * sigmoid($0) },
        Function(op: CK_EW_GELU, ulps: 7, floor: 1e-36) { $0 * 0.5 * erfc(-$0 * 0.5.squareRoot()) },
        Function(op: CK_EW_GELU_TANH, ulps: 5, floor: 1e-36) {
            $0 * sigmoid(2 * (2 / .pi).squareRoot() * ($0 + 0.044715 * $0 * $0 * $0))
        },
        Function(op: CK_EW_GELU_SIGMOID, ulps: 4, floor: 1e-36) { $0 * sigmoid(1.702 * $0) },
    ]

    @Test(arguments: functions.indices) func unary(_ index: Int) throws {
        let function = Self.functions[index], samples = Self.samples
        let wanted = samples.map { function.reference(Double($0)) }
        try atEachLevel { level in
            let got = try apply(function.op, samples, result: Float(0), type: CK_F32)
            for (i, x) in samples.enumerated() {
                let near = abs(wanted[i]) < function.floor && abs(Double(got[i]) - wanted[i]) < function.floor * 1e-4
                let distance = ulps(got[i], wanted[i])
                #expect(
                    distance <= function.ulps || near,
                    "op \(function.op.rawValue) level \(level): f(\(x)) = \(got[i]), \(distance) ulps from \(wanted[i])"
                )
            }
            let double = try apply(function.op, samples.map(Double.init), result: 0.0, type: CK_F64)
            for (i, x) in samples.enumerated() where !(wanted[i].isNaN && double[i].isNaN) {
                let error = abs(double[i] - wanted[i])
                #expect(
                    double[i] == wanted[i] || error <= abs(wanted[i]) * 1e-13 || error < 1e-18,
                    "op \(function.op.rawValue) f64: f(\(x)) = \(double[i]), want \(wanted[i])")
            }
        }
    }

    @Test func signsOfZero() throws {
        let odd = [
            CK_EW_ROUND, CK_EW_CEIL, CK_EW_TRUNC, CK_EW_SQRT, CK_EW_SIN, CK_EW_TAN, CK_EW_TANH, CK_EW_ERF, CK_EW_SINH,
            CK_EW_GELU, CK_EW_SILU,
        ]
        try atEachLevel { _ in
            for op in odd {
                let got = try apply(op, [Float](repeating: -0.0, count: 17), result: Float(1), type: CK_F32)
                #expect(got.allSatisfy { $0 == 0 && $0.sign == .minus }, "op \(op.rawValue)")
            }
            let absolute = try apply(CK_EW_ABS, [Float(-0.0)], result: Float(1), type: CK_F32)
            #expect(absolute[0].sign == .plus)
            let logarithm = try apply(CK_EW_LOG, [Float(-0.0)], result: Float(1), type: CK_F32)
            #expect(logarithm[0] == -.infinity)
        }
    }

    static let pairs: [(op: ck_ew_op, ulps: Double, reference: @Sendable (Double, Double) -> Double)] = [
        (CK_EW_ADD, 0.5, { $0 + $1 }), (CK_EW_SUB, 0.5, { $0 - $1 }), (CK_EW_MUL, 0.5, { $0 * $1 }),
        (CK_EW_DIVIDE, 0.5, { $0 / $1 }), (CK_EW_MODULO, 0.5, { fmod($0, $1) }), (CK_EW_POW, 1, { pow($0, $1) }),
        (CK_EW_FLOOR_DIVIDE, 0.5, { floor(Double(Float($0) / Float($1))) }),
        (CK_EW_MAXIMUM, 0, { $0.isNaN || $1.isNaN ? .nan : max($0, $1) }),
        (CK_EW_MINIMUM, 0, { $0.isNaN || $1.isNaN ? .nan : min($0, $1) }),
    ]

    @Test(arguments: pairs.indices) func binary(_ index: Int) throws {
        let pair = Self.pairs[index]
        let special: [Float] = [
            0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, .infinity, -.infinity, .nan, 0x1p-135, 1e30, -1e30, 2.5, 127, -149,
        ]
        var random = TestRandom(2)
        var a = special.flatMap { x in special.map { _ in x } }, b = special.flatMap { _ in special }
        for _ in 0..<1000 {
            a.append(Float.random(in: 0.001...50, using: &random))
            b.append(Float.random(in: -30...30, using: &random))
        }
        try atEachLevel { level in
            let got = try apply(pair.op, a, b, result: Float(0), type: CK_F32)
            for i in a.indices {
                let want = pair.reference(Double(a[i]), Double(b[i]))
                #expect(
                    ulps(got[i], want) <= pair.ulps,
                    "op \(pair.op.rawValue) level \(level): \(a[i]), \(b[i]) gives \(got[i]), want \(want)")
            }
        }
    }

    @Test func comparisonsWithNaN() throws {
        let a: [Float] = [1, 2, .nan, 1, .nan, 0.0], b: [Float] = [2, 1, 1, .nan, .nan, -0.0]
        let wanted: [(ck_ew_op, [UInt8])] = [
            (CK_EW_EQUAL, [0, 0, 0, 0, 0, 1]), (CK_EW_NOT_EQUAL, [1, 1, 1, 1, 1, 0]),
            (CK_EW_GREATER, [0, 1, 0, 0, 0, 0]), (CK_EW_GREATER_EQUAL, [0, 1, 0, 0, 0, 1]),
            (CK_EW_LESS, [1, 0, 0, 0, 0, 0]), (CK_EW_LESS_EQUAL, [1, 0, 0, 0, 0, 1]),
        ]
        try atEachLevel { _ in
            for (op, want) in wanted {
                let single = try apply(op, a, b, result: UInt8(9), type: CK_BOOL)
                let double = try apply(op, a.map(Double.init), b.map(Double.init), result: UInt8(9), type: CK_BOOL)
                #expect(single == want)
                #expect(double == want)
            }
        }
    }
}
