import CPUDelegate
import CPUKernels
import EngineDelegation
import EngineGraph
import Foundation
import Testing

/// Complex elements on the CPU, against formulas in double precision.
@Suite struct ComplexTests {
    struct Number: Equatable {
        var re = 0.0
        var im = 0.0

        static func * (x: Number, y: Number) -> Number {
            Number(re: x.re * y.re - x.im * y.im, im: x.re * y.im + x.im * y.re)
        }
        static func / (x: Number, y: Number) -> Number {
            let square = y.re * y.re + y.im * y.im
            let z = x * Number(re: y.re, im: -y.im)
            return Number(re: z.re / square, im: z.im / square)
        }
        static func + (x: Number, y: Number) -> Number { Number(re: x.re + y.re, im: x.im + y.im) }
        static func - (x: Number, y: Number) -> Number { Number(re: x.re - y.re, im: x.im - y.im) }

        var exponential: Number { Number(re: exp(re) * cos(im), im: exp(re) * sin(im)) }
        var logistic: Number { Number(re: 1) / (Number(re: 1) + Number(re: -re, im: -im).exponential) }
        var sine: Number { Number(re: sin(re) * cosh(im), im: cos(re) * sinh(im)) }
        var cosine: Number { Number(re: cos(re) * cosh(im), im: -sin(re) * sinh(im)) }
        var hyperbolicSine: Number { Number(re: sinh(re) * cos(im), im: cosh(re) * sin(im)) }
        var hyperbolicCosine: Number { Number(re: cosh(re) * cos(im), im: sinh(re) * sin(im)) }
        var logarithm: Number { Number(re: log(hypot(re, im)), im: atan2(im, re)) }
    }

    static let types: [ElementType] = [.complexFloat16, .complexBFloat16, .complexFloat32, .complexFloat64]
    private let unit = CPUDelegate()

    /// Parts in the real type of `type`, as a tensor.
    private func tensor(_ shape: [Int], _ type: ElementType, _ numbers: [Double]) throws -> HostTensor {
        let tensor = try HostTensor(allocating: TensorType(shape, type))
        let real = try #require((type.complexPart ?? type).kernelType)
        ck_cast(real, tensor.pointer, CK_F64, numbers, numbers.count)
        return tensor
    }

    private func parts(_ tensor: HostTensor) throws -> [Double] {
        let type = tensor.type.elementType
        let count = try #require(tensor.type.elementCount) * (type.isComplex ? 2 : 1)
        var numbers = [Double](repeating: 0, count: count)
        ck_cast(CK_F64, &numbers, try #require((type.complexPart ?? type).kernelType), tensor.pointer, count)
        return numbers
    }

    private func complex(_ shape: [Int], _ type: ElementType, _ seed: UInt64) throws -> HostTensor {
        var random = TestRandom(seed)
        let count = shape.reduce(1, *)
        return try tensor(shape, type, (0..<2 * count).map { _ in Double.random(in: -2...2, using: &random) })
    }

    private func numbers(_ tensor: HostTensor) throws -> [Number] {
        let parts = try parts(tensor)
        return stride(from: 0, to: parts.count, by: 2).map { Number(re: parts[$0], im: parts[$0 + 1]) }
    }

    private func evaluate(
        _ kind: OpKind, _ operands: [HostTensor], _ shape: [Int], _ type: ElementType
    ) throws -> HostTensor {
        try unit.evaluate(
            Op(kind, operands: operands.indices.map { Value($0) }, results: [Value(operands.count)]),
            operands: operands, results: [TensorType(shape, type)])[0]
    }

    private func check(_ actual: [Number], _ expected: [Number], _ type: ElementType, _ name: String) {
        let tolerance = [.complexFloat16: 4e-3, .complexBFloat16: 3e-2, .complexFloat32: 2e-6][type] ?? 1e-13
        for (a, e) in zip(actual, expected) {
            let scale = 1 + abs(e.re) + abs(e.im)
            #expect(
                abs(a.re - e.re) <= tolerance * scale && abs(a.im - e.im) <= tolerance * scale, "\(name): \(a), \(e)")
        }
        #expect(actual.count == expected.count)
    }

    @Test(arguments: types)
    func functions(_ type: ElementType) throws {
        let one = Number(re: 1)
        let functions: [(OpKind, (Number) -> Number)] = [
            (.exp, \.exponential), (.log, \.logarithm), (.sin, \.sine), (.cos, \.cosine),
            (.tan, { $0.sine / $0.cosine }), (.sinh, \.hyperbolicSine), (.cosh, \.hyperbolicCosine),
            (.sigmoid, \.logistic), (.silu, { $0 * one * $0.logistic }),
        ]
        // Rows longer than a block, and a number of them.
        let x = try complex([3, 301], type, 7)
        for (kind, reference) in functions {
            let result = try evaluate(kind, [x], [3, 301], type)
            try check(numbers(result), numbers(x).map(reference), type, kind.rawValue)
        }
    }

    @Test(arguments: types)
    func operations(_ type: ElementType) throws {
        let operations: [(OpKind, OpKind, (Number, Number) -> Number)] = [
            (.add, .broadcastingAdd, { $0 + $1 }), (.sub, .broadcastingSub, { $0 - $1 }),
            (.mul, .broadcastingMul, { $0 * $1 }), (.divide, .broadcastingDivide, { $0 / $1 }),
        ]
        let x = try complex([2, 3, 5], type, 1)
        let y = try complex([2, 3, 5], type, 2)
        let column = try complex([3, 1], type, 3)
        for (kind, broadcasting, reference) in operations {
            let (a, b, c) = (try numbers(x), try numbers(y), try numbers(column))
            let result = try evaluate(kind, [x, y], [2, 3, 5], type)
            try check(numbers(result), zip(a, b).map(reference), type, kind.rawValue)
            let wide = try evaluate(broadcasting, [x, column], [2, 3, 5], type)
            let expected = a.indices.map { reference(a[$0], c[$0 / 5 % 3]) }
            try check(numbers(wide), expected, type, broadcasting.rawValue)
        }
    }

    @Test func powers() throws {
        let x = try tensor([4], .complexFloat64, [1, 2, -1, 0.5, 0, 0, 3, -1])
        let y = try tensor([4], .complexFloat64, [2, 0, 0.5, -1, 0, 0, 1, 0])
        let (a, b) = (try numbers(x), try numbers(y))
        var expected = zip(a, b).map { ($1 * $0.logarithm).exponential }
        expected[2] = Number(re: 1)
        try check(numbers(evaluate(.pow, [x, y], [4], .complexFloat64)), expected, .complexFloat64, "pow")
    }

    @Test(arguments: types)
    func comparisons(_ type: ElementType) throws {
        let x = try tensor([4], type, [1, 2, 1, 2, .nan, 0, 0, -0.0])
        let y = try tensor([4], type, [1, 2, 1, 3, .nan, 0, -0.0, 0])
        let equal = try parts(evaluate(.equal, [x, y], [4], .bool))
        #expect(equal == [1, 0, 0, 1])
        let different = try parts(evaluate(.notEqual, [x, y], [4], .bool))
        #expect(different == [0, 1, 1, 0])
        let first = try tensor([1], type, [1, 2])
        let equalFirst = try parts(evaluate(.broadcastingEqual, [x, first], [4], .bool))
        #expect(equalFirst == [1, 1, 0, 0])
    }

    @Test(arguments: types)
    func choicesAndParts(_ type: ElementType) throws {
        let x = try complex([2, 3], type, 4)
        let y = try complex([3], type, 5)
        let (a, b) = (try numbers(x), try numbers(y))
        let condition = try tensor([2, 1], .bool, [1, 0])
        let chosen = try numbers(evaluate(.broadcastingWhere, [condition, x, y], [2, 3], type))
        #expect(chosen == Array(a.prefix(3)) + b)
        let part = try #require(type.complexPart)
        let real = try evaluate(.realPart, [x], [2, 3], part)
        let imaginary = try evaluate(.imaginaryPart, [x], [2, 3], part)
        let (reals, imaginaries) = (try parts(real), try parts(imaginary))
        let (givenReals, givenImaginaries) = (a.map(\.re), a.map(\.im))
        #expect(reals == givenReals)
        #expect(imaginaries == givenImaginaries)
        let made = try numbers(evaluate(.createComplex, [real, imaginary], [2, 3], type))
        #expect(made == a)
    }

    @Test func casts() throws {
        let x = try tensor([3], .complexFloat64, [0.5, -1, 2, 0.25, -3, 8])
        let a = try numbers(x)
        for type in Self.types {
            let cast = try numbers(evaluate(.cast, [x], [3], type))
            #expect(cast == a)
        }
        let reals = try parts(evaluate(.cast, [x], [3], .float16))
        #expect(reals == [0.5, 2, -3])
        let integers = try tensor([2], .int32, [16_777_217, -4])
        let numbers = try numbers(evaluate(.cast, [integers], [2], .complexFloat64))
        #expect(numbers == [Number(re: 16_777_217), Number(re: -4)])
    }

    @Test func sumsAreThoseOfTheParts() throws {
        let x = try complex([3, 4], .complexFloat32, 6)
        let axes = try #require(HostTensor(integers: [0], type: TensorType([1], .int32)))
        let sums = try numbers(evaluate(.reduceSum, [x, axes], [1, 4], .complexFloat32))
        let a = try numbers(x)
        check(sums, (0..<4).map { a[$0] + a[$0 + 4] + a[$0 + 8] }, .complexFloat32, "reduce_sum")
    }

    @Test(arguments: [ElementType.float64, .complexFloat32, .complexFloat64])
    func products(_ type: ElementType) throws {
        let isComplex = type.isComplex
        func values(_ tensor: HostTensor) throws -> [Number] {
            if isComplex { return try numbers(tensor) }
            return try parts(tensor).map { Number(re: $0) }
        }
        func operand(_ shape: [Int], _ seed: UInt64) throws -> HostTensor {
            var random = TestRandom(seed)
            let count = shape.reduce(isComplex ? 2 : 1, *)
            return try tensor(shape, type, (0..<count).map { _ in Double.random(in: -1...1, using: &random) })
        }
        let x = try operand([2, 3, 7], 8)
        let y = try operand([1, 7, 5], 9)
        let (a, b) = (try values(x), try values(y))
        var expected: [Number] = []
        for row in 0..<6 {
            for column in 0..<5 {
                expected.append((0..<7).reduce(Number()) { $0 + a[row * 7 + $1] * b[$1 * 5 + column] })
            }
        }
        let result = try values(evaluate(.broadcastingBatchMatmul, [x, y], [2, 3, 5], type))
        check(result, expected, isComplex ? type : .complexFloat64, "product")
    }

    @Test func quotientsOfExtremesStayFinite() throws {
        let x = try tensor([2], .complexFloat64, [1e300, 1e300, 1e-300, 1e-300])
        let result = try parts(evaluate(.divide, [x, x], [2], .complexFloat64))
        #expect(result == [1, 0, 1, 0])
        let far = try tensor([2], .complexFloat32, [1e4, 1, -1e4, 1])
        let logistic = try parts(evaluate(.sigmoid, [far], [2], .complexFloat32))
        let areFinite = logistic.allSatisfy { $0.isFinite }
        #expect(areFinite)
        #expect(logistic[0] == 1 && logistic[2] == 0)
    }
}

extension ElementType {
    fileprivate var kernelType: ck_type? {
        switch self {
        case .bool: CK_BOOL
        case .int32: CK_I32
        case .float16: CK_F16
        case .bfloat16: CK_BF16
        case .float32: CK_F32
        case .float64: CK_F64
        default: nil
        }
    }
}
