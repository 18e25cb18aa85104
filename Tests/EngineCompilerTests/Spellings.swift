import EngineDelegation
import EngineGraph
import EngineTestSupport

/// Networks' parts as the converter writes them out.
extension FunctionBuilder {
    mutating func shape(_ value: Value) -> [Int] { graph[type: value].tensor?.shape ?? [] }

    mutating func elementType(_ value: Value) -> ElementType { graph[type: value].tensor?.elementType ?? .float32 }

    mutating func reshaped(_ value: Value, _ shape: [Int]) -> Value {
        op(.reshape, value, integers(shape), shape: shape)
    }

    mutating func transposed(_ value: Value, _ order: [Int]) -> Value {
        let own = shape(value)
        return op(.transpose, value, integers(order), shape: order.map { own[$0] })
    }

    enum Deviation: CaseIterable { case rsqrt, power, quotient }

    /// `x − mean` over its deviation, along the last `axisCount` dimensions; without the mean where `isRMS`.
    mutating func normalized(
        _ x: Value, axisCount: Int, isRMS: Bool = false, _ deviation: Deviation = .rsqrt, squares: OpKind = .mul
    ) -> Value {
        let own = shape(x)
        let kept = own.count - axisCount
        let reduced = Array(own.prefix(kept)) + Array(repeating: 1, count: axisCount)
        let axes = integers(Array(kept..<own.count))
        var centred = x
        if !isRMS { centred = op(.broadcastingSub, x, op(.reduceMean, x, axes, shape: reduced)) }
        let square =
            squares == .mul
            ? op(.broadcastingMul, centred, centred) : op(.broadcastingPow, centred, float(2))
        let variance = op(.broadcastingAdd, op(.reduceMean, square, axes, shape: reduced), float(0.25))
        switch deviation {
        case .rsqrt: return op(.broadcastingMul, centred, op(.rsqrt, variance))
        case .power: return op(.broadcastingMul, op(.broadcastingPow, variance, float(-0.5)), centred, shape: own)
        case .quotient: return op(.broadcastingDivide, centred, op(.sqrt, variance))
        }
    }

    /// In single precision, for a value of 16 bits.
    mutating func widened(_ x: Value, _ body: (inout FunctionBuilder, Value) -> Value) -> Value {
        let type = elementType(x)
        let wide = op(.cast, x, type: .float32)
        return op(.cast, body(&self, wide), type: type)
    }

    mutating func groupNorm(_ x: Value, groups: Int, gamma: Value, beta: Value) -> Value {
        let own = shape(x)
        let split = [own[0], groups, own[1] / groups, own.dropFirst(2).reduce(1, *)]
        let normal = reshaped(normalized(reshaped(x, split), axisCount: 2), own)
        return op(.broadcastingAdd, op(.broadcastingMul, normal, gamma), beta)
    }

    /// [batch, heads, …] with each head `count` times in a row.
    mutating func repeatedHeads(_ x: Value, _ count: Int, by kind: OpKind = .tile) -> Value {
        let own = shape(x)
        let narrow = reshaped(x, [own[0], own[1], 1, own[2], own[3]])
        let type = [own[0], own[1], count, own[2], own[3]]
        let wide =
            kind == .tile
            ? op(.tile, narrow, integers([1, 1, count, 1, 1]), shape: type)
            : op(.broadcastTo, narrow, integers(type), shape: type)
        return reshaped(wide, [own[0], own[1] * count, own[2], own[3]])
    }

    /// softmax(0.5 · q · kᵀ, masked) · v for [batch, heads, rows, width].
    mutating func attention(
        _ q: Value, _ k: Value, _ v: Value, _ mask: (inout FunctionBuilder, Value) -> Value = { $1 }
    ) -> Value {
        let (own, keys) = (shape(q), shape(k))
        let type = [own[0], own[1], own[2], keys[2]]
        let scores = op(.broadcastingBatchMatmul, q, transposed(k, [0, 1, 3, 2]), shape: type)
        let masked = mask(&self, op(.broadcastingMul, scores, float(0.5)))
        let weights = op(.softmax, masked, integer(3))
        return op(.broadcastingBatchMatmul, weights, v, shape: [own[0], own[1], own[2], shape(v)[3]])
    }

    mutating func halves(_ x: Value) -> (Value, Value) {
        let own = shape(x)
        let half = Array(own.dropLast()) + [own[own.count - 1] / 2]
        let zeros = Array(repeating: 0, count: own.count)
        let steps = integers(Array(repeating: 1, count: own.count))
        return (
            op(.slice, x, integers(zeros), integers(half), steps, shape: half),
            op(.slice, x, integers(Array(zeros.dropLast()) + [half[half.count - 1]]), integers(own), steps, shape: half)
        )
    }

    /// `x · cos + concat(−x₂, x₁) · sin`.
    mutating func rotary(_ x: Value, _ cos: Value, _ sin: Value) -> Value {
        let own = shape(x)
        let (low, high) = halves(x)
        let turned = op(
            .concat, [integer(own.count - 1), op(.broadcastingMul, high, float(-1)), low],
            TensorType(own, elementType(x)))
        return op(.broadcastingAdd, op(.broadcastingMul, x, cos), op(.broadcastingMul, turned, sin))
    }

    /// The same by halves: tables are half as wide.
    mutating func rotaryByHalves(_ x: Value, _ cos: Value, _ sin: Value) -> Value {
        let own = shape(x)
        let (low, high) = halves(x)
        let first = op(.broadcastingSub, op(.broadcastingMul, low, cos), op(.broadcastingMul, high, sin))
        let second = op(.broadcastingAdd, op(.broadcastingMul, low, sin), op(.broadcastingMul, high, cos))
        return op(.concat, [integer(own.count - 1), first, second], TensorType(own, elementType(x)))
    }

    /// `x · (1 + erf(x / √2)) / 2`.
    mutating func writtenGelu(_ x: Value) -> Value {
        let erf = op(.erf, op(.broadcastingDivide, x, float(1.414_213_5)))
        return op(.broadcastingMul, op(.broadcastingMul, x, float(0.5)), op(.broadcastingAdd, erf, float(1)))
    }

    mutating func softplus(_ x: Value) -> Value {
        let scaled = op(.broadcastingMul, x, float(1))
        let log = op(.log, op(.broadcastingAdd, op(.exp, scaled), float(1)))
        let isLarge = op(.broadcastingGreater, scaled, float(20), type: .bool)
        return op(.broadcastingWhere, [isLarge, x, log], TensorType(shape(x), .float32))
    }

    mutating func bools(_ values: [Bool], _ shape: [Int]) -> Value {
        constant(values.map { $0 ? 1 : 0 }, TensorType(shape, .bool))
    }

    /// A constant with what `visible` says for each query and key.
    mutating func maskOf(_ rows: Int, _ columns: Int, _ visible: (Int, Int) -> Bool) -> Value {
        let values = (0..<(rows * columns)).map { visible($0 / columns, $0 % columns) ? Float(0) : -10000 }
        return floats(values, [rows, columns])
    }
}
