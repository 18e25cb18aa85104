import CPUKernels

/// One random product with its operands, and what it should come to.
final class Product: CustomStringConvertible {
    private var gemm = ck_gemm()
    private let a, b, c, bias: Elements
    private var residual: Elements?
    private var packed: [UnsafeMutableRawPointer] = []
    private let cBefore: [Double]

    convenience init(_ noise: inout Noise) {
        let m = noise.chance(4) ? 1 + noise.below(60) : 1 + noise.below(9)
        let n = noise.chance(4) ? 1 + noise.below(150) : 1 + noise.below(40)
        self.init(&noise, m: m, n: n, k: noise.below(30), batch: noise.chance(3) ? 1 + noise.below(5) : 1)
    }

    init(_ noise: inout Noise, m: Int, n: Int, k: Int, batch: Int = 1) {
        (gemm.m, gemm.n, gemm.k, gemm.batch) = (m, n, k, batch)
        (gemm.a_transposed, gemm.b_transposed) = (noise.chance(2), noise.chance(2))
        gemm.lda = (gemm.a_transposed ? m : k) + noise.below(3)
        gemm.ldb = (gemm.b_transposed ? k : n) + noise.below(3)
        gemm.ldc = n + (noise.chance(2) ? noise.below(3) : 0)
        let sizes = (gemm.lda * (gemm.a_transposed ? k : m), gemm.ldb * (gemm.b_transposed ? n : k), gemm.ldc * m)
        func elements(_ count: Int) -> Elements {
            Elements(noise.pick(floatTypes), count: count) { noise.value() }
        }
        (a, b, c) = (elements(sizes.0 * batch), elements(sizes.1 * batch), elements(sizes.2 * batch))
        (gemm.a_type, gemm.b_type, gemm.c_type) = (a.type, b.type, c.type)
        (gemm.a_stride, gemm.b_stride) = (noise.chance(3) ? 0 : sizes.0, noise.chance(2) ? 0 : sizes.1)
        gemm.c_stride = sizes.2
        (gemm.a, gemm.b, gemm.c) = (UnsafeRawPointer(a.memory), UnsafeRawPointer(b.memory), c.memory)
        cBefore = c.doubles
        bias = Elements(CK_F32, count: max(m, n)) { noise.value() }
        chooseEpilogue(&noise)
        if noise.chance(3) { packA() }
        if noise.chance(3) { packB() }
    }

    deinit { for pointer in packed { pointer.deallocate() } }

    private func chooseEpilogue(_ noise: inout Noise) {
        if noise.chance(2) {
            (gemm.epilogue.bias, gemm.epilogue.bias_per_row) = (UnsafePointer(bias.floats), noise.chance(2))
        }
        if noise.chance(2) { gemm.epilogue.activation = ck_activation(UInt32(noise.below(8))) }
        if noise.chance(4) { (gemm.epilogue.clamps, gemm.epilogue.low, gemm.epilogue.high) = (true, -0.5, 1.5) }
        switch noise.below(4) {
        case 0:
            let rows = gemm.m * gemm.batch
            let own = Elements(noise.pick(floatTypes), count: rows * (gemm.n + 1)) { noise.value() }
            residual = own
            gemm.epilogue.residual = UnsafeRawPointer(own.memory)
            (gemm.epilogue.residual_type, gemm.epilogue.residual_ld) = (own.type, gemm.n + 1)
            gemm.epilogue.residual_stride = noise.chance(2) ? 0 : gemm.m * (gemm.n + 1)
        case 1:
            gemm.epilogue.residual = UnsafeRawPointer(c.memory)
            (gemm.epilogue.residual_type, gemm.epilogue.residual_ld) = (c.type, gemm.ldc)
            gemm.epilogue.residual_stride = gemm.c_stride
        default: break
        }
    }

    private func packA() {
        let size = (ck_gemm_packed_a_size(gemm.m, gemm.k) + 63) / 64 * 64
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size * gemm.batch, alignment: 64)
        for index in 0..<gemm.batch {
            let from = a.memory + index * gemm.a_stride * ck_type_size(a.type)
            ck_gemm_pack_a(a.type, gemm.m, gemm.k, from, gemm.lda, gemm.a_transposed, memory + index * size)
        }
        packed.append(memory)
        (gemm.packed_a, gemm.packed_a_stride) = (UnsafeRawPointer(memory), size)
    }

    private func packB() {
        let size = (ck_gemm_packed_b_size(b.type, gemm.k, gemm.n) + 63) / 64 * 64
        let count = gemm.b_stride == 0 ? 1 : gemm.batch
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size * count, alignment: 64)
        for index in 0..<count {
            let from = b.memory + index * gemm.b_stride * ck_type_size(b.type)
            ck_gemm_pack_b(b.type, gemm.k, gemm.n, from, gemm.ldb, gemm.b_transposed, memory + index * size)
        }
        packed.append(memory)
        (gemm.packed_b, gemm.packed_b_stride) = (UnsafeRawPointer(memory), count == 1 ? 0 : size)
    }

    func run() -> Bool { ck_gemm_run(&gemm) }

    /// The largest error of any element, 1 being what is allowed.
    func largestExcess() -> Double {
        let (x, y, biases, residuals) = (a.doubles, b.doubles, bias.doubles, residual?.doubles ?? cBefore)
        let epilogue = gemm.epilogue
        var worst = 0.0
        for z in 0..<gemm.batch {
            for i in 0..<gemm.m {
                for j in 0..<gemm.n {
                    var (sum, terms) = (0.0, 1.0)
                    for s in 0..<gemm.k {
                        let left = x[z * gemm.a_stride + (gemm.a_transposed ? s * gemm.lda + i : i * gemm.lda + s)]
                        let right = y[z * gemm.b_stride + (gemm.b_transposed ? j * gemm.ldb + s : s * gemm.ldb + j)]
                        sum += left * right
                        terms += abs(left * right)
                    }
                    if epilogue.bias != nil { sum += biases[epilogue.bias_per_row ? i : j] }
                    if epilogue.residual != nil {
                        sum += residuals[z * epilogue.residual_stride + i * epilogue.residual_ld + j]
                    }
                    var expected = activated(epilogue.activation, sum)
                    if epilogue.clamps { expected = min(max(expected, -0.5), 1.5) }
                    let value = c[z * gemm.c_stride + i * gemm.ldc + j]
                    worst = max(worst, excess(of: value, from: expected, terms: terms, precision: c.precision))
                }
            }
        }
        return worst
    }

    var description: String {
        """
        \(gemm.m)×\(gemm.n)×\(gemm.k) ×\(gemm.batch), transposed \(gemm.a_transposed) \(gemm.b_transposed), \
        types \(a.type) \(b.type) \(c.type), packed \(gemm.packed_a != nil) \(gemm.packed_b != nil), \
        \(gemm.epilogue.activation)
        """
    }
}
