import CPUKernels
import Foundation
import Testing

@Suite struct SpatialTests {
    struct Pool: Sendable {
        let input: [Int], kernel: [Int]
        var stride = [1, 1, 1], dilation = [1, 1, 1], before = [0, 0, 0], after = [0, 0, 0]

        var output: [Int] {
            (0..<3).map {
                (input[$0] + before[$0] + after[$0] - dilation[$0] * (kernel[$0] - 1) - 1) / stride[$0] + 1
            }
        }
    }

    static let pools = [
        Pool(input: [1, 7, 9], kernel: [1, 3, 2]), Pool(input: [1, 8, 8], kernel: [1, 2, 2], stride: [1, 2, 2]),
        Pool(input: [1, 6, 300], kernel: [1, 3, 5], stride: [1, 1, 1], before: [0, 1, 2], after: [0, 1, 2]),
        Pool(
            input: [1, 9, 700], kernel: [1, 2, 3], stride: [1, 2, 2], dilation: [1, 2, 3], before: [0, 1, 1],
            after: [0, 2, 3]),
        Pool(input: [4, 5, 6], kernel: [2, 3, 2], stride: [2, 1, 2], before: [1, 0, 0], after: [0, 0, 1]),
        Pool(input: [3, 3, 3], kernel: [3, 3, 3], stride: [3, 3, 3], after: [2, 2, 2]),
    ]

    static func tuple(_ x: [Int]) -> (Int64, Int64, Int64) { (Int64(x[0]), Int64(x[1]), Int64(x[2])) }

    /// The input elements below each output.
    static func windows(_ pool: Pool, planes: Int) -> [[Int]] {
        var result: [[Int]] = []
        let output = pool.output
        for plane in 0..<planes {
            for z in 0..<output[0] {
                for y in 0..<output[1] {
                    for x in 0..<output[2] {
                        var window: [Int] = []
                        let at = [z, y, x]
                        for kz in 0..<pool.kernel[0] {
                            for ky in 0..<pool.kernel[1] {
                                for kx in 0..<pool.kernel[2] {
                                    let k = [kz, ky, kx]
                                    let from = (0..<3).map {
                                        at[$0] * pool.stride[$0] - pool.before[$0] + k[$0] * pool.dilation[$0]
                                    }
                                    if (0..<3).contains(where: { from[$0] < 0 || from[$0] >= pool.input[$0] }) {
                                        continue
                                    }
                                    let row = (plane * pool.input[0] + from[0]) * pool.input[1] + from[1]
                                    window.append(row * pool.input[2] + from[2])
                                }
                            }
                        }
                        result.append(window)
                    }
                }
            }
        }
        return result
    }

    @Test(arguments: pools.indices) func pooling(_ index: Int) {
        let test = Self.pools[index], windows = Self.windows(test, planes: 2)
        var pool = ck_pool()
        pool.planes = 2
        (pool.input_extents, pool.output_extents) = (Self.tuple(test.input), Self.tuple(test.output))
        (pool.kernel, pool.stride) = (Self.tuple(test.kernel), Self.tuple(test.stride))
        (pool.dilation, pool.before) = (Self.tuple(test.dilation), Self.tuple(test.before))
        var noise = Noise(seed: 31)
        let count = 2 * test.input.reduce(1, *)
        for type in floatTypes {
            let input = Elements(type, count: count) { noise.chance(40) ? .nan : noise.value() }
            let output = Elements(type, count: windows.count) { 0 }
            (pool.type, pool.input, pool.output) = (type, UnsafeRawPointer(input.memory), output.memory)
            let values = input.doubles
            let sums = windows.map { $0.reduce(0) { $0 + values[$1] } }
            let greatest = windows.map { window in
                window.contains { values[$0].isNaN } ? .nan : window.map { values[$0] }.max() ?? -.infinity
            }
            atEachLevel { level in
                for (op, want) in [(CK_POOL_MAX, greatest), (CK_POOL_SUM, sums)] {
                    pool.op = op
                    let done = ck_pool_run(&pool)
                    #expect(done)
                    let fits = want.indices.allSatisfy {
                        let x = Double(output[$0])
                        return want[$0].isNaN ? x.isNaN : x == want[$0] || abs(x - want[$0]) < 10 * output.precision
                    }
                    #expect(fits, "\(type.rawValue) op \(op.rawValue) level \(level)")
                }
            }
        }
        let bytes = (0..<count).map { _ in Int8(truncatingIfNeeded: noise.next()) }
        var got = [Int8](repeating: 0, count: windows.count)
        let sums = windows.map { $0.reduce(Int8(0)) { $0 &+ bytes[$1] } }
        let greatest = windows.map { $0.map { bytes[$0] }.max() ?? .min }
        atEachLevel { _ in
            for (op, want) in [(CK_POOL_MAX, greatest), (CK_POOL_SUM, sums)] {
                let done = bytes.withUnsafeBytes { bytes in
                    got.withUnsafeMutableBytes { got in
                        (pool.op, pool.type, pool.input, pool.output) = (op, CK_I8, bytes.baseAddress, got.baseAddress)
                        return ck_pool_run(&pool)
                    }
                }
                #expect(done && got == want)
            }
        }
        pool.stride.1 = 0
        let refused = ck_pool_run(&pool)
        #expect(!refused)
    }

    static func linear(_ values: [Double], _ extents: [Int], at point: [Double]) -> Double {
        var sum = 0.0
        for corner in 0..<(1 << extents.count) {
            var index = 0, weight = 1.0
            for d in extents.indices {
                let x = min(max(point[d], 0), Double(extents[d] - 1)), low = Int(x), high = corner >> d & 1
                index = index * extents[d] + min(low + high, extents[d] - 1)
                weight *= high == 1 ? x - Double(low) : 1 - (x - Double(low))
            }
            if weight != 0 { sum += weight * values[index] }
        }
        return sum
    }

    static func nearest(_ extents: [Int], at point: [Double]) -> Int {
        extents.indices.reduce(0) {
            $0 * extents[$1] + Int(min(max(point[$1], 0), Double(extents[$1] - 1)).rounded(.toNearestOrEven))
        }
    }

    static let resizes: [(from: [Int], to: [Int], scale: [Float], offset: [Float])] = [
        ([5], [10], [2], [0]), ([2, 3, 4, 5], [2, 3, 8, 10], [1, 1, 2, 2], [0, 0, 0, 0]),
        ([1, 2, 7, 9], [1, 2, 3, 4], [1, 1, 0.5, 0.5], [0, 0, 0, 0]), ([4, 600], [8, 1200], [2, 2], [0.25, -0.5]),
        ([3, 4, 5], [5, 4, 9], [2, 1, 2], [-0.5, 0, -0.5]), ([3, 3], [3, 3], [1, 1], [0, 0]),
        ([6, 2], [3, 2], [0.5, 1], [0, 1]),
    ]

    @Test(arguments: resizes.indices) func resizing(_ index: Int) {
        let test = Self.resizes[index], count = test.to.reduce(1, *)
        var noise = Noise(seed: 41)
        var points: [[Double]] = [[]]
        for d in test.to.indices {
            points = points.flatMap { point in
                (0..<test.to[d]).map {
                    point + [(Double($0) + 0.5 - Double(test.offset[d])) / Double(test.scale[d]) - 0.5]
                }
            }
        }
        for type in floatTypes {
            let input = Elements(type, count: test.from.reduce(1, *)) { noise.value() }
            let output = Elements(type, count: count) { 0 }, values = input.doubles
            let flat = points.flatMap { $0.map { Float($0) } }
            let mixed = points.map { Self.linear(values, test.from, at: $0) }
            let picked = points.map { values[Self.nearest(test.from, at: $0)] }
            atEachLevel { level in
                for (mode, want) in [(CK_INTERPOLATE_LINEAR, mixed), (CK_INTERPOLATE_NEAREST, picked)] {
                    let from = test.from.map(Int64.init), to = test.to.map(Int64.init), rank = Int32(from.count)
                    for whole in [true, false] {
                        let done =
                            whole
                            ? ck_interpolate(
                                mode, type, output.memory, input.memory, rank, from, to, test.scale, test.offset)
                            : ck_interpolate_points(mode, type, output.memory, input.memory, rank, from, flat, count)
                        let fits = want.indices.allSatisfy {
                            abs(Double(output[$0]) - want[$0])
                                <= (mode == CK_INTERPOLATE_LINEAR ? output.precision * 8 : 0)
                        }
                        #expect(done && fits, "\(type.rawValue) mode \(mode.rawValue) level \(level)")
                    }
                }
            }
        }
    }

    @Test func interpolationAtTheEdges() {
        var got = [Float](repeating: 0, count: 3)
        // An infinite neighbour without weight must not show; NaN as a coordinate reads the first element.
        let points: [Float] = [0, .nan, 100]
        let done = ck_interpolate_points(
            CK_INTERPOLATE_LINEAR, CK_F32, &got, [Float(1), .infinity, 3], 1, [3], points, 3)
        #expect(done && got == [1, 1, 3])
        let bools = ck_interpolate(CK_INTERPOLATE_LINEAR, CK_BOOL, &got, [true], 1, [1], [1], [1], [0])
        let empty = ck_interpolate(CK_INTERPOLATE_NEAREST, CK_F32, &got, [Float](), 1, [0], [1], [1], [0])
        #expect(!bools && !empty)
        var bytes = [UInt8](repeating: 0, count: 4)
        let nearest = ck_interpolate(CK_INTERPOLATE_NEAREST, CK_BOOL, &bytes, [UInt8(0), 1], 1, [2], [4], [2], [0])
        #expect(nearest && bytes == [0, 0, 1, 1])
    }

    @Test func mixingOfOtherTypes() {
        // The fraction is cut off, towards zero; in f64 nothing goes through f32.
        let small: [Int8] = [0, 5, -3, 100, 101, -128]
        var bytes = [Int8](repeating: 0, count: 12)
        let resized = ck_interpolate(CK_INTERPOLATE_LINEAR, CK_I8, &bytes, small, 1, [6], [12], [2], [0])
        #expect(resized && bytes == [0, 1, 3, 3, -1, 22, 74, 100, 100, 43, -70, -128])
        var values = [Int32](repeating: 0, count: 6)
        let picked = ck_interpolate_points(
            CK_INTERPOLATE_LINEAR, CK_I32, &values, [0, 5, -3, 100, 101, 120] as [Int32], 1, [6],
            [0.5, 1.5, 2.5, 9, -3, 3.999], 6)
        #expect(picked && values == [2, 1, 48, 120, 0, 100])
        let fine = [1.0, 1.0 + 0x1p-40]
        var doubles = [Double](repeating: 0, count: 4)
        let wide = ck_interpolate(CK_INTERPOLATE_LINEAR, CK_F64, &doubles, fine, 1, [2], [4], [2], [0])
        #expect(wide && doubles == [1, 1 + 0x1p-42, 1 + 0x3p-42, fine[1]])
    }

    @Test(arguments: [(1, 9000, 7, 1), (3, 4000, 9, 5), (3, 700, 300, 1), (16, 50, 3, 200)])
    func resizingOfAPart(_ inner: Int, _ from: Int, _ to: Int, _ outer: Int) {
        // Rows of which few elements are needed, in pieces of several that stay together.
        var noise = Noise(seed: 42)
        let scale = Float(to) / Float(from)
        for type in floatTypes {
            let input = Elements(type, count: outer * from * inner) { noise.value() }
            let output = Elements(type, count: outer * to * inner) { 0 }, values = input.doubles
            atEachLevel { level in
                for mode in [CK_INTERPOLATE_LINEAR, CK_INTERPOLATE_NEAREST] {
                    let extents = [outer, from, inner].map { Int64($0) }, result = [outer, to, inner].map { Int64($0) }
                    let done = ck_interpolate(
                        mode, type, output.memory, input.memory, 3, extents, result, [1, scale, 1], [0, 0, 0])
                    let fits = (0..<output.count).allSatisfy { index in
                        let place = (Float(index / inner % to) + 0.5) / scale - 0.5
                        let at = Double(min(max(place, 0), Float(from - 1)))
                        func value(_ element: Int) -> Double {
                            values[(index / inner / to * from + min(element, from - 1)) * inner + index % inner]
                        }
                        let share = at - at.rounded(.down), low = Int(at)
                        let mixed = value(low) * (1 - share) + value(low + 1) * share
                        let want =
                            mode == CK_INTERPOLATE_NEAREST ? value(Int(at.rounded(.toNearestOrEven))) : mixed
                        return abs(Double(output[index]) - want) <= output.precision * 4
                    }
                    #expect(done && fits, "\(type.rawValue) mode \(mode.rawValue) level \(level)")
                }
            }
        }
    }

    @Test func poolingOfWholePlanes() {
        // Windows that take whole rows and planes, longer than what is added up at once.
        var pool = ck_pool()
        (pool.planes, pool.input_extents, pool.output_extents) = (3, (5, 40, 77), (1, 1, 1))
        (pool.kernel, pool.stride, pool.dilation, pool.type) = ((5, 40, 77), (2, 3, 4), (1, 1, 1), CK_F16)
        var noise = Noise(seed: 43)
        let size = 5 * 40 * 77
        let input = Elements(CK_F16, count: 3 * size) { noise.value() / 16 }, output = Elements(CK_F16, count: 3) { 0 }
        (pool.input, pool.output) = (UnsafeRawPointer(input.memory), output.memory)
        let planes = (0..<3).map { Array(input.doubles[$0 * size..<($0 + 1) * size]) }
        atEachLevel { level in
            pool.op = CK_POOL_SUM
            let added = ck_pool_run(&pool), sums = output.doubles
            pool.op = CK_POOL_MAX
            let compared = ck_pool_run(&pool), greatest = output.doubles
            #expect(added && compared && greatest == planes.map { $0.max()! })
            for (sum, plane) in zip(sums, planes) {
                let want = plane.reduce(0, +)
                #expect(abs(sum - want) <= abs(want) * 1e-3 + 1e-3, "level \(level)")
            }
        }
    }
}
