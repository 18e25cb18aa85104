import CPUKernels
import Foundation
import Testing

@Suite struct NormalizeTests {
    static func softmax(_ x: [Double]) -> [Double] {
        let greatest = x.contains { $0.isNaN } ? .nan : x.max()!
        let parts = x.map { $0 == greatest ? 1 : exp($0 - greatest) }, sum = parts.reduce(0, +)
        return parts.map { $0 / sum }
    }

    @Test(arguments: floatTypes) func softmax(_ type: ck_type) {
        var noise = Noise(seed: 11)
        for (outer, count, inner) in [(5, 7, 1), (2, 100, 1), (3, 5000, 1), (2, 9, 5), (1, 30, 150), (4, 1, 1)] {
            let input = Elements(type, count: outer * count * inner) { noise.value() * 5 }
            let output = Elements(type, count: input.count) { 9 }
            let values = input.doubles
            var want = values
            for o in 0..<outer {
                for i in 0..<inner {
                    let places = (0..<count).map { (o * count + $0) * inner + i }
                    for (place, y) in zip(places, Self.softmax(places.map { values[$0] })) { want[place] = y }
                }
            }
            atEachLevel { level in
                #expect(ck_softmax(type, output.memory, input.memory, outer, count, inner) == true)
                let worst = want.indices.map { abs(Double(output[$0]) - want[$0]) / (want[$0] + 1e-4) }.max()!
                #expect(worst < output.precision, "\(outer) \(count) \(inner) level \(level)")
            }
        }
    }

    @Test(arguments: [1, 3, 20, 3000]) func softmaxOfSpecialValues(_ repeats: Int) {
        let inf = Float.infinity
        let rows: [([Float], [Float])] = [
            ([1000, 1000, 0], [0.5, 0.5, 0]), ([inf, 1, 2], [1, 0, 0]), ([inf, -inf, inf], [0.5, 0, 0.5]),
            ([-inf, 0, 0], [0, 0.5, 0.5]), ([-inf, -inf, -inf], [0, 0, 0]),
            ([0, .nan, 1], [.nan, .nan, .nan]),
            ([.nan, inf, 1], [.nan, .nan, .nan]), ([-1e38, 1e38, 1e38], [0, 0.5, 0.5]),
        ]
        for (row, want) in rows {
            // Repeated in the same slice, then as neighbouring slices of a middle axis.
            let long = (0..<repeats).flatMap { _ in row },
                columns = row.flatMap { [Float](repeating: $0, count: repeats) }
            atEachLevel { level in
                for type in floatTypes where type != CK_F16 || row[0] != -1e38 {
                    let array = Elements(type, count: long.count) { 0 }
                    for middle in [false, true] {
                        for (i, x) in (middle ? columns : long).enumerated() { array[i] = x }
                        let done = ck_softmax(
                            type, array.memory, array.memory, 1, middle ? 3 : long.count, middle ? repeats : 1)
                        #expect(done)
                        for i in 0..<long.count {
                            let y = middle ? want[i / repeats] : want[i % 3] / Float(repeats)
                            let same = y.isNaN ? array[i].isNaN : abs(array[i] - y) <= y * Float(array.precision)
                            #expect(same, "\(row) level \(level) middle \(middle)")
                        }
                    }
                }
                var double = row.map(Double.init)
                #expect(ck_softmax(CK_F64, &double, double, 1, 3, 1) == true)
                for (x, y) in zip(double, want) { #expect(y.isNaN ? x.isNaN : abs(x - Double(y)) < 1e-7) }
            }
        }
    }

    struct Case: Sendable {
        var type = CK_F32, parameters = CK_F32
        let rows: Int, length: Int
        var residual = false, weight = true, bias = true, meanSquare = false
    }

    static let cases = [
        Case(rows: 5, length: 384), Case(rows: 3, length: 7, residual: true), Case(rows: 2, length: 9001),
        Case(type: CK_F16, rows: 4, length: 100, residual: true, bias: false),
        Case(type: CK_BF16, parameters: CK_BF16, rows: 3, length: 64, meanSquare: true),
        Case(type: CK_F16, parameters: CK_F16, rows: 2, length: 5000, residual: true),
        Case(rows: 3, length: 33, weight: false, meanSquare: true),
        Case(rows: 2, length: 40, weight: false, bias: false),
        Case(type: CK_F16, rows: 1, length: 1),
    ]

    @Test(arguments: cases.indices) func rows(_ index: Int) {
        let test = Self.cases[index], count = test.rows * test.length
        var noise = Noise(seed: 12)
        let input = Elements(test.type, count: count) { noise.value() * 2 + 30 }
        let residual = Elements(test.type, count: count) { noise.value() }
        let weight = Elements(test.parameters, count: test.length) { noise.value() }
        let bias = Elements(test.parameters, count: test.length) { noise.value() }
        let output = Elements(test.type, count: count) { 0 }, sum = Elements(test.type, count: count) { 0 }
        var norm = ck_row_norm()
        (norm.type, norm.rows, norm.length, norm.epsilon) = (test.type, test.rows, test.length, 1e-5)
        (norm.weight_type, norm.bias_type, norm.root_mean_square) = (test.parameters, test.parameters, test.meanSquare)
        norm.input = UnsafeRawPointer(input.memory)
        norm.output = output.memory
        if test.residual { (norm.residual, norm.sum) = (UnsafeRawPointer(residual.memory), sum.memory) }
        if test.weight { norm.weight = UnsafeRawPointer(weight.memory) }
        if test.bias { norm.bias = UnsafeRawPointer(bias.memory) }
        atEachLevel { level in
            #expect(ck_normalize_rows(&norm) == true)
            for row in 0..<test.rows {
                let x = (row * test.length..<(row + 1) * test.length).map {
                    Double(input[$0]) + (test.residual ? Double(residual[$0]) : 0)
                }
                let mean = test.meanSquare ? 0 : x.reduce(0, +) / Double(test.length)
                let variance = x.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(test.length)
                for i in 0..<test.length {
                    var y = (x[i] - mean) / (variance + 1e-5).squareRoot()
                    if test.weight { y *= Double(weight[i]) }
                    if test.bias { y += Double(bias[i]) }
                    let place = row * test.length + i
                    let allowed = output.precision * (abs(y) + 0.1) + 1e-5
                    #expect(abs(Double(output[place]) - y) < allowed, "level \(level)")
                    if test.residual { #expect(abs(Double(sum[place]) - x[i]) <= abs(x[i]) * sum.precision) }
                }
            }
        }
    }

    @Test(arguments: [(CK_F32, 3, 2, 35), (CK_F16, 2, 1, 50), (CK_BF16, 4, 3, 1), (CK_F32, 1, 4, 3000)])
    func groups(_ type: ck_type, groups: Int, channels: Int, length: Int) {
        var noise = Noise(seed: 13)
        let size = channels * length, count = 2 * groups * size
        let input = Elements(type, count: count) { noise.value() * 3 - 7 }, output = Elements(type, count: count) { 0 }
        let weight = Elements(CK_F32, count: groups * channels) { noise.value() }
        let bias = Elements(CK_F16, count: groups * channels) { noise.value() }
        var norm = ck_group_norm()
        (norm.type, norm.batch, norm.groups, norm.channels, norm.length) = (type, 2, groups, channels, length)
        (norm.weight_type, norm.bias_type, norm.epsilon) = (CK_F32, CK_F16, 1e-3)
        (norm.input, norm.output) = (UnsafeRawPointer(input.memory), output.memory)
        (norm.weight, norm.bias) = (UnsafeRawPointer(weight.memory), UnsafeRawPointer(bias.memory))
        atEachLevel { level in
            #expect(ck_normalize_groups(&norm) == true)
            for group in 0..<2 * groups {
                let x = (group * size..<(group + 1) * size).map { Double(input[$0]) }
                let mean = x.reduce(0, +) / Double(size)
                let variance = x.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(size)
                for i in 0..<size {
                    let channel = group % groups * channels + i / length
                    let scaled = (x[i] - mean) / (variance + 1e-3).squareRoot() * Double(weight[channel])
                    let y = scaled + Double(bias[channel])
                    let allowed = output.precision * (abs(y) + abs(scaled)) + 1e-4
                    #expect(abs(Double(output[group * size + i]) - y) < allowed, "level \(level)")
                }
            }
        }
    }
}
