import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// A part, and what fusion makes of it.
struct SpelledPattern: Sendable, CustomTestStringConvertible {
    let name: String
    /// The kinds of the fused ops.
    let kinds: [OpKind]
    /// The name of the last one's pattern.
    let pattern: String?
    /// How far results may be from those of the ops one by one.
    let tolerance: Float
    let build: @Sendable (inout FunctionBuilder) -> Void

    init(
        _ name: String, _ kinds: [OpKind], _ pattern: String? = nil, tolerance: Float = 2e-4,
        _ build: @escaping @Sendable (inout FunctionBuilder) -> Void
    ) {
        self.name = name
        self.kinds = kinds
        self.pattern = pattern
        self.tolerance = tolerance
        self.build = build
    }

    var testDescription: String { name }

    func builder() -> FunctionBuilder {
        var builder = FunctionBuilder()
        build(&builder)
        return builder
    }
}

extension SpelledPattern {
    static let all = norms + groups + attentions + masks + rotaries + epilogues + chains

    static let norms =
        FunctionBuilder.Deviation.allCases.flatMap { deviation in
            [
                SpelledPattern("layer norm by \(deviation)", [.layerNorm], "layer_norm") {
                    let x = $0.input([2, 3, 8])
                    $0.output($0.normalized(x, axisCount: 1, deviation, squares: .broadcastingPow))
                },
                SpelledPattern("RMS norm by \(deviation)", [.rmsNorm], "rms_norm") {
                    let x = $0.input([2, 3, 8])
                    $0.output(
                        $0.op(.broadcastingMul, $0.normalized(x, axisCount: 1, isRMS: true, deviation), $0.input([8])))
                },
            ]
        } + [
            SpelledPattern("half layer norm", [.layerNorm], "layer_norm", tolerance: 1e-2) {
                let x = $0.input([2, 3, 8], .float16)
                let normal = $0.widened(x) { $0.normalized($1, axisCount: 1) }
                let scaled = $0.op(.broadcastingMul, normal, $0.input([8], .float16))
                $0.output($0.op(.broadcastingAdd, scaled, $0.input([8], .float16)))
            },
            SpelledPattern("half norm with a wide factor", [.rmsNorm], "rms_norm", tolerance: 1e-2) {
                let (x, gamma) = ($0.input([2, 3, 8], .bfloat16), $0.input([8]))
                $0.output(
                    $0.widened(x) { $0.op(.broadcastingMul, $0.normalized($1, axisCount: 1, isRMS: true), gamma) })
            },
            SpelledPattern("norm of a sum", [.layerNorm], "layer_norm+residual") {
                let sum = $0.op(.broadcastingAdd, $0.input([4, 8]), $0.input([4, 8]))
                $0.output($0.op(.broadcastingAdd, $0.normalized(sum, axisCount: 1), $0.input([8])))
            },
            SpelledPattern("norm of a sum read elsewhere", [.broadcastingAdd, .layerNorm], "layer_norm") {
                let sum = $0.op(.broadcastingAdd, $0.input([4, 8]), $0.input([4, 8]))
                $0.output($0.normalized(sum, axisCount: 1), sum)
            },
            SpelledPattern("norm of a broadcast sum", [.broadcastingAdd, .layerNorm], "layer_norm") {
                $0.output($0.normalized($0.op(.broadcastingAdd, $0.input([4, 8]), $0.input([8])), axisCount: 1))
            },
        ]

    static let groups = [
        SpelledPattern("group norm", [.groupNorm], "group_norm") {
            $0.output(
                $0.groupNorm(
                    $0.input([2, 6, 4, 3]), groups: 3, gamma: $0.input([6, 1, 1]), beta: $0.input([6, 1, 1])))
        },
        SpelledPattern("group norm of rows", [.groupNorm], "group_norm") {
            $0.output($0.groupNorm($0.input([2, 6]), groups: 3, gamma: $0.input([6]), beta: $0.input([6])))
        },
        SpelledPattern("half group norm", [.groupNorm], "group_norm", tolerance: 1e-2) {
            let split = $0.reshaped($0.input([2, 6, 4], .float16), [2, 2, 3, 4])
            let wide = $0.op(.cast, split, type: .float32)
            let normal = $0.op(.cast, $0.reshaped($0.normalized(wide, axisCount: 2), [2, 6, 4]), type: .float16)
            $0.output($0.op(.broadcastingMul, normal, $0.input([6, 1], .float16)))
        },
        SpelledPattern("instance norm", [.groupNorm], "instance_norm") {
            let normal = $0.normalized($0.input([2, 6, 4, 3]), axisCount: 2)
            $0.output(
                $0.op(.broadcastingAdd, $0.op(.broadcastingMul, normal, $0.input([6, 1, 1])), $0.input([6, 1, 1])))
        },
        SpelledPattern("instance norm, shifted only", [.groupNorm], "instance_norm") {
            $0.output($0.op(.broadcastingAdd, $0.normalized($0.input([2, 6, 4]), axisCount: 1), $0.input([1, 6, 1])))
        },
        SpelledPattern("RMS norm with a factor a channel", [.rmsNorm, .broadcastingMul]) {
            let normal = $0.normalized($0.input([2, 6, 4]), axisCount: 1, isRMS: true)
            $0.output($0.op(.broadcastingMul, normal, $0.input([6, 1])))
        },
        SpelledPattern("groups put together otherwise", [.reshape, .layerNorm, .reshape, .broadcastingMul]) {
            // The channels of the result are not those of the input.
            let normal = $0.normalized($0.reshaped($0.input([2, 6, 4]), [2, 3, 2, 4]), axisCount: 2)
            $0.output($0.op(.broadcastingMul, $0.reshaped(normal, [2, 4, 6]), $0.input([4, 1])))
        },
    ]

    static let rotaries = [
        SpelledPattern("rotary", [.rotary], "rotary") {
            $0.output($0.rotary($0.input([2, 3, 4, 8]), $0.input([1, 1, 4, 8]), $0.input([4, 8])))
        },
        SpelledPattern("rotary, a table a batch", [.rotary], "rotary") {
            $0.output($0.rotary($0.input([2, 3, 4, 8]), $0.input([2, 1, 4, 8]), $0.input([2, 1, 4, 8])))
        },
        SpelledPattern("rotary by halves", [.rotary], "rotary") {
            $0.output($0.rotaryByHalves($0.input([2, 3, 4, 8]), $0.input([4, 4]), $0.input([1, 4, 4])))
        },
        SpelledPattern("half rotary", [.rotary], "rotary", tolerance: 1e-1) {
            let x = $0.input([3, 4, 8], .bfloat16)
            $0.output($0.rotaryByHalves(x, $0.input([4, 4], .bfloat16), $0.input([4, 4], .bfloat16)))
        },
        SpelledPattern("halves in the wrong order", [.slice, .slice, .elementwise, .concat, .elementwise]) {
            let x = $0.input([4, 8])
            let (low, high) = $0.halves(x)
            let turned = $0.op(
                .concat, [$0.integer(1), $0.op(.broadcastingMul, $0.op(.abs, low), $0.float(-1)), high],
                TensorType([4, 8], .float32))
            $0.output(
                $0.op(
                    .broadcastingAdd, $0.op(.broadcastingMul, x, $0.input([4, 8])),
                    $0.op(.broadcastingMul, turned, $0.input([4, 8]))))
        },
    ]

    static let epilogues = [
        SpelledPattern("bias behind a reshape", [.convolution, .reshape], nil) {
            let result = $0.op(
                .conv2d, $0.input([1, 2, 1, 6]), $0.input([3, 2, 1, 3]), $0.integers([1, 1]), $0.integers([1, 1]),
                $0.integer(1), shape: [1, 3, 1, 4])
            $0.output($0.op(.relu, $0.op(.broadcastingAdd, $0.reshaped(result, [1, 3, 4]), $0.input([3, 1]))))
        },
        SpelledPattern("bias of another dimension behind a reshape", [.matmul, .reshape, .broadcastingAdd]) {
            let product = $0.op(.batchMatmul, $0.input([4, 3]), $0.input([3, 4]), shape: [4, 4])
            $0.output($0.op(.broadcastingAdd, $0.reshaped(product, [2, 2, 4]), $0.input([2, 1])))
        },
        SpelledPattern("residual behind a reshape", [.matmul, .reshape]) {
            let residual = $0.input([2, 2, 4])
            let product = $0.op(.batchMatmul, $0.input([4, 3]), $0.input([3, 4]), shape: [4, 4])
            $0.output($0.op(.broadcastingAdd, residual, $0.reshaped(product, [2, 2, 4])))
        },
        SpelledPattern("residual made after the reshape", [.matmul, .reshape, .abs, .broadcastingAdd]) {
            let product = $0.op(.batchMatmul, $0.input([4, 3]), $0.input([3, 4]), shape: [4, 4])
            let view = $0.reshaped(product, [2, 2, 4])
            let late = $0.op(.abs, $0.input([2, 2, 4]))
            $0.output($0.op(.broadcastingAdd, late, view), late)
        },
        SpelledPattern("residual with one dimension more", [.matmul], "matmul+bias+residual") {
            let residual = $0.input([1, 4, 4])
            let product = $0.op(.batchMatmul, $0.input([4, 3]), $0.input([3, 4]), shape: [4, 4])
            $0.output($0.op(.broadcastingAdd, residual, $0.op(.broadcastingAdd, product, $0.input([4]))))
        },
        SpelledPattern("transposed convolution", [.convolution], "convolution+bias+relu") {
            let result = $0.op(
                .convTranspose2d,
                [
                    $0.input([1, 2, 3, 3]), $0.input([2, 4, 2, 2]), $0.integers([2, 2]), $0.integers([0, 0]),
                    $0.integers([1, 1]), $0.integers([0, 0]), $0.integer(1),
                ], TensorType([1, 4, 6, 6], .float32))
            $0.output($0.op(.relu, $0.op(.broadcastingAdd, result, $0.input([1, 4, 1, 1]))))
        },
        SpelledPattern("written-out gelu", [.matmul], "matmul+gelu") {
            $0.output($0.writtenGelu($0.op(.batchMatmul, $0.input([4, 3]), $0.input([3, 4]), shape: [4, 4])))
        },
        SpelledPattern("written-out silu", [.matmul], "matmul+silu") {
            let product = $0.op(.batchMatmul, $0.input([4, 3]), $0.input([3, 4]), shape: [4, 4])
            $0.output($0.op(.mul, product, $0.op(.sigmoid, product)))
        },
        SpelledPattern("quick gelu", [.matmul], "matmul+gelu") {
            let product = $0.op(.batchMatmul, $0.input([4, 3]), $0.input([3, 4]), shape: [4, 4])
            $0.output($0.op(.mul, product, $0.op(.sigmoid, $0.op(.broadcastingMul, product, $0.float(1.702)))))
        },
        SpelledPattern("no gelu", [.matmul, .elementwise]) {
            let product = $0.op(.batchMatmul, $0.input([4, 3]), $0.input([3, 4]), shape: [4, 4])
            let erf = $0.op(.erf, $0.op(.broadcastingDivide, product, $0.float(2)))
            $0.output(
                $0.op(.mul, $0.op(.broadcastingMul, product, $0.float(0.5)), $0.op(.broadcastingAdd, erf, $0.float(1))))
        },
    ]

    static let chains = [
        SpelledPattern("paths that meet again", [.elementwise], "elementwise") {
            $0.output($0.softplus($0.input([3, 4])))
        },
        SpelledPattern("a path that leaves", [.broadcastingMul, .elementwise]) {
            let scaled = $0.op(.broadcastingMul, $0.input([4]), $0.float(2))
            $0.output($0.op(.add, $0.op(.exp, scaled), $0.op(.abs, scaled)), scaled)
        },
        SpelledPattern("one dimension more", [.elementwise]) {
            let row = $0.op(.exp, $0.input([4]))
            $0.output($0.op(.broadcastingAdd, row, $0.input([1, 4]), shape: [1, 4]))
        },
    ]
}
