import CPUKernels

/// One convolution with random operands, and what it should come to.
final class ConvCase: CustomStringConvertible {
    var conv = ck_conv()
    private let input, weights, output, bias: Elements
    private var residual: Elements?
    private var epilogue = ck_epilogue()
    private let out: [Int]
    private let outputBefore: [Double]

    /// Nil where the sizes make no convolution, or one too large for a test.
    init?(_ noise: inout Noise, _ conv: ck_conv, limit: Int = 60000) {
        var (sizes, wanted) = ((0, 0, 0), conv)
        let fits = withUnsafeMutableBytes(of: &sizes) {
            ck_conv_out_size(&wanted, $0.assumingMemoryBound(to: Int.self).baseAddress!)
        }
        let size = sizes
        self.conv = conv
        guard fits else { return nil }
        out = [size.0, size.1, size.2]
        let kernel = Self.volume(conv.kernel)
        let positions = conv.transposed ? Self.volume(conv.in) : size.0 * size.1 * size.2
        let pairs = conv.in_channels * conv.out_channels / conv.groups
        if conv.batch * pairs * kernel * positions > limit { return nil }
        input = Elements(conv.in_type, count: conv.batch * conv.in_channels * Self.volume(conv.in)) { noise.value() }
        weights = Elements(conv.weight_type, count: pairs * kernel) { noise.value() }
        let outputCount = conv.batch * conv.out_channels * size.0 * size.1 * size.2
        output = Elements(conv.out_type, count: outputCount) { noise.value() }
        bias = Elements(CK_F32, count: conv.out_channels) { noise.value() }
        outputBefore = output.doubles
        if noise.chance(2) { epilogue.bias = UnsafePointer(bias.floats) }
        if noise.chance(2) { epilogue.activation = CK_ACT_RELU }
        let choice = noise.below(4)
        if choice == 0 { residual = Elements(noise.pick(floatTypes), count: outputCount) { noise.value() } }
        if choice < 2 {
            epilogue.residual = UnsafeRawPointer((residual ?? output).memory)
            epilogue.residual_type = (residual ?? output).type
        }
    }

    private static func volume(_ size: (Int, Int, Int)) -> Int { size.0 * size.1 * size.2 }
    private static func array(_ size: (Int, Int, Int)) -> [Int] { [size.0, size.1, size.2] }

    func run() -> Bool {
        guard let plan = ck_conv_plan_create(&conv, weights.memory) else { return false }
        defer { ck_conv_plan_destroy(plan) }
        return ck_conv_run(plan, input.memory, output.memory, &epilogue)
    }

    /// The sums and the sums of the terms' magnitudes, by the definition.
    private func sums() -> (values: [Double], terms: [Double]) {
        let (x, w) = (input.doubles, weights.doubles)
        var values = [Double](repeating: 0, count: output.count)
        var terms = [Double](repeating: 1, count: output.count)
        let (inShape, kernel) = (Self.array(conv.in), Self.array(conv.kernel))
        let (stride, dilation, pad) = (Self.array(conv.stride), Self.array(conv.dilation), Self.array(conv.pad_before))
        // The transposed convolution is the same walk with the two ends exchanged.
        let (near, far) = conv.transposed ? (inShape, out) : (out, inShape)
        let (nearSize, farSize) = (near.reduce(1, *), far.reduce(1, *))
        let kernelSize = kernel.reduce(1, *)
        let (inGroup, outGroup) = (conv.in_channels / conv.groups, conv.out_channels / conv.groups)
        for position in 0..<nearSize {
            let at = [position / near[2] / near[1], position / near[2] % near[1], position % near[2]]
            for tap in 0..<kernelSize {
                let k = [tap / kernel[2] / kernel[1], tap / kernel[2] % kernel[1], tap % kernel[2]]
                let other = (0..<3).map { at[$0] * stride[$0] + k[$0] * dilation[$0] - pad[$0] }
                guard (0..<3).allSatisfy({ other[$0] >= 0 && other[$0] < far[$0] }) else { continue }
                let opposite = (other[0] * far[1] + other[1]) * far[2] + other[2]
                let (from, to) = conv.transposed ? (position, opposite) : (opposite, position)
                let (fromSize, toSize) = conv.transposed ? (nearSize, farSize) : (farSize, nearSize)
                for image in 0..<conv.batch {
                    for o in 0..<conv.out_channels {
                        for i in 0..<inGroup {
                            let inChannel = o / outGroup * inGroup + i
                            let filter =
                                conv.transposed ? inChannel * outGroup + o % outGroup : o * inGroup + i
                            let term =
                                x[(image * conv.in_channels + inChannel) * fromSize + from]
                                * w[filter * kernelSize + tap]
                            values[(image * conv.out_channels + o) * toSize + to] += term
                            terms[(image * conv.out_channels + o) * toSize + to] += abs(term)
                        }
                    }
                }
            }
        }
        return (values, terms)
    }

    /// The largest error of any element, 1 being what is allowed.
    func largestExcess() -> Double {
        let (values, terms) = sums()
        let residuals = residual?.doubles ?? outputBefore
        let size = out.reduce(1, *)
        var worst = 0.0
        for index in values.indices {
            var expected = values[index]
            if epilogue.bias != nil { expected += Double(bias[index / size % conv.out_channels]) }
            if epilogue.residual != nil { expected += residuals[index] }
            expected = activated(epilogue.activation, expected)
            let error = excess(
                of: output[index], from: expected, terms: terms[index], precision: output.precision)
            worst = max(worst, error)
        }
        return worst
    }

    var description: String { "\(conv)" }
}
