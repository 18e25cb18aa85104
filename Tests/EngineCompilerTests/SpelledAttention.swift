import EngineDelegation
import EngineGraph
import EngineTestSupport

extension SpelledPattern {
    private typealias Mask = @Sendable (inout FunctionBuilder, Value) -> Value

    private static func attention(
        _ name: String, _ kinds: [OpKind], _ pattern: String?, keys: Int = 5, _ mask: @escaping Mask
    ) -> SpelledPattern {
        SpelledPattern(name, kinds, pattern) {
            let (q, k, v) = ($0.input([2, 3, 4, 6]), $0.input([2, 3, keys, 6]), $0.input([2, 3, keys, 6]))
            $0.output($0.attention(q, k, v, mask))
        }
    }

    private static func grouped(
        _ name: String, _ kinds: [OpKind], _ pattern: String?,
        _ repeated: @escaping @Sendable (inout FunctionBuilder, Value, _ isKey: Bool) -> Value
    ) -> SpelledPattern {
        SpelledPattern(name, kinds, pattern) {
            let (q, k, v) = ($0.input([2, 6, 4, 8]), $0.input([2, 2, 5, 8]), $0.input([2, 2, 5, 8]))
            let (keys, values) = (repeated(&$0, k, true), repeated(&$0, v, false))
            $0.output($0.attention(q, keys, values))
        }
    }

    static let attentions = [
        grouped("groups by tile", [.attention], "attention+groups") { builder, x, _ in builder.repeatedHeads(x, 3) },
        grouped("groups by broadcast", [.attention], "attention+groups") { builder, x, _ in
            builder.repeatedHeads(x, 3, by: .broadcastTo)
        },
        grouped(
            "heads repeated in turn", [.reshape, .tile, .reshape, .reshape, .tile, .reshape, .attention], "attention"
        ) { builder, x, _ in
            // Head 0, head 1, head 0, …: no groups of neighbours.
            let wide = builder.op(
                .tile, builder.reshaped(x, [2, 1, 2, 5, 8]), builder.integers([1, 3, 1, 1, 1]), shape: [2, 3, 2, 5, 8])
            return builder.reshaped(wide, [2, 6, 5, 8])
        },
        SpelledPattern("groups whose heads are stored beside rows", [.attention], "attention+groups") {
            let q = $0.transposed($0.input([2, 4, 6, 8]), [0, 2, 1, 3])
            let k = $0.repeatedHeads($0.transposed($0.input([2, 5, 2, 8]), [0, 2, 1, 3]), 3)
            let v = $0.repeatedHeads($0.transposed($0.input([2, 5, 2, 8]), [0, 2, 1, 3]), 3)
            $0.output($0.transposed($0.attention(q, k, v), [0, 2, 1, 3]))
        },
        SpelledPattern("repeated keys alone", [.reshape, .broadcastTo, .reshape, .attention], "attention") {
            let (q, k, v) = ($0.input([2, 6, 4, 8]), $0.input([2, 2, 5, 8]), $0.input([2, 6, 5, 8]))
            $0.output($0.attention(q, $0.repeatedHeads(k, 3, by: .broadcastTo), v))
        },
        SpelledPattern("half, softmax in single precision", [.attention], "attention", tolerance: 2e-2) {
            let (q, k, v) = (
                $0.input([1, 2, 4, 8], .float16), $0.input([1, 2, 5, 8], .float16), $0.input([1, 2, 5, 8], .float16)
            )
            let scores = $0.op(.broadcastingBatchMatmul, q, $0.transposed(k, [0, 1, 3, 2]), shape: [1, 2, 4, 5])
            let weights = $0.op(.softmax, $0.op(.cast, scores, type: .float32), $0.integer(-1))
            $0.output(
                $0.op(.broadcastingBatchMatmul, $0.op(.cast, weights, type: .float16), v, shape: [1, 2, 4, 8]))
        },
    ]

    /// `where(hides, fill, scores)`, or `where(shows, scores, fill)`.
    private static func choice(_ condition: @escaping Mask, fill: Float, hides: Bool) -> Mask {
        { builder, scores in
            let (mask, low) = (condition(&builder, scores), builder.float(fill))
            return builder.op(
                .broadcastingWhere, hides ? [mask, low, scores] : [mask, scores, low],
                TensorType(builder.shape(scores), .float32))
        }
    }

    static let masks =
        [true, false].map { hides in
            attention(
                "a choice of a run's mask that \(hides ? "hides" : "shows")", [.attention], "attention+mask",
                choice({ builder, _ in builder.input([2, 1, 4, 5], .bool) }, fill: -.infinity, hides: hides))
        } + [
            attention("a mask added", [.attention], "attention+mask") { builder, scores in
                builder.op(.broadcastingAdd, scores, builder.input([2, 1, 1, 5]))
            },
            attention("a causal mask", [.attention], "attention+causal") { builder, scores in
                builder.op(.broadcastingAdd, scores, builder.maskOf(4, 5) { $1 <= $0 })
            },
            attention("a causal mask for the last queries", [.attention], "attention+causal", keys: 7) {
                builder, scores in builder.op(.broadcastingAdd, scores, builder.maskOf(4, 7) { $1 <= $0 + 3 })
            },
            attention(
                "a causal choice", [.attention], "attention+causal",
                choice(
                    { builder, _ in builder.bools((0..<20).map { $0 % 5 > $0 / 5 }, [4, 5]) }, fill: -1e9, hides: true)
            ),
            attention("a window", [.attention], "attention+mask") { builder, scores in
                builder.op(.broadcastingAdd, scores, builder.maskOf(4, 5) { $1 <= $0 && $1 + 2 > $0 })
            },
            attention(
                "a window by choice", [.attention], "attention+mask",
                choice(
                    { builder, _ in builder.bools((0..<20).map { abs($0 % 5 - $0 / 5) < 2 }, [1, 4, 5]) }, fill: -1e30,
                    hides: false)),
            attention("a mask that hides nothing", [.attention], "attention") { builder, scores in
                builder.op(.broadcastingAdd, scores, builder.maskOf(4, 5) { _, _ in true })
            },
            attention("a constant that weighs keys", [.attention], "attention+mask") { builder, scores in
                builder.op(.broadcastingAdd, scores, builder.floats((0..<20).map { Float($0 % 3) }, [4, 5]))
            },
            attention("a row that sees nothing", [.attention], "attention+mask") { builder, scores in
                // Added, the row attends to all keys alike.
                builder.op(.broadcastingAdd, scores, builder.maskOf(4, 5) { row, _ in row != 2 })
            },
            attention(
                "a choice under which a row sees nothing",
                [.matmul, .elementwise, .softmax, .matmul], nil
            ) { builder, scores in
                let hides = builder.bools((0..<20).map { $0 / 5 == 1 }, [4, 5])
                return builder.op(
                    .broadcastingWhere, [hides, builder.float(-1e9), scores],
                    TensorType(builder.shape(scores), .float32))
            },
        ]
}
