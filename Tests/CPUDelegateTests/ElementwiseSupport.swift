import CPUKernels
import Testing

/// Swift's side of an element type, for the tests of kernels.
protocol KernelElement: BitwiseCopyable, Comparable {
    static var kernelType: ck_type { get }
    init()
}

extension Int8: KernelElement { static var kernelType: ck_type { CK_I8 } }
extension Int16: KernelElement { static var kernelType: ck_type { CK_I16 } }
extension Int32: KernelElement { static var kernelType: ck_type { CK_I32 } }
extension Int64: KernelElement { static var kernelType: ck_type { CK_I64 } }
extension UInt8: KernelElement { static var kernelType: ck_type { CK_U8 } }
extension UInt16: KernelElement { static var kernelType: ck_type { CK_U16 } }
extension UInt32: KernelElement { static var kernelType: ck_type { CK_U32 } }
extension UInt64: KernelElement { static var kernelType: ck_type { CK_U64 } }
extension Float: KernelElement { static var kernelType: ck_type { CK_F32 } }
extension Double: KernelElement { static var kernelType: ck_type { CK_F64 } }

/// A program, with its inputs as plain buffers.
final class ElementwiseProgram {
    let program: OpaquePointer

    init?(
        inputs: [ck_type], constants: [ck_ew_constant] = [], _ instructions: [ck_ew_instruction],
        outputs: [ck_ew_output]
    ) {
        let made = ck_ew_create(
            inputs, Int32(inputs.count), constants, Int32(constants.count), instructions, Int32(instructions.count),
            outputs, Int32(outputs.count))
        guard let made else { return nil }
        program = made
    }

    deinit { ck_ew_destroy(program) }

    /// `strides` are the inputs' in turn.
    func run(
        _ extents: [Int], _ inputs: [UnsafeRawPointer?], strides: [[Int]], into outputs: [UnsafeMutableRawPointer?]
    ) -> Bool {
        ck_ew_run(
            program, Int32(extents.count), extents.map(Int64.init), inputs, strides.joined().map(Int64.init), outputs)
    }
}

func instruction(
    _ op: ck_ew_op, _ type: ck_type, _ a: Int, _ b: Int = 0, _ c: Int = 0, to: ck_type = CK_F32
) -> ck_ew_instruction {
    ck_ew_instruction(op: op, type: type, to: to, a: UInt16(a), b: UInt16(b), c: UInt16(c))
}

/// One operation on dense inputs of one type.
func apply<T: KernelElement, R>(
    _ op: ck_ew_op, _ a: [T], _ b: [T]? = nil, result: R, type resultType: ck_type, input: ck_type? = nil
) throws -> [R] {
    let type = input ?? T.kernelType
    let inputs = b == nil ? [type] : [type, type]
    let program = ElementwiseProgram(
        inputs: inputs, [instruction(op, type, 0, 1, to: resultType)],
        outputs: [ck_ew_output(value: UInt16(inputs.count), type: resultType)])
    let made = try #require(program)
    var output = [R](repeating: result, count: a.count)
    let ran = a.withUnsafeBytes { a in
        (b ?? []).withUnsafeBytes { b in
            output.withUnsafeMutableBytes { output in
                made.run(
                    [a.count / MemoryLayout<T>.size], [a.baseAddress, b.baseAddress],
                    strides: inputs.map { _ in [1] }, into: [output.baseAddress])
            }
        }
    }
    #expect(ran)
    return output
}

/// The distance of `got` from `want` in units of the last place of a float of that size.
func ulps(_ got: Float, _ want: Double) -> Double {
    if want.isNaN || got.isNaN { return want.isNaN == got.isNaN ? 0 : .infinity }
    let nearest = Float(want)
    if nearest == got { return 0 }
    if nearest.isInfinite || got.isInfinite {
        return abs(want) > 3.4028e38 && abs(got) > 3.4028e38 && (want < 0) == (got < 0) ? 1 : .infinity
    }
    return abs(Double(got) - want) / Double(max(nearest.magnitude, Float.leastNormalMagnitude).ulp)
}

/// Repeatable numbers for tests.
struct TestRandom: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
