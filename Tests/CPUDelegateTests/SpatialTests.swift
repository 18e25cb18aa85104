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
        let integers = ck_interpolate(CK_INTERPOLATE_LINEAR, CK_I32, &got, [Int32(1)], 1, [1], [1], [1], [0])
        let empty = ck_interpolate(CK_INTERPOLATE_NEAREST, CK_F32, &got, [Float](), 1, [0], [1], [1], [0])
        #expect(!integers && !empty)
        var bytes = [UInt8](repeating: 0, count: 4)
        let nearest = ck_interpolate(CK_INTERPOLATE_NEAREST, CK_BOOL, &bytes, [UInt8(0), 1], 1, [2], [4], [2], [0])
        #expect(nearest && bytes == [0, 0, 1, 1])
    }
}
