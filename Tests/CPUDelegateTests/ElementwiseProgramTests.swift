import CPUKernels
import Foundation
import Testing

@Suite struct ElementwiseProgramTests {
    /// Element offsets of a strided array in the row-major order of `extents`.
    static func offsets(_ extents: [Int], _ strides: [Int]) -> [Int] {
        var result = [0]
        for (extent, stride) in zip(extents, strides) {
            result = result.flatMap { base in (0..<extent).map { base + $0 * stride } }
        }
        return result
    }

    /// All ways to broadcast two inputs over shapes of many kinds, and permuted and reversed inputs.
    @Test func broadcasting() throws {
        let shapes = [
            [1], [5], [1500], [2, 3], [40, 30], [3, 700], [2, 1, 5], [4, 3, 5], [2, 3, 4, 5], [3, 2, 600], [700, 3],
        ]
        let program = try #require(
            ElementwiseProgram(
                inputs: [CK_F32, CK_I16],
                [instruction(CK_EW_CAST, CK_I16, 1, to: CK_F32), instruction(CK_EW_SUB, CK_F32, 0, 2)],
                outputs: [ck_ew_output(value: 3, type: CK_F32)]))
        atEachLevel { level in
            for shape in shapes {
                let count = shape.reduce(1, *)
                let a = (0..<count).map { Float($0) }, b = (0..<count).map { Int16($0 % 311 - 100) }
                var dense = [Int](repeating: 1, count: shape.count)
                for d in stride(from: shape.count - 2, through: 0, by: -1) { dense[d] = dense[d + 1] * shape[d + 1] }
                for mask in 0..<(1 << shape.count) {
                    // The first input is broadcast where the mask says so, the second where it does not; the latter
                    // also walks backwards along the last dimension.
                    let first = dense.indices.map { mask >> $0 & 1 == 1 ? 0 : dense[$0] }
                    var second = dense.indices.map { mask >> $0 & 1 == 0 && mask != 0 ? 0 : dense[$0] }
                    second[shape.count - 1].negate()
                    let start = second[shape.count - 1] == 0 ? 0 : shape[shape.count - 1] - 1
                    var out = [Float](repeating: .nan, count: count)
                    let ran = b.withUnsafeBytes { b in
                        a.withUnsafeBytes { a in
                            out.withUnsafeMutableBytes { out in
                                program.run(
                                    shape, [a.baseAddress, b.baseAddress! + start * 2], strides: [first, second],
                                    into: [out.baseAddress])
                            }
                        }
                    }
                    let want = zip(Self.offsets(shape, first), Self.offsets(shape, second)).map {
                        a[$0] - Float(b[start + $1])
                    }
                    #expect(ran && out == want, "shape \(shape) mask \(mask) level \(level)")
                }
            }
        }
    }

    /// gelu(x · scale + bias) in 16-bit floats, scale transposed, bias per row; with a comparison as second output.
    @Test(arguments: [CK_F16, CK_BF16]) func halfChain(_ type: ck_type) throws {
        let rows = 37, columns = 90
        let program = try #require(
            ElementwiseProgram(
                inputs: [type, type, type], constants: [ck_ew_constant(type: CK_F32, real: 0.25, integer: 0)],
                [
                    instruction(CK_EW_MUL, CK_F32, 0, 1), instruction(CK_EW_ADD, CK_F32, 4, 2),
                    instruction(CK_EW_GELU, CK_F32, 5), instruction(CK_EW_LESS, CK_F32, 6, 3),
                    instruction(CK_EW_WHERE, CK_F32, 7, 3, 6),
                ],
                outputs: [ck_ew_output(value: 8, type: type), ck_ew_output(value: 7, type: CK_BOOL)]))
        var random = TestRandom(3)
        func halves(_ count: Int) -> (bits: [UInt16], values: [Float]) {
            let floats = (0..<count).map { _ in Float.random(in: -3...3, using: &random) }
            var bits = [UInt16](repeating: 0, count: count), values = floats
            ck_cast(type, &bits, CK_F32, floats, count)
            ck_cast(CK_F32, &values, type, bits, count)
            return (bits, values)
        }
        let x = halves(rows * columns), scale = halves(rows * columns), bias = halves(rows)
        try atEachLevel { level in
            var out = [UInt16](repeating: 0, count: rows * columns),
                flags = [UInt8](repeating: 9, count: rows * columns)
            let ran = x.bits.withUnsafeBytes { x in
                scale.bits.withUnsafeBytes { scale in
                    bias.bits.withUnsafeBytes { bias in
                        out.withUnsafeMutableBytes { out in
                            flags.withUnsafeMutableBytes { flags in
                                program.run(
                                    [rows, columns], [x.baseAddress, scale.baseAddress, bias.baseAddress],
                                    strides: [[columns, 1], [1, rows], [1, 0]],
                                    into: [out.baseAddress, flags.baseAddress])
                            }
                        }
                    }
                }
            }
            try #require(ran)
            var got = [Float](repeating: 0, count: out.count)
            ck_cast(CK_F32, &got, type, out, out.count)
            for row in 0..<rows {
                for column in 0..<columns {
                    let i = row * columns + column
                    let z = Double(x.values[i]) * Double(scale.values[column * rows + row]) + Double(bias.values[row])
                    let gelu = z * 0.5 * erfc(-z * 0.5.squareRoot())
                    #expect(abs(Double(got[i]) - max(gelu, 0.25)) <= abs(gelu) * 0x1p-8 + 1e-6, "level \(level)")
                    if abs(gelu - 0.25) > 1e-5 { #expect(flags[i] == (gelu < 0.25 ? 1 : 0)) }
                }
            }
        }
    }

    /// In place, where a later step still reads the input that the first output takes the place of.
    @Test func inPlace() throws {
        let program = try #require(
            ElementwiseProgram(
                inputs: [CK_I32], [instruction(CK_EW_ADD, CK_I32, 0, 0), instruction(CK_EW_MUL, CK_I32, 0, 0)],
                outputs: [ck_ew_output(value: 1, type: CK_I32), ck_ew_output(value: 2, type: CK_I32)]))
        atEachLevel { _ in
            var x = (0..<100_000).map { Int32($0 % 1000) }, square = x
            let ran = x.withUnsafeMutableBytes { x in
                square.withUnsafeMutableBytes { square in
                    program.run([100_000], [x.baseAddress], strides: [[1]], into: [x.baseAddress, square.baseAddress])
                }
            }
            #expect(ran)
            #expect(
                x.indices.allSatisfy { x[$0] == Int32($0 % 1000) * 2 && square[$0] == Int32($0 % 1000 * ($0 % 1000)) })
        }
    }

    /// Constants of every class, an input and a constant stored as they are, many live values.
    @Test func constantsAndManyValues() throws {
        let types = [CK_BOOL, CK_I8, CK_I64, CK_F64, CK_F32]
        let constants = types.map { ck_ew_constant(type: $0, real: 1.5, integer: 300) }
        var steps = [instruction(CK_EW_ADD, CK_F32, 0, 5)]
        for i in 0..<40 { steps.append(instruction(CK_EW_ADD, CK_F32, 6 + i, 5)) }
        for i in 0..<40 { steps.append(instruction(CK_EW_MAXIMUM, CK_F32, 46 + i, 45 - i)) }
        var outputs = [ck_ew_output(value: 0, type: CK_F32)]
        for i in 0..<4 { outputs.append(ck_ew_output(value: UInt16(i + 1), type: types[i])) }
        outputs.append(ck_ew_output(value: 86, type: CK_F32))
        let program = try #require(ElementwiseProgram(inputs: [CK_F32], constants: constants, steps, outputs: outputs))
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 8 * 7 * 3000, alignment: 64)
        defer { memory.deallocate() }
        let input = memory.baseAddress!.bindMemory(to: Float.self, capacity: 3000)
        for i in 0..<3000 { input[i] = Float(i) }
        let places = (0..<6).map { memory.baseAddress! + 8 * 3000 * ($0 + 1) }
        #expect(program.run([3000], [memory.baseAddress], strides: [[1]], into: places))
        let last = 2999
        #expect(places[0].load(fromByteOffset: last * 4, as: Float.self) == 2999)
        #expect(places[1].load(fromByteOffset: last, as: UInt8.self) == 1)
        #expect(places[2].load(fromByteOffset: last, as: Int8.self) == 44)
        #expect(places[3].load(fromByteOffset: last * 8, as: Int64.self) == 300)
        #expect(places[4].load(fromByteOffset: last * 8, as: Double.self) == 1.5)
        #expect(places[5].load(fromByteOffset: last * 4, as: Float.self) == 2999 + 41 * 1.5)
    }

    @Test func refusals() {
        let f32 = ck_ew_output(value: 1, type: CK_F32)
        func made(_ step: ck_ew_instruction, inputs: [ck_type] = [CK_F32], output: ck_ew_output = f32) -> Bool {
            ElementwiseProgram(inputs: inputs, [step], outputs: [output]) != nil
        }
        #expect(made(instruction(CK_EW_EXP, CK_F32, 0)))
        #expect(made(instruction(CK_EW_EXP, CK_F32, 0), inputs: [CK_BF16]))
        #expect(!made(instruction(CK_EW_EXP, CK_F32, 1)), "reads itself")
        #expect(!made(instruction(CK_EW_EXP, CK_F64, 0)), "class differs from its operand's")
        #expect(!made(instruction(CK_EW_EXP, CK_F16, 0), inputs: [CK_F16]), "no class of its own")
        #expect(
            !made(instruction(CK_EW_EXP, CK_I32, 0), inputs: [CK_I32], output: ck_ew_output(value: 1, type: CK_I32)))
        #expect(!made(instruction(CK_EW_EXP, CK_F32, 0), output: ck_ew_output(value: 2, type: CK_F32)))
        #expect(!made(instruction(CK_EW_EXP, CK_F32, 0), output: ck_ew_output(value: 1, type: CK_I32)))
        #expect(!made(instruction(CK_EW_WHERE, CK_F32, 0, 0, 0)), "condition is no bool")
        let program = ElementwiseProgram(inputs: [CK_F32], [instruction(CK_EW_EXP, CK_F32, 0)], outputs: [f32])
        #expect(
            program?.run([Int](repeating: 1, count: 17), [nil], strides: [[Int](repeating: 1, count: 17)], into: [nil])
                == false)
        #expect(program?.run([3, 0], [nil], strides: [[0, 1]], into: [nil]) == true, "nothing to do")
    }
}
