import EngineDelegation
import EngineGraph

/// What an op costs, whatever runs it: arithmetic, and bytes moved.
struct OpCost: Sendable {
    let operations: Double
    let bytes: Double

    init(_ op: Op, in part: Subgraph) {
        func size(_ value: Value) -> Double { Double(part[type: value].byteCount ?? 0) }
        func count(_ value: Value) -> Double { Double(part[type: value].elementCount ?? 0) }
        bytes = op.operands.reduce(0) { $0 + size($1) } + op.results.reduce(0) { $0 + size($1) }
        guard let result = op.results.first else {
            operations = 0
            return
        }
        switch op.kind {
        case .matmul, .batchMatmul, .broadcastingBatchMatmul:
            var isTransposed = false
            if case .matmul(let attributes) = op.attributes { isTransposed = attributes.transposesX }
            let shape = part[type: op.operands[0]].shape
            let depth = shape.count >= 2 ? shape[shape.count - (isTransposed ? 2 : 1)] : 1
            operations = 2 * count(result) * Double(depth)
        case .convolution, .conv2d, .conv3d, .convTranspose2d, .convTranspose3d:
            let weight = part[type: op.operands[1]].shape
            operations = 2 * count(result) * Double(weight.dropFirst().reduce(1, *))
        case .attention:
            let rows = count(op.operands[0])
            let keys = part[type: op.operands[1]].shape
            operations = 4 * rows * Double(keys.count >= 2 ? keys[keys.count - 2] : 1)
        default:
            operations = op.results.reduce(0) { $0 + count($1) }
        }
    }

    /// The seconds that the op takes on a unit, its operands being there.
    func seconds(on profile: UnitProfile) -> Double {
        profile.launchSeconds + max(operations / profile.operationsPerSecond, bytes / profile.bytesPerSecond)
    }
}

extension UnitProfile {
    /// The seconds that bringing so many bytes to or from the host takes.
    func transferSeconds(_ byteCount: Int) -> Double {
        byteCount == 0 ? 0 : transferSeconds + Double(byteCount) / transferBytesPerSecond
    }
}
