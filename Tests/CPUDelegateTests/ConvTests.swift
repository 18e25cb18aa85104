import CPUKernels
import Testing

@Suite struct ConvTests {
    private func plain(_ channels: Int, _ outputs: Int, in size: (Int, Int), kernel: (Int, Int)) -> ck_conv {
        var conv = ck_conv()
        (conv.batch, conv.in_channels, conv.out_channels, conv.groups) = (1, channels, outputs, 1)
        conv.in = (1, size.0, size.1)
        conv.kernel = (1, kernel.0, kernel.1)
        (conv.stride, conv.dilation) = ((1, 1, 1), (1, 1, 1))
        (conv.in_type, conv.weight_type, conv.out_type) = (CK_F32, CK_F32, CK_F32)
        return conv
    }

    private func random(_ noise: inout Noise) -> ck_conv {
        var conv = ck_conv()
        let rank = 1 + noise.below(3)
        var sizes = Array(repeating: [1, 1, 1, 1, 0, 0, 0], count: 3)
        conv.transposed = noise.chance(3)
        for index in (3 - rank)..<3 {
            let stride = noise.chance(2) ? 1 : 1 + noise.below(3)
            sizes[index] = [
                1 + noise.below(rank == 3 ? 6 : 12), 1 + noise.below(3), stride, noise.chance(3) ? 2 : 1,
                noise.below(3), noise.below(3), conv.transposed ? noise.below(stride) : 0,
            ]
        }
        func size(_ part: Int) -> (Int, Int, Int) { (sizes[0][part], sizes[1][part], sizes[2][part]) }
        (conv.in, conv.kernel, conv.stride, conv.dilation) = (size(0), size(1), size(2), size(3))
        (conv.pad_before, conv.pad_after, conv.out_pad) = (size(4), size(5), size(6))
        conv.groups = noise.chance(2) ? 1 : 1 + noise.below(4)
        conv.batch = 1 + noise.below(2)
        conv.in_channels = conv.groups * (noise.chance(2) ? 1 : 1 + noise.below(4))
        conv.out_channels = conv.groups * (1 + noise.below(8))
        (conv.in_type, conv.weight_type) = (noise.pick(floatTypes), noise.pick(floatTypes))
        conv.out_type = noise.pick(floatTypes)
        return conv
    }

    private func check(_ noise: inout Noise, _ conv: ck_conv, level: Int32) throws {
        guard let this = ConvCase(&noise, conv, limit: 80000) else { return }
        try #require(this.run())
        let error = this.largestExcess()
        #expect(error <= 1, "\(this), level \(level): \(error)")
    }

    /// One to three dimensions, strides, dilations, uneven padding, groups, types, transposed or not, at random.
    @Test(arguments: 1...4) func matchesTheDefinition(seed: Int) throws {
        try atEachLevel { level in
            var noise = Noise(seed: UInt64(seed) * 8 + UInt64(level))
            for _ in 0..<15 { try check(&noise, random(&noise), level: level) }
        }
    }

    @Test(arguments: [(3, 1), (3, 2), (5, 1), (5, 2), (7, 1), (7, 2), (2, 3)])
    func depthwise(kernel: Int, stride: Int) throws {
        try atEachLevel { level in
            var noise = Noise(seed: UInt64(kernel * 10 + stride))
            for (multiplier, type) in [(1, CK_F32), (2, CK_BF16)] {
                var conv = plain(3, 3 * multiplier, in: (9, 21), kernel: (kernel, kernel))
                conv.groups = 3
                conv.batch = 2
                conv.stride = (1, stride, stride)
                (conv.pad_before, conv.pad_after) = ((0, kernel / 2, 1), (0, 1, kernel / 2))
                (conv.in_type, conv.out_type) = (type, type)
                try check(&noise, conv, level: level)
            }
        }
    }

    @Test func onePointAndWholeInputKernels() throws {
        try atEachLevel { level in
            var noise = Noise(seed: 5)
            for batch in [1, 3] {
                var point = plain(9, 17, in: (5, 7), kernel: (1, 1))
                point.batch = batch
                try check(&noise, point, level: level)
                var whole = plain(4, 21, in: (3, 5), kernel: (3, 5))
                whole.batch = batch
                try check(&noise, whole, level: level)
                var grouped = plain(8, 6, in: (4, 4), kernel: (1, 1))
                (grouped.batch, grouped.groups) = (batch, 2)
                try check(&noise, grouped, level: level)
            }
        }
    }

    @Test func rowsLongerThanAPanelAndKernelsLargerThanTheInput() throws {
        try atEachLevel { level in
            var noise = Noise(seed: 6)
            var wide = plain(2, 3, in: (3, 90), kernel: (3, 3))
            (wide.pad_before, wide.pad_after) = ((0, 1, 1), (0, 1, 1))
            try check(&noise, wide, level: level)
            var long = plain(2, 2, in: (1, 40), kernel: (1, 20))
            long.pad_before = (0, 0, 3)
            try check(&noise, long, level: level)
            var small = plain(2, 2, in: (2, 2), kernel: (5, 5))
            (small.pad_before, small.pad_after) = ((0, 2, 2), (0, 2, 2))
            try check(&noise, small, level: level)
        }
    }

    @Test func impossibleSizesAreRefused() {
        var conv = plain(4, 4, in: (2, 2), kernel: (3, 3))
        let weights = [Float](repeating: 0, count: 4 * 4 * 9)
        #expect(ck_conv_plan_create(&conv, weights) == nil)
        conv.pad_after = (0, 1, 1)
        conv.groups = 3
        #expect(ck_conv_plan_create(&conv, weights) == nil)
        conv.groups = 1
        conv.stride = (1, 0, 1)
        #expect(ck_conv_plan_create(&conv, weights) == nil)
        conv.stride = (1, 1, 1)
        conv.in_type = CK_I32
        #expect(ck_conv_plan_create(&conv, weights) == nil)
    }

    @Test func severalThreadsMayRunOnePlan() async throws {
        var conv = plain(3, 5, in: (8, 8), kernel: (3, 3))
        let weights = (0..<135).map { Float($0 % 7) }
        let input = (0..<192).map { Float($0 % 5) }
        let plan = try #require(ck_conv_plan_create(&conv, weights))
        defer { ck_conv_plan_destroy(plan) }
        nonisolated(unsafe) let shared = plan
        let outputs = await withTaskGroup(of: [Float].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var output = [Float](repeating: -1, count: 180)
                    for _ in 0..<20 { _ = ck_conv_run(shared, input, &output, nil) }
                    return output
                }
            }
            return await group.reduce(into: [[Float]]()) { $0.append($1) }
        }
        #expect(outputs.allSatisfy { $0 == outputs[0] })
        #expect(outputs[0].contains { $0 != -1 })
    }
}
