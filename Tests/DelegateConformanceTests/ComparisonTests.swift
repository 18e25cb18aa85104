import CPUDelegate
import DelegateConformance
import EngineDelegation
import EngineGraph
import TestDelegate
import Testing

@Suite struct ComparisonTests {
    private func difference(
        _ values: [Double], _ expected: [Double], _ type: ElementType = .float32,
        _ precision: Precision = .arithmetic, onCPU: Bool = true
    ) -> String? {
        Elements([values.count], type, values).difference(
            from: Elements([expected.count], .float64, expected), Tolerance(type, precision, onCPU: onCPU), precision)
    }

    @Test func comparesNumbersByTheirTolerance() {
        #expect(difference([1, .nan, .infinity], [1, .nan, .infinity]) == nil)
        #expect(difference([1.0001], [1]) == nil)
        #expect(difference([1.0002], [1]) != nil)
        #expect(difference([1.0003], [1], .float32, .product) == nil)
        #expect(difference([1.0003], [1], .float32, .transcendental, onCPU: true) != nil)
        #expect(difference([1.0003], [1], .float32, .transcendental, onCPU: false) == nil)
        #expect(difference([1.0625], [1], .bfloat16) != nil)
        #expect(difference([1.0078125], [1], .bfloat16) == nil)
        #expect(difference([.nan], [1]) != nil && difference([1], [.nan]) != nil)
        #expect(difference([1], [.infinity]) != nil)
        #expect(difference([.infinity], [-.infinity]) != nil && difference([.infinity], [1e30]) != nil)
        // What is past the type's largest number is infinite in it.
        #expect(difference([.infinity], [1e6], .float16) == nil)
        #expect(difference([1, 2], [1]) != nil)
    }

    @Test func comparesOthersExactly() {
        #expect(difference([3, -3], [3, -3], .int8) == nil)
        #expect(difference([3, -3], [3, -2], .int8) == "element 1 is -3.0, expected -2.0")
        let (zero, minus) = (Elements([1], .float32, [0.0]), Elements([1], .float32, [-0.0]))
        let tolerance = Tolerance(.float32, .exact, onCPU: true)
        #expect(zero.difference(from: minus, tolerance, .exact) != nil)
        let nan = Elements([1], .float32, [Double.nan])
        let other = Elements(TensorType([1], .float32), bits: [0x7FC0_0001])
        #expect(nan.difference(from: other, tolerance, .exact) == nil)
    }

    @Test func elementsKeepTheirBits() throws {
        for type in ElementType.allCases where type.bitWidth <= 64 || type == .complexFloat64 {
            let elements = Elements([3, 5], type, .codes)
            #expect(Elements(try elements.tensor()).bits == elements.bits, "\(type)")
        }
        #expect(Elements([4], .int8, [127, 128, -1, 256]).integers == [127, -128, -1, 0])
        #expect(Elements([2], .bfloat16, [1 + 0x1p-8, 1 + 0x3p-8]).reals == [1, 1 + 0x1p-6])
    }
}

@Suite struct SupportTableTests {
    @Test func tellsWhatUnitsTake() throws {
        let cases = OpCase.all.filter { [.add, .softmax].contains($0.kind) }
        var options = TestOptions(ops: [.add])
        options.elements = [.float32, .float16]
        options.declines = { op, part in part[type: op.results[0]].shape == [] ? "a scalar" : nil }
        let unit = TestDelegate(computing: CPUDelegate.shared, options)
        let table = supportTable(delegates: [CPUDelegate.shared, unit], cases: cases)
        #expect(table.units == ["cpu", "test"])
        #expect(table.rows.map(\.op) == ["add", "softmax"])
        #expect(table.rows[1].types["f32"]?["test"]?.reason == "test does not take softmax")
        #expect(table.rows[0].types["f32"]?["cpu"]?.declined == 0)
        let lines = table.markdown.split(separator: "\n").map(String.init)
        #expect(lines[0] == "| op | cpu | test |")
        #expect(lines[2].hasSuffix("| f16 f32* |"))
        #expect(lines[3] == "| `softmax` | all 4 types | – |")
    }

    @Test func timesWhatIsTaken() throws {
        let cases = OpCase.all.filter {
            $0.kind == .add && ["3x5", "257x257"].contains($0.variant) && $0.type == .float32
        }
        let timings = try time(delegate: CPUDelegate.shared, cases: cases, seconds: 0.001)
        #expect(timings.map(\.name) == ["add.f32.3x5", "add.f32.257x257"])
        for timing in timings { #expect(timing.nanoseconds >= 1 && timing.gigabytesPerSecond > 0) }
        let unit = TestDelegate(computing: CPUDelegate.shared, TestOptions(ops: []))
        #expect(try time(delegate: unit, cases: cases).isEmpty)
        #expect(OpCase.large.count > 30)
    }
}
