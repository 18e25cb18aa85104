import CPUKernels
import Testing

@Suite struct ReduceTests {
    static let shapes: [[Int]] = [
        [1], [7], [5000], [3, 4], [2, 600], [130, 5], [40, 131], [2, 3, 4], [3, 40, 5], [2, 3, 4, 5], [4, 1, 3, 2, 3],
    ]

    /// The elements that go into each result, in the order of the results.
    static func groups(_ shape: [Int], axes: UInt32) -> [[Int]] {
        var keys: [Int] = [0]
        for (d, extent) in shape.enumerated() {
            let reduced = axes >> UInt32(d) & 1 == 1
            keys = keys.flatMap { key in (0..<extent).map { reduced ? key : key * extent + $0 } }
        }
        var result = [[Int]](repeating: [], count: (keys.max() ?? 0) + 1)
        for (index, key) in keys.enumerated() { result[key].append(index) }
        return result
    }

    @Test(arguments: floatTypes) func floats(_ type: ck_type) {
        var noise = Noise(seed: 5)
        for shape in Self.shapes {
            let count = shape.reduce(1, *), input = Elements(type, count: count) { noise.value() }
            let values = input.doubles, extents = shape.map(Int64.init)
            for axes in 0..<(UInt32(1) << UInt32(shape.count)) {
                let groups = Self.groups(shape, axes: axes).map { $0.map { values[$0] } }
                let output = Elements(type, count: groups.count) { 0 }
                func check(_ op: ck_reduce_op, _ reference: ([Double]) -> Double) {
                    let want = groups.map(reference), sizes = groups.map { $0.reduce(0) { $0 + abs($1) } }
                    atEachLevel { level in
                        let done = ck_reduce_axes(
                            op, type, output.memory, input.memory, Int32(shape.count), extents, axes)
                        let fits = want.indices.allSatisfy {
                            let allowed = output.precision * abs(want[$0]) + 1e-6 * sizes[$0] + 1e-7
                            return abs(Double(output[$0]) - want[$0]) <= allowed
                        }
                        #expect(done && fits, "op \(op.rawValue) \(shape) \(axes) level \(level)")
                    }
                }
                check(CK_REDUCE_SUM) { $0.reduce(0, +) }
                check(CK_REDUCE_MEAN) { $0.reduce(0, +) / Double($0.count) }
                check(CK_REDUCE_MAX) { $0.max()! }
                check(CK_REDUCE_MIN) { $0.min()! }
                check(CK_REDUCE_SUM_SQUARES) { $0.reduce(0) { $0 + $1 * $1 } }
                if groups[0].count < 20 && type == CK_F32 { check(CK_REDUCE_PRODUCT) { $0.reduce(1, *) } }
            }
        }
    }

    static func integers<T: FixedWidthInteger & KernelElement>(_: T.Type) {
        var noise = Noise(seed: 6)
        atEachLevel { level in
            for shape in shapes where shape.reduce(1, *) < 1500 {
                let input = (0..<shape.reduce(1, *)).map { _ in T(truncatingIfNeeded: noise.next() &* 0x9E37_79B9) }
                for axes in 1..<(UInt32(1) << UInt32(shape.count)) {
                    let groups = groups(shape, axes: axes)
                    let operations: [(ck_reduce_op, T, (T, T) -> T)] = [
                        (CK_REDUCE_SUM, 0, { $0 &+ $1 }), (CK_REDUCE_PRODUCT, 1, { $0 &* $1 }),
                        (CK_REDUCE_MAX, .min, { max($0, $1) }), (CK_REDUCE_MIN, .max, { min($0, $1) }),
                    ]
                    for (op, start, join) in operations {
                        var got = [T](repeating: 77, count: groups.count)
                        let done = ck_reduce_axes(
                            op, T.kernelType, &got, input, Int32(shape.count), shape.map(Int64.init), axes)
                        let want = groups.map { $0.reduce(start) { join($0, input[$1]) } }
                        #expect(done && got == want, "\(T.self) op \(op.rawValue) \(shape) \(axes) level \(level)")
                    }
                }
            }
        }
    }

    @Test func integerTypes() {
        Self.integers(Int8.self)
        Self.integers(UInt16.self)
        Self.integers(Int32.self)
        Self.integers(UInt64.self)
    }

    /// Adding one by one in f32 would be off by percents.
    @Test func longSums() {
        let count = 3_000_001
        let input = [Float](repeating: 0.1, count: count)
        let want = Double(Float(0.1)) * Double(count)
        atEachLevel { level in
            var sum: Float = 0, columns = [Float](repeating: 0, count: 3)
            #expect(ck_reduce(CK_REDUCE_SUM, CK_F32, &sum, input, 1, count, 1) == true)
            #expect(abs(Double(sum) - want) < want * 1e-6, "level \(level)")
            #expect(ck_reduce(CK_REDUCE_MEAN, CK_F32, &columns, input, 1, count / 3, 3) == true)
            for mean in columns { #expect(abs(mean - 0.1) < 2e-8, "level \(level)") }
        }
    }

    @Test func nothingAndNaN() {
        atEachLevel { _ in
            let empty: [(ck_reduce_op, Float)] = [
                (CK_REDUCE_SUM, 0), (CK_REDUCE_PRODUCT, 1), (CK_REDUCE_MAX, -.infinity), (CK_REDUCE_MIN, .infinity),
            ]
            for (op, want) in empty {
                var got = [Float](repeating: 5, count: 2)
                #expect(ck_reduce_axes(op, CK_F32, &got, [Float](), 2, [2, 0], 2) == true)
                #expect(got == [want, want])
            }
            var mean: UInt16 = 0, least = Int8(0), greatest = UInt16(0), any: UInt8 = 7, all: UInt8 = 7
            #expect(ck_reduce(CK_REDUCE_MEAN, CK_F16, &mean, [UInt16](), 1, 0, 1) == true)
            #expect(ck_f16_to_f32(mean).isNaN)
            #expect(ck_reduce(CK_REDUCE_MAX, CK_I8, &least, [Int8](), 1, 0, 1) == true)
            #expect(ck_reduce(CK_REDUCE_MIN, CK_U16, &greatest, [UInt16](), 1, 0, 1) == true)
            #expect(least == .min && greatest == .max)
            #expect(ck_reduce(CK_REDUCE_ANY, CK_BOOL, &any, [UInt8](), 1, 0, 1) == true)
            #expect(ck_reduce(CK_REDUCE_ALL, CK_BOOL, &all, [UInt8](), 1, 0, 1) == true)
            #expect(any == 0 && all == 1)
            for count in [3, 40, 5000] {
                for place in [0, count / 2, count - 1] {
                    var row = [Float](repeating: 1, count: count), got: Float = 0
                    row[place] = .nan
                    for op in [CK_REDUCE_MAX, CK_REDUCE_MIN, CK_REDUCE_SUM] {
                        #expect(ck_reduce(op, CK_F32, &got, row, 1, count, 1) == true)
                        #expect(got.isNaN, "op \(op.rawValue)")
                        var wide = row.map(Double.init), double = 0.0
                        #expect(ck_reduce(op, CK_F64, &double, &wide, 1, count, 1) == true)
                        #expect(double.isNaN)
                        var columns = [Float](repeating: 0, count: 2)
                        #expect(ck_reduce(op, CK_F32, &columns, row + row, 1, count, 2) == true)
                        #expect(columns.contains { $0.isNaN })
                    }
                }
            }
            #expect(ck_reduce(CK_REDUCE_MEAN, CK_I32, &least, [Int32(1)], 1, 1, 1) == false)
            #expect(ck_reduce(CK_REDUCE_ANY, CK_F32, &least, [Float(1)], 1, 1, 1) == false)
        }
    }

    @Test func bools() {
        var noise = Noise(seed: 7)
        let shape = [5, 40, 3], input = (0..<600).map { _ in UInt8(noise.chance(15) ? 1 : 0) }
        atEachLevel { _ in
            for axes in UInt32(1)..<8 {
                let groups = Self.groups(shape, axes: axes)
                var any = [UInt8](repeating: 9, count: groups.count), all = any, inverse = input.map { 1 - $0 }
                #expect(ck_reduce_axes(CK_REDUCE_ANY, CK_BOOL, &any, input, 3, shape.map(Int64.init), axes) == true)
                #expect(ck_reduce_axes(CK_REDUCE_ALL, CK_BOOL, &all, &inverse, 3, shape.map(Int64.init), axes) == true)
                let want = groups.map { $0.contains { input[$0] != 0 } ? UInt8(1) : 0 }
                #expect(any == want && all == want.map { 1 - $0 })
            }
        }
    }

    static func arguments<T: KernelElement>(_ values: [T], _ outer: Int, _ count: Int, _ inner: Int, level: Int32) {
        for greatest in [true, false] {
            var got = [UInt32](repeating: 99, count: outer * inner)
            #expect(ck_arg_reduce(greatest, T.kernelType, &got, values, outer, count, inner, nil, 0) == true)
            for o in 0..<outer {
                for i in 0..<inner {
                    var best = 0, found = false
                    for r in 0..<count {
                        let x = values[(o * count + r) * inner + i], y = values[(o * count + best) * inner + i]
                        if x == x && (!found || (greatest ? x > y : x < y)) { (best, found) = (r, true) }
                    }
                    #expect(got[o * inner + i] == best, "\(T.self) \(outer) \(count) \(inner) level \(level)")
                }
            }
        }
    }

    @Test func argumentOfTheGreatest() {
        var noise = Noise(seed: 8)
        atEachLevel { level in
            for (outer, count, inner) in [(3, 5, 1), (2, 3000, 1), (1, 40, 7), (2, 300, 200), (4, 1, 1), (1, 17, 1)] {
                let small = (0..<outer * count * inner).map { _ in noise.below(50) }
                Self.arguments(small.map(Int8.init), outer, count, inner, level: level)
                Self.arguments(small.map(UInt64.init), outer, count, inner, level: level)
                Self.arguments(small.map { $0 == 49 ? Float.nan : Float($0) }, outer, count, inner, level: level)
                Self.arguments(small.map { $0 == 0 ? Double.nan : Double($0) }, outer, count, inner, level: level)
            }
            var got: UInt32 = 9, bound: Float = 100
            #expect(ck_arg_reduce(true, CK_F32, &got, [Float.nan, 3, 50], 1, 3, 1, &bound, 7) == true)
            #expect(got == 7)
            #expect(ck_arg_reduce(true, CK_F32, &got, [Float.nan, -.infinity], 1, 2, 1, nil, 0) == true)
            #expect(got == 0)
            let halves: [UInt16] = [0x3c00, 0x4000, 0x4000, 0x7e00]
            #expect(ck_arg_reduce(true, CK_F16, &got, halves, 1, 4, 1, nil, 0) == true)
            #expect(got == 1)
        }
    }
}
