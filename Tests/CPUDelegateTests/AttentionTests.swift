import CPUKernels
import Foundation
import Testing

/// One attention with random operands in random layouts, and what it should come to.
private final class AttentionCase: CustomStringConvertible {
    private var attention = ck_attention()
    private let q, k, v, out: Elements
    private var mask: Elements?
    private var hidden: [UInt8] = []

    init(_ noise: inout Noise, queries: Int, keys: Int, masked: Bool, causal: Bool) {
        attention.batch = 1 + noise.below(2)
        attention.kv_heads = 1 + noise.below(2)
        attention.heads = attention.kv_heads * (1 + noise.below(3))
        (attention.queries, attention.keys) = (queries, keys)
        (attention.depth, attention.value_depth) = (1 + noise.below(20), 1 + noise.below(20))
        attention.scale = noise.chance(2) ? 1 : 0.3
        attention.causal = causal
        attention.causal_offset = noise.chance(2) ? keys - queries : noise.below(5) - 2
        func elements(_ heads: Int, _ rows: Int, _ depth: Int, in batch: Int) -> Elements {
            Elements(noise.pick(floatTypes), count: batch * heads * rows * depth) { noise.value() }
        }
        let batch = attention.batch
        q = elements(attention.heads, queries, attention.depth, in: batch)
        k = elements(attention.kv_heads, keys, attention.depth, in: batch)
        v = elements(attention.kv_heads, keys, attention.value_depth, in: batch)
        out = elements(attention.heads, queries, attention.value_depth, in: batch)
        (attention.q_type, attention.k_type) = (q.type, k.type)
        (attention.v_type, attention.out_type) = (v.type, out.type)
        attention.q_stride = Self.layout(&noise, attention.heads, queries, attention.depth)
        attention.k_stride = Self.layout(&noise, attention.kv_heads, keys, attention.depth)
        attention.v_stride = Self.layout(&noise, attention.kv_heads, keys, attention.value_depth)
        attention.out_stride = Self.layout(&noise, attention.heads, queries, attention.value_depth)
        (attention.q, attention.k) = (UnsafeRawPointer(q.memory), UnsafeRawPointer(k.memory))
        (attention.v, attention.out) = (UnsafeRawPointer(v.memory), out.memory)
        if masked { chooseMask(&noise) }
    }

    /// Strides of batch, head, row, element: rows by head, heads by row, or columns first.
    private static func layout(_ noise: inout Noise, _ heads: Int, _ rows: Int, _ depth: Int) -> (Int, Int, Int, Int) {
        noise.pick([
            (heads * rows * depth, rows * depth, depth, 1), (heads * rows * depth, depth, heads * depth, 1),
            (heads * rows * depth, rows * depth, 1, rows),
        ])
    }

    private func chooseMask(_ noise: inout Noise) {
        let (keys, rows) = (attention.keys, noise.chance(2) ? 1 : attention.queries)
        let heads = noise.chance(2) ? 1 : attention.heads
        attention.mask_stride = (0, heads == 1 ? 0 : rows * keys, rows == 1 ? 0 : keys, 1)
        if noise.chance(2) {
            let own = Elements(noise.pick(floatTypes), count: heads * rows * keys) {
                noise.chance(5) ? -.infinity : noise.value()
            }
            (attention.mask, attention.mask_type) = (UnsafeRawPointer(own.memory), own.type)
            mask = own
        } else {
            hidden = (0..<heads * rows * keys).map { _ in noise.chance(3) ? 0 : 1 }
            attention.mask_type = CK_BOOL
        }
    }

    func run() -> Bool {
        hidden.withUnsafeBytes {
            if attention.mask_type == CK_BOOL { attention.mask = $0.isEmpty ? nil : $0.baseAddress }
            return ck_attention_run(&attention)
        }
    }

    private func index(_ s: (Int, Int, Int, Int), _ b: Int, _ h: Int, _ r: Int, _ d: Int) -> Int {
        b * s.0 + h * s.1 + r * s.2 + d * s.3
    }

    private func score(_ b: Int, _ h: Int, _ i: Int, _ j: Int) -> Double {
        let a = attention
        if a.causal, j > i + a.causal_offset { return -.infinity }
        let place = index(a.mask_stride, b, h, i, j)
        if !hidden.isEmpty, hidden[place] == 0 { return -.infinity }
        var sum = 0.0
        for d in 0..<a.depth {
            let left = q[index(a.q_stride, b, h, i, d)]
            sum += Double(left) * Double(k[index(a.k_stride, b, h / (a.heads / a.kv_heads), j, d)])
        }
        return sum * Double(a.scale) + (mask.map { Double($0[place]) } ?? 0)
    }

    /// The largest error of any element, 1 being what is allowed.
    func largestExcess() -> Double {
        let a = attention
        var worst = 0.0
        for (b, h) in (0..<a.batch).flatMap({ b in (0..<a.heads).map { (b, $0) } }) {
            for i in 0..<a.queries {
                let scores = (0..<a.keys).map { score(b, h, i, $0) }
                let top = scores.max() ?? 0
                let weights = scores.map { top == -.infinity ? 0 : exp($0 - top) }
                let total = weights.reduce(0, +)
                for d in 0..<a.value_depth {
                    var expected = 0.0
                    for j in 0..<a.keys {
                        let value = v[index(a.v_stride, b, h / (a.heads / a.kv_heads), j, d)]
                        expected += weights[j] / max(total, .leastNormalMagnitude) * Double(value)
                    }
                    let result = out[index(a.out_stride, b, h, i, d)]
                    worst = max(worst, excess(of: result, from: expected, terms: 4, precision: out.precision))
                }
            }
        }
        return worst
    }

    var description: String { "\(attention)" }
}

@Suite struct AttentionTests {
    /// Few queries and many, grouped heads, layouts, types, masks and the causal rule; hidden rows come out as zeros.
    @Test(arguments: [(false, false), (true, false), (false, true), (true, true)])
    func matchesTheDefinition(masked: Bool, causal: Bool) throws {
        try atEachLevel { level in
            var noise = Noise(seed: 90 + UInt64(level))
            for (queries, keys) in [(1, 1), (1, 19), (3, 30), (5, 7), (17, 33), (37, 12)] {
                for _ in 0..<2 {
                    let this = AttentionCase(&noise, queries: queries, keys: keys, masked: masked, causal: causal)
                    try #require(this.run())
                    let error = this.largestExcess()
                    #expect(error <= 1, "\(this), level \(level): \(error)")
                }
            }
        }
    }

    @Test func blocksOfKeysAreJoined() throws {
        try atEachLevel { level in
            var noise = Noise(seed: 4)
            for (queries, keys) in [(1, 1100), (6, 600)] {
                let this = AttentionCase(&noise, queries: queries, keys: keys, masked: true, causal: level == 1)
                try #require(this.run())
                #expect(this.largestExcess() <= 1, "\(this), level \(level)")
            }
        }
    }

    @Test func headsMustBeAMultiple() {
        var attention = ck_attention()
        (attention.batch, attention.heads, attention.kv_heads) = (1, 3, 2)
        (attention.queries, attention.keys, attention.depth, attention.value_depth) = (1, 1, 1, 1)
        #expect(!ck_attention_run(&attention))
    }
}
