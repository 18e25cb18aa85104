import EngineDelegation
import EngineGraph

/// Folds what scales and shifts each channel of a convolution's or a product's result, as batch normalization does, into
/// its weights: `(conv(x, w) + b − mean) / σ · γ + β` becomes `conv(x, w · s) + t`. Done on the function, so that weights
/// are folded once, however many shapes it is bound to.
package enum WeightFolding {
    /// Scaled weights stand beside those in the file: beyond so many bytes they stay as they are.
    private static let byteLimit = 64 << 20

    package static func run(_ compiled: inout CompiledGraph) {
        var reads: [Value: Int] = [:]
        for op in compiled.graph.body.ops { for value in op.reads { reads[value, default: 0] += 1 } }
        for value in compiled.graph.body.results { reads[value, default: 0] += 1 }
        var definitions: [Value: Int] = [:]
        for (index, op) in compiled.graph.body.ops.enumerated() {
            for result in op.results { definitions[result] = index }
        }
        var folded: Set<Int> = []
        // From the end: the longest chain comes first.
        for index in compiled.graph.body.ops.indices.reversed() where !folded.contains(index) {
            guard let chain = Chain(endingAt: index, compiled, definitions, reads), chain.isScaled,
                chain.apply(to: &compiled)
            else { continue }
            folded.formUnion(chain.removed)
        }
        compiled.graph.body.ops = compiled.graph.body.ops.enumerated().filter { !folded.contains($0.offset) }
            .map(\.element)
    }
}

extension WeightFolding {
    /// A convolution or a product, and the ops on each channel of its result that follow it.
    private struct Chain {
        /// The ops that the weights take in, the last one first.
        private(set) var ops: [Int] = []
        private(set) var isScaled = false
        private let base: Op
        private let baseIndex: Int
        private let weight: HostTensor
        /// The dimension of the weights that counts the channels.
        private let axis: Int
        private let isProduct: Bool
        /// The dimension of the result that does.
        private let channel: Int
        /// y = scale · x + shift.
        private var scale: [Double]
        private var shift: [Double]
        private let result: Value
        private let resultType: TensorType

        init?(endingAt last: Int, _ compiled: CompiledGraph, _ definitions: [Value: Int], _ reads: [Value: Int]) {
            let graph = compiled.graph
            // The chain's constants, the last op's first.
            var steps: [(op: Op, constant: HostTensor, isReversed: Bool)] = []
            var index = last
            while let (next, step) = Self.step(graph.body.ops[index], compiled) {
                steps.append(step)
                ops.append(index)
                guard reads[next] == 1, let definition = definitions[next] else { return nil }
                index = definition
            }
            guard !steps.isEmpty, case .tensor(let type) = graph[type: graph.body.ops[last].results[0]] else {
                return nil
            }
            base = graph.body.ops[index]
            baseIndex = index
            result = graph.body.ops[last].results[0]
            resultType = type
            guard let found = Self.weight(of: base, compiled, definitions), type.elementType == .float32,
                found.tensor.type.elementType == .float32, found.tensor.byteCount <= byteLimit,
                case .tensor(let own) = graph[type: base.results[0]], own.rank == type.rank,
                own.elementType == .float32
            else { return nil }
            weight = found.tensor
            axis = found.axis
            isProduct = found.isProduct
            channel = found.isProduct ? type.rank - 1 : 1
            let count = weight.type.shape[axis]
            guard count > 0, channel < type.rank, type.shape[channel] == count else { return nil }
            scale = Array(repeating: 1, count: count)
            shift = Array(repeating: 0, count: count)
            for step in steps.reversed() {
                guard let vector = Self.vector(step.constant, channel: channel, of: type.rank, count: count),
                    apply(step.op.kind, vector, isReversed: step.isReversed)
                else { return nil }
            }
            guard (scale + shift).allSatisfy(\.isFinite) else { return nil }
        }

        /// The value that an op of two computes with a constant.
        private static func step(
            _ op: Op, _ compiled: CompiledGraph
        ) -> (Value, (op: Op, constant: HostTensor, isReversed: Bool))? {
            let kinds: Set<OpKind> = [
                .add, .broadcastingAdd, .sub, .broadcastingSub, .mul, .broadcastingMul, .divide, .broadcastingDivide,
            ]
            guard kinds.contains(op.kind), op.operands.count == 2 else { return nil }
            if let constant = compiled.constants[op.operands[1]] { return (op.operands[0], (op, constant, false)) }
            if let constant = compiled.constants[op.operands[0]] { return (op.operands[1], (op, constant, true)) }
            return nil
        }

        private static func weight(
            of op: Op, _ compiled: CompiledGraph, _ definitions: [Value: Int]
        ) -> (tensor: HostTensor, axis: Int, isProduct: Bool)? {
            switch op.kind {
            case .conv2d, .conv3d:
                return compiled.constants[op.operands[1]].map { ($0, 0, false) }
            case .batchMatmul, .broadcastingBatchMatmul:
                if let tensor = compiled.constants[op.operands[1]], tensor.type.rank == 2 { return (tensor, 1, true) }
                // A transposed weight stays as it is stored.
                guard let index = definitions[op.operands[1]] else { return nil }
                let transpose = compiled.graph.body.ops[index]
                guard transpose.kind == .transpose, let tensor = compiled.constants[transpose.operands[0]],
                    tensor.type.rank == 2, let order = compiled.constants[transpose.operands[1]]?.integers(),
                    order == [1, 0] || order == [-1, -2]
                else { return nil }
                return (tensor, 0, true)
            default: return nil
            }
        }

        /// A constant as one number a channel; nil where it differs along other dimensions.
        private static func vector(_ tensor: HostTensor, channel: Int, of rank: Int, count: Int) -> [Double]? {
            let shape = tensor.type.shape
            guard tensor.type.elementType == .float32, shape.count <= rank,
                let numbers = tensor.numbers(limit: 1 << 20)
            else { return nil }
            let aligned = Array(repeating: 1, count: rank - shape.count) + shape
            guard aligned.indices.allSatisfy({ aligned[$0] == 1 || ($0 == channel && aligned[$0] == count) }) else {
                return nil
            }
            return numbers.count == 1 ? Array(repeating: numbers[0], count: count) : numbers
        }

        private mutating func apply(_ kind: OpKind, _ vector: [Double], isReversed: Bool) -> Bool {
            for (index, number) in vector.enumerated() {
                switch kind {
                case .add, .broadcastingAdd: shift[index] += number
                case .sub, .broadcastingSub:
                    shift[index] = isReversed ? number - shift[index] : shift[index] - number
                    if isReversed { scale[index] = -scale[index] }
                case .mul, .broadcastingMul:
                    scale[index] *= number
                    shift[index] *= number
                default:
                    if isReversed { return false }
                    scale[index] /= number
                    shift[index] /= number
                }
            }
            if scale.contains(where: { $0 != 1 }) { isScaled = true }
            return true
        }

        /// Puts the folded op in the place of the base, and its shift in the place of the chain's last op.
        func apply(to compiled: inout CompiledGraph) -> Bool {
            guard let weights = scaledWeight() else { return false }
            var folded = base
            folded.operands[1] = Self.define(weights, in: &compiled)
            folded.fused = base.origins + removed.reversed().flatMap { compiled.graph.body.ops[$0].origins }
            guard shift.contains(where: { $0 != 0 }) else {
                folded.results = [result]
                compiled.graph.body.ops[baseIndex] = folded
                return true
            }
            let ones = Array(repeating: 1, count: resultType.rank - 1 - channel)
            guard let vector = Self.tensor(shift, [shift.count] + ones) else { return false }
            compiled.graph.body.ops[baseIndex] = folded
            let last = compiled.graph.body.ops[ops[0]]
            compiled.graph.body.ops[ops[0]] = Op(
                .broadcastingAdd, operands: [base.results[0], Self.define(vector, in: &compiled)], results: [result],
                location: last.location)
            return true
        }

        /// The ops that are not needed any more.
        var removed: ArraySlice<Int> { shift.contains { $0 != 0 } ? ops.dropFirst() : ops[...] }

        private static func define(_ tensor: HostTensor, in compiled: inout CompiledGraph) -> Value {
            let value = compiled.graph.makeValue(.tensor(tensor.type))
            compiled.constants[value] = tensor
            return value
        }

        private static func tensor(_ numbers: [Double], _ shape: [Int]) -> HostTensor? {
            guard let tensor = try? HostTensor(allocating: TensorType(shape, .float32)) else { return nil }
            for (index, number) in numbers.enumerated() {
                tensor.pointer.storeBytes(of: Float(number), toByteOffset: index * 4, as: Float.self)
            }
            return tensor
        }

        /// The weight times the scale of each channel; a product's as columns, however it is stored.
        private func scaledWeight() -> HostTensor? {
            let shape = weight.type.shape
            let isTurned = isProduct && axis == 0
            let made = try? HostTensor(
                allocating: isTurned ? TensorType(shape.reversed(), .float32) : weight.type)
            guard let made else { return nil }
            let (outer, inner) = (shape[..<axis].reduce(1, *), shape[(axis + 1)...].reduce(1, *))
            let source = UnsafeRawPointer(weight.pointer)
            for block in 0..<outer {
                for (index, factor) in scale.enumerated() {
                    let factor = Float(factor)
                    let first = (block * scale.count + index) * inner
                    for element in 0..<inner {
                        let number = source.loadUnaligned(fromByteOffset: (first + element) * 4, as: Float.self)
                        let place = isTurned ? element * scale.count + index : first + element
                        made.pointer.storeBytes(of: number * factor, toByteOffset: place * 4, as: Float.self)
                    }
                }
            }
            return made
        }
    }
}
