import CPUDelegate
import CPUKernels
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// Fused products at every level: packed kernels where there are vectors for them, OpenBLAS where there are none.
@Suite struct ProductKernelTests {
    private static let activations: [Activation] = [
        .none, .relu, .sigmoid, .silu, .tanh, .gelu(.none), .gelu(.tanh), .gelu(.sigmoid),
        .clamp(low: -0.5, high: 0.25),
    ]

    @Test func everyEpilogueIsTheSameAtEveryLevel() throws {
        let (m, n, k) = (5, 9, 13)
        try atEachLevel { level in
            // A delegate of its own: what another level packed is not taken.
            let cpu = CPUDelegate()
            var dice = Dice(11)
            for (index, activation) in Self.activations.enumerated() {
                for bits in 0..<16 {
                    var attributes = MatmulAttributes()
                    attributes.activation = activation
                    attributes.transposesX = bits & 1 != 0
                    attributes.transposesY = bits & 2 != 0
                    attributes.hasBias = bits & 4 != 0
                    attributes.hasResidual = bits & 8 != 0
                    let x = try HostTensor(dice.floats(2 * m * k), attributes.transposesX ? [2, k, m] : [2, m, k])
                    let y = try HostTensor(dice.floats(k * n), attributes.transposesY ? [n, k] : [k, n])
                    var operands = [x, y]
                    if attributes.hasBias { operands.append(try HostTensor(dice.floats(n), [n])) }
                    if attributes.hasResidual { operands.append(try HostTensor(dice.floats(2 * m * n), [2, m, n])) }
                    let op = Op(
                        .matmul, operands: operands.indices.map(Value.init), results: [Value(operands.count)],
                        attributes: .matmul(attributes))
                    let result = try cpu.evaluate(
                        op, operands: operands, results: [TensorType([2, m, n], .float32)])
                    let expected = try plain(cpu, operands, attributes, m, n, k)
                    for (given, right) in zip(result[0].floats, expected) {
                        #expect(
                            abs(given - right) <= 1e-5 + 1e-4 * abs(right),
                            "level \(level), activation \(index), options \(bits)")
                    }
                }
            }
        }
    }

    /// The same in single steps: sums in f64, then the activation by its own op.
    private func plain(
        _ cpu: CPUDelegate, _ operands: [HostTensor], _ attributes: MatmulAttributes, _ m: Int, _ n: Int, _ k: Int
    ) throws -> [Float] {
        let (x, y) = (operands[0].floats, operands[1].floats)
        let bias = attributes.hasBias ? operands[2].floats : []
        let residual = attributes.hasResidual ? operands[operands.count - 1].floats : []
        var sums: [Float] = []
        for batch in 0..<2 {
            for row in 0..<m {
                for column in 0..<n {
                    var sum = 0.0
                    for index in 0..<k {
                        let left =
                            attributes.transposesX ? x[(batch * k + index) * m + row] : x[(batch * m + row) * k + index]
                        let right = attributes.transposesY ? y[column * k + index] : y[index * n + column]
                        sum += Double(left) * Double(right)
                    }
                    if attributes.hasBias { sum += Double(bias[column]) }
                    if attributes.hasResidual { sum += Double(residual[(batch * m + row) * n + column]) }
                    sums.append(Float(sum))
                }
            }
        }
        let kind: OpKind
        var approximation = OpAttributes.none
        switch attributes.activation {
        case .none: return sums
        case .clamp(let low, let high): return sums.map { min(max($0, low), high) }
        case .relu: kind = .relu
        case .sigmoid: kind = .sigmoid
        case .silu: kind = .silu
        case .tanh: kind = .tanh
        case .gelu(let form):
            kind = .gelu
            approximation = .approximation(form)
        }
        let op = Op(kind, operands: [Value(0)], results: [Value(1)], attributes: approximation)
        let type = TensorType([sums.count], .float32)
        return try cpu.evaluate(op, operands: [HostTensor(sums, [sums.count])], results: [type])[0].floats
    }
}
