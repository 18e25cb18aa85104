import Testing

@testable import EngineGraph

@Suite("Shape arithmetic")
struct ShapeMathTests {
    private let math = ShapeMath(op: "test")

    @Test("a slice reads what stepping from start to end meets")
    func slices() throws {
        // Every small case, against stepping one by one from the wrapped and clamped bounds.
        for extent in 0...5 {
            for step in [-3, -2, -1, 1, 2, 3] {
                for start in -7...7 {
                    for end in -7...7 {
                        let box = try math.slice(start: start, end: end, step: step, extent: extent)
                        let indices = (0..<box.count).map { box.start + $0 * box.step }
                        #expect(indices == Self.stepped(start, end, step, extent))
                        #expect(indices.allSatisfy { (0..<extent).contains($0) })
                    }
                }
            }
        }
    }

    private static func stepped(_ start: Int, _ end: Int, _ step: Int, _ extent: Int) -> [Int] {
        let (low, high) = step > 0 ? (0, extent) : (-1, extent - 1)
        var from = start < 0 ? start + extent : start
        var to = end < low ? end + extent : end
        from = min(max(from, 0), step > 0 ? extent : extent - 1)
        to = min(max(to, low), high)
        var result: [Int] = []
        var index = from
        while step > 0 ? index < to : index > to {
            result.append(index)
            index += step
        }
        return result
    }

    @Test("slices take extreme bounds")
    func extremeSlices() throws {
        #expect(try math.slice(start: .min, end: .max, step: 1, extent: 4) == SliceExtent(start: 0, step: 1, count: 4))
        #expect(try math.slice(start: .max, end: .min, step: -1, extent: 4).count == 4)
        #expect(try math.slice(start: .max, end: .min, step: .min, extent: 4).count == 1)
        #expect(try math.slice(start: 0, end: .max, step: .max, extent: .max).count == 1)
        #expect(throws: EngineError.self) { try math.slice(start: 0, end: 1, step: 0, extent: 4) }
    }

    @Test("strides")
    func strides() throws {
        #expect(try math.rowMajorStrides([2, 3, 4]) == [12, 4, 1])
        #expect(try math.rowMajorStrides([]) == [])
        #expect(try math.rowMajorStrides([2, 0, 4]) == [4, 4, 1])
        #expect(throws: EngineError.self) { try math.rowMajorStrides([2, 1 << 40, 1 << 40]) }
        #expect(try math.broadcastStrides([3, 1], to: [2, 3, 4]) == [0, 1, 0])
        #expect(try math.broadcastStrides([], to: [2, 2]) == [0, 0])
        #expect(throws: EngineError.self) { try math.broadcastStrides([2], to: [3]) }
    }

    @Test("windows cover what fits")
    func windows() throws {
        for extent in 1...9 {
            for kernel in 1...3 {
                for stride in 1...3 {
                    for dilation in 1...3 {
                        let cover = dilation * (kernel - 1) + 1
                        guard cover <= extent else {
                            #expect(throws: EngineError.self) {
                                try math.windows(extent, kernel: kernel, stride: stride, dilation: dilation)
                            }
                            continue
                        }
                        let fitting = (0..<extent).count { $0 % stride == 0 && $0 + cover <= extent }
                        let count = try math.windows(extent, kernel: kernel, stride: stride, dilation: dilation)
                        #expect(count == fitting)
                        let reaching = try math.windows(
                            extent, kernel: kernel, stride: stride, dilation: dilation, ceiling: true)
                        #expect(reaching == fitting + ((extent - cover) % stride == 0 ? 0 : 1))
                    }
                }
            }
        }
    }

    @Test("a transposed convolution undoes a convolution's shape")
    func transposedWindows() throws {
        for extent in 3...9 {
            for stride in 1...3 {
                let count = try math.windows(extent, kernel: 3, stride: stride, dilation: 1)
                let extra = (extent - 3) % stride
                let back = try math.transposedWindows(
                    count, kernel: 3, stride: stride, padding: 0, dilation: 1, outputPadding: extra)
                #expect(back == extent)
            }
        }
    }

    @Test("splits add up")
    func splits() throws {
        for extent in 1...12 {
            for size in 1...13 {
                let parts = try math.split(extent, bySize: size, results: nil)
                #expect(parts.reduce(0, +) == extent)
                #expect(parts.dropLast().allSatisfy { $0 == size })
                #expect((1...size).contains(parts.last ?? 0))
            }
        }
        #expect(try math.split(0, bySize: 3, results: 1) == [0])
        #expect(throws: EngineError.self) { try math.split(4, sections: [.max, 5], results: nil) }
    }

    @Test("range counts")
    func ranges() throws {
        for start in -3...3 {
            for stop in -3...3 {
                for step in [-3, -2, -1, 1, 2, 3] {
                    let expected = stride(from: start, to: stop, by: step).reduce(0) { count, _ in count + 1 }
                    #expect(try math.rangeCount(start: start, stop: stop, step: step) == expected)
                    let floating = try math.rangeCount(
                        start: Double(start), stop: Double(stop), step: Double(step), in: .float32)
                    #expect(floating == expected)
                }
            }
        }
        #expect(throws: EngineError.self) { try math.rangeCount(start: .min, stop: .max, step: 1) }
        #expect(throws: EngineError.self) { try math.rangeCount(start: 0, stop: -1, step: .min) }
    }

    @Test("blocks and palettes")
    func blocks() throws {
        #expect(try math.blocks(data: [12, 8], scale: [3, 2]) == [4, 4])
        #expect(try math.blocks(data: [0, 8], scale: [0, 1]) == [1, 8])
        let lookup = try math.palette(indices: [2, 2, 2], bits: 1, table: [1, 1, 1, 2, 3], axis: 1)
        #expect(lookup.shape == [2, 6, 2])
        #expect(lookup.vector == 3)
        #expect(lookup.blocks == [2, 2, 2])
    }

    @Test("errors name the op")
    func errors() {
        #expect(throws: EngineError.invalidValue(op: "test", reason: "axis 3 is out of range for rank 2")) {
            try math.axis(3, rank: 2)
        }
        #expect(ShapeMath.text([2, -1, 3]) == "[2, ?, 3]")
    }
}
