import CPUKernels
import Testing

@Suite struct OrderTests {
    static let shapes = [(1, 1, 1), (3, 7, 1), (2, 300, 1), (2, 60, 3), (1, 5, 200), (2, 49, 2)]

    static func lines(_ outer: Int, _ count: Int, _ inner: Int) -> [[Int]] {
        (0..<outer * inner).map { line in (0..<count).map { (line / inner * count + $0) * inner + line % inner } }
    }

    static func scans<T: KernelElement>(_ values: [T], _ outer: Int, _ count: Int, _ inner: Int, join: [(T, T) -> T]) {
        let ops = [CK_SCAN_SUM, CK_SCAN_PRODUCT, CK_SCAN_MIN, CK_SCAN_MAX]
        for (op, join) in zip(ops, join) {
            for reverse in [false, true] {
                var want = values, got = values
                for line in lines(outer, count, inner) {
                    let order = reverse ? line.reversed() : line
                    for (last, next) in zip(order, order.dropFirst()) { want[next] = join(want[last], want[next]) }
                }
                let done = ck_scan(op, T.kernelType, &got, values, outer, count, inner, reverse)
                #expect(done && got == want, "\(T.self) op \(op.rawValue) \(outer) \(count) \(inner)")
            }
        }
    }

    static func integers<T: FixedWidthInteger & KernelElement>(_: T.Type) {
        var noise = Noise(seed: 21)
        for (outer, count, inner) in shapes {
            let values = (0..<outer * count * inner).map { _ in T(truncatingIfNeeded: noise.next()) }
            scans(
                values, outer, count, inner,
                join: [{ $0 &+ $1 }, { $0 &* $1 }, { Swift.min($0, $1) }, { Swift.max($0, $1) }])
        }
    }

    @Test func scanning() {
        atEachLevel { _ in
            Self.integers(Int8.self)
            Self.integers(UInt16.self)
            Self.integers(Int32.self)
            Self.integers(UInt64.self)
            for (outer, count, inner) in Self.shapes {
                // Small whole numbers: exact in any order.
                let values = (0..<outer * count * inner).map { Float($0 % 5 - 2) }
                let joins: [(Float, Float) -> Float] = [{ $0 + $1 }, { $0 * $1 }, { min($0, $1) }, { max($0, $1) }]
                Self.scans(values, outer, count, inner, join: joins)
                let wide: [(Double, Double) -> Double] = [{ $0 + $1 }, { $0 * $1 }, { min($0, $1) }, { max($0, $1) }]
                Self.scans(values.map(Double.init), outer, count, inner, join: wide)
            }
        }
    }

    @Test func scansOfHalvesAndNaN() {
        for inner in [1, 3] {
            let values = (0..<1000).flatMap { i in (0..<inner).map { _ in ck_f32_to_f16(i % 2 == 0 ? 0.25 : 1) } }
            var got = [UInt16](repeating: 0, count: values.count)
            #expect(ck_scan(CK_SCAN_SUM, CK_F16, &got, values, 1, 1000, inner, false) == true)
            // In f16 the small terms would be lost from 512 on.
            #expect(ck_f16_to_f32(got[999 * inner]) == 625)
            var floats = [Float](repeating: 1, count: 4 * inner)
            for i in 0..<inner { floats[inner + i] = .nan }
            #expect(ck_scan(CK_SCAN_MAX, CK_F32, &floats, floats, 1, 4, inner, false) == true)
            #expect(floats.prefix(inner).allSatisfy { $0 == 1 } && floats.dropFirst(inner).allSatisfy { $0.isNaN })
        }
        var bools: [UInt8] = [1]
        #expect(ck_scan(CK_SCAN_SUM, CK_BOOL, &bools, bools, 1, 1, 1, false) == false)
    }

    static func sorts<T: KernelElement>(_ values: [T], _ outer: Int, _ count: Int, _ inner: Int) {
        for descending in [false, true] {
            var indices = [UInt32](repeating: 9, count: values.count), sorted = values
            let found = ck_argsort(T.kernelType, &indices, values, outer, count, inner, descending)
            let done = ck_sort(T.kernelType, &sorted, values, outer, count, inner, descending)
            #expect(found && done)
            for line in lines(outer, count, inner) {
                // A value is not equal to itself if it is NaN.
                let order = line.indices.sorted { a, b in
                    let x = values[line[a]], y = values[line[b]]
                    if x != x || y != y { return y != y && x == x || (x != x) == (y != y) && a < b }
                    return x == y ? a < b : descending ? x > y : x < y
                }
                let got = line.map { Int(indices[$0]) }
                #expect(got == order, "\(T.self) \(outer) \(count) \(inner) \(descending)")
                for (place, index) in zip(line, order) {
                    let same = sorted[place] == values[line[index]] || values[line[index]] != values[line[index]]
                    #expect(same)
                }
            }
        }
    }

    @Test func sorting() {
        var noise = Noise(seed: 22)
        for (outer, count, inner) in Self.shapes {
            let numbers = (0..<outer * count * inner).map { _ in noise.below(60) - 30 }
            Self.sorts(numbers.map(Int8.init), outer, count, inner)
            Self.sorts(numbers.map { UInt16($0 + 30) &* 1000 }, outer, count, inner)
            Self.sorts(numbers.map { Int64($0) &* 0x1234_5678_9abc }, outer, count, inner)
            Self.sorts(numbers.map { UInt32(truncatingIfNeeded: $0) }, outer, count, inner)
            let special: [Int: Float] = [29: .nan, 28: -.infinity, 27: .infinity, 26: -0.0, 25: 0, 24: -.nan]
            Self.sorts(numbers.map { special[$0] ?? Float($0) * 0.37 }, outer, count, inner)
            Self.sorts(numbers.map { Double(special[$0] ?? Float($0)) }, outer, count, inner)
        }
        var halves = [1.5, -2, Float.nan, 0.25, -.infinity].map { ck_f32_to_f16($0) }
        #expect(ck_sort(CK_F16, &halves, halves, 1, 5, 1, true) == true)
        #expect(halves.map { ck_f16_to_f32($0) }.dropLast() == [1.5, 0.25, -2, -.infinity])
        #expect(ck_f16_to_f32(halves[4]).isNaN)
    }
}
