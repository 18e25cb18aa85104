import CPUKernels
import Testing

@Suite struct MovementTests {
    static func strides(_ extents: [Int]) -> [Int] {
        var result = [Int](repeating: 1, count: extents.count)
        for d in stride(from: extents.count - 2, through: 0, by: -1) { result[d] = result[d + 1] * extents[d + 1] }
        return result
    }

    static func offsets(_ extents: [Int], _ strides: [Int], from start: Int = 0) -> [Int] {
        var result = [start]
        for (extent, stride) in zip(extents, strides) {
            result = result.flatMap { base in (0..<extent).map { base + $0 * stride } }
        }
        return result
    }

    static func permutations(_ items: [Int]) -> [[Int]] {
        if items.count < 2 { return [items] }
        return items.indices.flatMap { i in
            var rest = items
            let first = rest.remove(at: i)
            return permutations(rest).map { [first] + $0 }
        }
    }

    /// Every permutation of several shapes, for each element size; with one dimension walked backwards.
    @Test(arguments: [1, 2, 4, 8, 16]) func permuted(_ size: Int) {
        var noise = Noise(seed: UInt64(size))
        for shape in [[5], [33, 70], [2, 3, 4], [7, 1, 40], [3, 4, 5, 2], [2, 2, 3, 2, 3]] {
            let count = shape.reduce(1, *), bytes = (0..<count * size).map { _ in UInt8(noise.below(256)) }
            for order in Self.permutations(Array(shape.indices)) {
                let extents = order.map { shape[$0] }, to = Self.strides(extents)
                var from = order.map { Self.strides(shape)[$0] }
                let turned = noise.below(shape.count), start = (extents[turned] - 1) * from[turned]
                from[turned].negate()
                var got = [UInt8](repeating: 0, count: bytes.count)
                let done = bytes.withUnsafeBytes { source in
                    got.withUnsafeMutableBytes {
                        ck_copy(
                            size, Int32(shape.count), extents.map(Int64.init), $0.baseAddress, to.map(Int64.init),
                            source.baseAddress! + start * size, from.map(Int64.init))
                    }
                }
                let want = Self.offsets(extents, from, from: start).flatMap { bytes[$0 * size..<($0 + 1) * size] }
                #expect(done && got == want, "\(shape) \(order)")
            }
        }
    }

    /// A slice with steps goes into a slice of something larger, a broadcast value beside it; the rest stays.
    @Test func slicesAndBroadcasts() {
        let source = (0..<600).map { Int32($0) }
        var got = [Int32](repeating: -1, count: 2000), want = got
        let from = Self.offsets([5, 4, 7], [120, 30, 2], from: 3),
            to = Self.offsets([5, 4, 7], [400, 50, 3], from: 11)
        for (a, d) in zip(from, to) { want[d] = source[a] }
        for d in Self.offsets([5, 9], [400, 5], from: 210) { want[d] = source[42] }
        got.withUnsafeMutableBufferPointer { got in
            source.withUnsafeBufferPointer { source in
                #expect(
                    ck_copy(
                        4, 3, [5, 4, 7], got.baseAddress! + 11, [400, 50, 3], source.baseAddress! + 3, [120, 30, 2])
                        == true)
                #expect(
                    ck_copy(4, 2, [5, 9], got.baseAddress! + 210, [400, 5], source.baseAddress! + 42, [0, 0]) == true)
                #expect(ck_copy(4, 2, [5, 0], got.baseAddress!, [1, 1], source.baseAddress!, [1, 1]) == true)
                #expect(ck_copy(3, 1, [5], got.baseAddress!, [1], source.baseAddress!, [1]) == false)
            }
        }
        #expect(got == want)
    }

    @Test func largeTransposesOnSeveralThreads() {
        let rows = 301, columns = 517
        let source = (0..<rows * columns).map { Float($0) }
        var got = [Float](repeating: 0, count: source.count), filled = [UInt16](repeating: 0, count: 100_001)
        #expect(ck_copy(4, 2, [517, 301], &got, [301, 1], source, [1, 517]) == true)
        #expect(got.indices.allSatisfy { got[$0] == Float($0 % rows * columns + $0 / rows) })
        var value: UInt16 = 0xbeef
        ck_fill(2, &filled, filled.count, &value)
        #expect(filled.allSatisfy { $0 == 0xbeef })
    }

    static let modes = [CK_PAD_CONSTANT, CK_PAD_REPLICATE, CK_PAD_REFLECT, CK_PAD_SYMMETRIC, CK_PAD_CIRCULAR]

    @Test func padding() {
        let wanted: [[Int32]] = [
            [7, 1, 2, 3, 7, 7], [1, 1, 2, 3, 3, 3], [2, 1, 2, 3, 2, 1], [1, 1, 2, 3, 3, 2], [3, 1, 2, 3, 1, 2],
        ]
        var seven: Int32 = 7
        for (mode, want) in zip(Self.modes, wanted) {
            var got = [Int32](repeating: 0, count: 6)
            #expect(ck_pad(mode, 4, 1, [3], [1], [2], &got, [Int32(1), 2, 3], &seven) == true)
            #expect(got == want)
            // The same along the first dimension of two, with another amount along the second.
            var plane = [Int32](repeating: 0, count: 24)
            #expect(
                ck_pad(mode, 4, 2, [3, 2], [1, 1], [2, 1], &plane, [Int32(1), 11, 2, 12, 3, 13], &seven) == true)
            let columns: [[Int32]] = [
                [7, 0, 10, 7], [0, 0, 10, 10], [10, 0, 10, 0], [0, 0, 10, 10], [10, 0, 10, 0],
            ]
            let extra = columns[Int(Self.modes.firstIndex(of: mode)!)]
            for i in 0..<24 {
                let outside = mode == CK_PAD_CONSTANT && (want[i / 4] == 7 || extra[i % 4] == 7)
                #expect(plane[i] == (outside ? 7 : want[i / 4] + extra[i % 4]), "mode \(mode.rawValue) at \(i)")
            }
        }
        var got = [Int32](repeating: 0, count: 9)
        #expect(ck_pad(CK_PAD_REFLECT, 4, 1, [3], [3], [0], &got, [Int32(1), 2, 3], &seven) == false)
        #expect(ck_pad(CK_PAD_CIRCULAR, 4, 1, [3], [0], [4], &got, [Int32(1), 2, 3], &seven) == false)
        #expect(ck_pad(CK_PAD_CONSTANT, 4, 1, [3], [-2], [-2], &got, [Int32(1), 2, 3], &seven) == false)
        #expect(ck_pad(CK_PAD_CONSTANT, 4, 1, [3], [-1], [1], &got, [Int32(1), 2, 3], &seven) == true)
        #expect(Array(got[0..<3]) == [2, 3, 7])
        #expect(ck_pad(CK_PAD_CONSTANT, 4, 1, [0], [1], [1], &got, [Int32](), &seven) == true)
        #expect(Array(got[0..<2]) == [7, 7])
    }

    @Test func gathering() {
        let input = (0..<60).map { Int16($0) }, extents: [Int64] = [3, 4]
        let indices: [Int32] = [0, 0, 2, 3, -1, -4, 1, 2]
        var got = [Int16](repeating: -1, count: 20)
        #expect(ck_gather_nd(&got, input, 2, extents, 10, CK_I32, indices, 4) == Int64(CK_INDEX_OK))
        #expect(got == [0, 11, 8, 6].flatMap { slice in (0..<5).map { Int16(slice * 5 + $0) } })
        #expect(ck_gather_nd(&got, input, 2, extents, 10, CK_I8, [0, 0, 3, 0, 0, 4] as [Int8], 3) == 1)
        #expect(ck_gather_nd(&got, input, 1, [3], 2, CK_I64, [-4] as [Int64], 1) == 0)
        #expect(ck_gather_nd(&got, input, 1, [3], 2, CK_F32, [0] as [Float], 1) == Int64(CK_INDEX_UNSUPPORTED))
        for size in [1, 2, 4, 8, 16] {
            let bytes = (0..<2 * 3 * 2 * size).map { UInt8($0) }
            let along: [Int64] = [2, -1, 0, 1, 1, 0, 0, 2]
            var out = [UInt8](repeating: 0, count: 8 * size)
            #expect(ck_gather_along(size, &out, bytes, 2, 3, 2, CK_I64, along, 2) == -1)
            let want = along.indices.flatMap { i in
                let place = (i / 4 * 3 + Int((along[i] + 3) % 3)) * 2 + i % 2
                return bytes[place * size..<(place + 1) * size]
            }
            #expect(out == want)
            #expect(ck_gather_along(size, &out, bytes, 2, 3, 2, CK_I64, [0, 0, 0, 3, 0, 0, 0, -4] as [Int64], 2) == 3)
        }
    }

    @Test func scattering() {
        let modes: [(ck_scatter_mode, (Float, Float) -> Float)] = [
            (CK_SCATTER_UPDATE, { $1 }), (CK_SCATTER_ADD, { $0 + $1 }), (CK_SCATTER_SUB, { $0 - $1 }),
            (CK_SCATTER_MUL, { $0 * $1 }), (CK_SCATTER_DIV, { $0 / $1 }), (CK_SCATTER_MAX, { max($0, $1) }),
            (CK_SCATTER_MIN, { min($0, $1) }),
        ]
        let rows: [Int16] = [1, -1, 1], along: [Int8] = [2, 0, 2, -1, 0, 1]
        for type in floatTypes {
            for (mode, join) in modes {
                let slices = Elements(type, count: 8) { 6 }, updates = Elements(type, count: 6) { 0 }
                let columns = Elements(type, count: 12) { 6 }
                for i in 0..<6 { updates[i] = Float(1 << (i % 3)) }
                var wanted = [Float](repeating: 6, count: 8), across = [Float](repeating: 6, count: 12)
                for (row, index) in rows.enumerated() {
                    for k in 0..<2 {
                        let place = (Int(index) + 4) % 4 * 2 + k
                        wanted[place] = join(wanted[place], updates[row * 2 + k])
                    }
                }
                for i in 0..<6 {
                    let place = (i / 3 * 3 + (Int(along[i]) + 3) % 3) * 2
                    across[place] = join(across[place], updates[i])
                }
                let size = ck_type_size(type)
                #expect(
                    ck_scatter_nd(mode, type, size, slices.memory, 1, [4], 2, CK_I16, rows, 3, updates.memory) == -1)
                #expect((0..<8).allSatisfy { abs(slices[$0] - wanted[$0]) < 0.02 }, "mode \(mode.rawValue)")
                // [2, 3, 2] at column 0: the updates of column 1 go out of the way as an inner extent of 1.
                let narrow = Elements(type, count: 6) { 6 }
                #expect(
                    ck_scatter_along(mode, type, size, narrow.memory, 2, 3, 1, CK_I8, along, 3, updates.memory) == -1)
                for i in 0..<6 { columns[i * 2] = narrow[i] }
                #expect((0..<12).allSatisfy { abs(columns[$0] - across[$0]) < 0.02 }, "mode \(mode.rawValue)")
            }
        }
        var ints: [Int32] = [1, 2, 3, 4], bools: [UInt8] = [1, 0]
        #expect(
            ck_scatter_nd(
                CK_SCATTER_DIV, CK_I32, 4, &ints, 1, [4], 1, CK_I32, [0, 3] as [Int32], 2, [0, 3] as [Int32]) == -1)
        #expect(ints == [0, 2, 3, 1])
        #expect(
            ck_scatter_along(CK_SCATTER_ADD, CK_BOOL, 1, &bools, 1, 2, 1, CK_I32, [1] as [Int32], 1, [1] as [UInt8])
                == -1)
        #expect(bools == [1, 1])
        #expect(
            ck_scatter_along(CK_SCATTER_DIV, CK_BOOL, 1, &bools, 1, 2, 1, CK_I32, [1] as [Int32], 1, [1] as [UInt8])
                == -2)
        #expect(
            ck_scatter_nd(
                CK_SCATTER_UPDATE, CK_I32, 4, &ints, 1, [4], 1, CK_I32, [0, 4] as [Int32], 2, [9, 9] as [Int32]) == 1)
        let wide = (0..<4).map { UInt64($0) }
        var target = [UInt64](repeating: 7, count: 6)
        #expect(
            ck_scatter_along(CK_SCATTER_UPDATE, CK_BOOL, 16, &target, 1, 3, 1, CK_U8, [2, 0] as [UInt8], 2, wide) == -1)
        #expect(target == [2, 3, 7, 7, 0, 1])
    }
}
