import CPUKernels
import Foundation
import Testing

@Suite struct GEMMTests {
    /// Odd sizes, all transposes, types, levels, batches, packed operands and epilogues, drawn at random.
    @Test(arguments: 1...6) func matchesTheDefinition(seed: Int) throws {
        try atEachLevel { level in
            var noise = Noise(seed: UInt64(seed) * 8 + UInt64(level))
            for _ in 0..<25 {
                let product = Product(&noise)
                try #require(product.run())
                let error = product.largestExcess()
                #expect(error <= 1, "\(product), level \(level): \(error)")
            }
        }
    }

    @Test func longSumsAreCutIntoBlocks() throws {
        try atEachLevel { level in
            var noise = Noise(seed: 77)
            for (m, n, k) in [(5, 40, 800), (16, 33, 385), (30, 17, 1000), (1, 70, 900)] {
                let product = Product(&noise, m: m, n: n, k: k)
                try #require(product.run())
                #expect(product.largestExcess() <= 1, "\(product), level \(level)")
            }
        }
    }

    @Test func emptySumsAreZeros() throws {
        try atEachLevel { _ in
            var noise = Noise(seed: 3)
            for (m, n) in [(1, 1), (3, 70), (20, 40)] {
                let product = Product(&noise, m: m, n: n, k: 0)
                try #require(product.run())
                #expect(product.largestExcess() <= 1)
            }
        }
        var nothing = ck_gemm()
        nothing.k = 4
        nothing.batch = 1
        #expect(ck_gemm_run(&nothing))
    }

    @Test(arguments: [1, 4, 9]) func notANumberStaysInItsRow(m: Int) throws {
        atEachLevel { level in
            let (n, k) = (37, 11)
            let a = Elements(CK_F32, count: m * k) { 1 }
            let b = Elements(CK_F32, count: k * n) { 1 }
            let c = Elements(CK_F32, count: m * n) { 0 }
            a[(m - 1) * k + 3] = .nan
            if m > 1 { a[0] = .infinity }
            var gemm = ck_gemm()
            (gemm.m, gemm.n, gemm.k, gemm.batch) = (m, n, k, 1)
            (gemm.a, gemm.a_type, gemm.lda) = (UnsafeRawPointer(a.memory), CK_F32, k)
            (gemm.b, gemm.b_type, gemm.ldb) = (UnsafeRawPointer(b.memory), CK_F32, n)
            (gemm.c, gemm.c_type, gemm.ldc) = (c.memory, CK_F32, n)
            gemm.epilogue.activation = CK_ACT_RELU
            (gemm.epilogue.clamps, gemm.epilogue.low, gemm.epilogue.high) = (true, -1, .infinity)
            #expect(ck_gemm_run(&gemm))
            for row in 0..<m {
                let values = (0..<n).map { c[row * n + $0] }
                let expected: Float = row == m - 1 ? .nan : row == 0 ? .infinity : 11
                let isRight = values.allSatisfy { $0 == expected || ($0.isNaN && expected.isNaN) }
                #expect(isRight, "row \(row), level \(level)")
            }
        }
    }

    @Test func aPackedOperandOfAnotherShapeIsRefused() {
        atEachLevel { _ in
            let b = Elements(CK_F32, count: 12) { 1 }
            let c = Elements(CK_F32, count: 8) { 0 }
            let packed = UnsafeMutableRawPointer.allocate(
                byteCount: ck_gemm_packed_b_size(CK_F32, 3, 4), alignment: 64)
            defer { packed.deallocate() }
            ck_gemm_pack_b(CK_F32, 3, 4, b.memory, 4, false, packed)
            var gemm = ck_gemm()
            (gemm.m, gemm.n, gemm.k, gemm.batch) = (2, 4, 2, 1)
            (gemm.a, gemm.a_type, gemm.lda) = (UnsafeRawPointer(b.memory), CK_F32, 2)
            gemm.packed_b = UnsafeRawPointer(packed)
            (gemm.c, gemm.c_type, gemm.ldc) = (c.memory, CK_F32, 4)
            #expect(!ck_gemm_run(&gemm))
        }
    }

    @Test(arguments: 0...7) func activationsAreAccurate(raw: UInt32) throws {
        let activation = ck_activation(raw)
        let inputs =
            stride(from: -110.0, through: 110, by: 0.37).map(Float.init)
            + stride(from: -1.0, through: 1, by: 0.013).map(Float.init) + [1e-30, -1e-30, 0, .infinity, .nan]
        atEachLevel { level in
            let c = Elements(CK_F32, count: inputs.count) { 0 }
            let residual = Elements(CK_F32, count: inputs.count) { 0 }
            for (index, value) in inputs.enumerated() { residual[index] = value }
            var gemm = ck_gemm()
            (gemm.m, gemm.n, gemm.k, gemm.batch) = (1, inputs.count, 0, 1)
            (gemm.a_type, gemm.b_type, gemm.ldb) = (CK_F32, CK_F32, inputs.count)
            (gemm.a, gemm.b) = (UnsafeRawPointer(residual.memory), UnsafeRawPointer(residual.memory))
            (gemm.c, gemm.c_type, gemm.ldc) = (c.memory, CK_F32, inputs.count)
            gemm.epilogue.activation = activation
            gemm.epilogue.residual = UnsafeRawPointer(residual.memory)
            (gemm.epilogue.residual_type, gemm.epilogue.residual_ld) = (CK_F32, inputs.count)
            #expect(ck_gemm_run(&gemm))
            for (index, value) in inputs.enumerated() {
                let expected = activated(activation, Double(value))
                // In the far tails the argument's own rounding shows.
                let allowed = 6e-7 * abs(expected) + (abs(value) > 1 ? 1e-9 : 1e-38)
                let isRight = expected.isNaN ? c[index].isNaN : c[index] == Float(expected)
                #expect(
                    isRight || abs(Double(c[index]) - expected) <= allowed,
                    "\(activation) of \(value) at level \(level): \(c[index]), not \(expected)")
            }
        }
    }
}

func activated(_ activation: ck_activation, _ x: Double) -> Double {
    switch activation {
    case CK_ACT_RELU: x.isNaN ? x : max(x, 0)
    case CK_ACT_GELU_ERF: 0.5 * x * erfc(-x * 0.5.squareRoot())
    case CK_ACT_GELU_TANH: x / (1 + exp(-2 * (2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
    case CK_ACT_GELU_SIGMOID: x / (1 + exp(-1.702 * x))
    case CK_ACT_SILU: x / (1 + exp(-x))
    case CK_ACT_SIGMOID: 1 / (1 + exp(-x))
    case CK_ACT_TANH: tanh(x)
    default: x
    }
}
