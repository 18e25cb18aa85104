import CoreAI
import EngineDelegation
import EngineGraph

/// Holds every value that a run computes against a reference's.
final class Comparer: Sendable {
    private struct Found {
        var divergence: Divergence
        var type: TensorType
        var rounds: Int
        var node: String?
    }

    private struct State {
        var found: [Value: Found] = [:]
        var remarks: [String] = []
    }

    private let ops: ProbedOps
    private let state = Locked(State())

    init(_ ops: ProbedOps) { self.ops = ops }

    /// Compares a value; the worst of its rounds stays.
    func compare(_ value: Value, _ tensor: HostTensor, _ reference: Numbers, node: String? = nil) {
        guard let actual = tensor.elements else { return }
        guard actual.count == reference.count else {
            remark("\(node ?? "a value"): \(tensor.type) can't be compared with \(reference.count) elements")
            return
        }
        let divergence = Divergence(actual, reference: reference)
        state.withLock { state in
            guard var found = state.found[value] else {
                state.found[value] = Found(divergence: divergence, type: tensor.type, rounds: 1, node: node)
                return
            }
            if divergence.isWorse(than: found.divergence) { found.divergence = divergence }
            found.rounds += 1
            state.found[value] = found
        }
    }

    func remark(_ text: String) { state.withLock { $0.remarks.append(text) } }

    var remarks: [String] { state.withLock { $0.remarks } }

    /// How many ops have a value that was compared.
    var comparedCount: Int {
        let values = state.withLock { Array($0.found.keys) }
        return Set(values.compactMap { ops.definitions[$0] }).count
    }

    /// The ops that differ, the worst first. `units` are those that computed each value.
    func operations(_ units: [Value: String]) -> [CompareReport.Operation] {
        let found = state.withLock { $0.found }
        var worst: [Int: CompareReport.Operation] = [:]
        for (value, result) in found {
            guard result.divergence.isAny, let index = ops.definitions[value] else { continue }
            if let other = worst[index], !result.divergence.isWorse(than: other.divergence) { continue }
            let entry = ops.entries[index]
            // Arguments and constants are the same on both sides; a result that was not compared may differ.
            let operands = entry.op.operands.map { operand -> Double? in
                guard ops.definitions[operand] != nil else { return .infinity }
                return found[operand].map { $0.divergence.mismatchedCount > 0 ? -.infinity : $0.divergence.psnr }
            }
            worst[index] = CompareReport.Operation(
                index: index, name: entry.op.kind.name, source: entry.source, node: result.node, unit: units[value],
                type: result.type.description, rounds: result.rounds, divergence: result.divergence,
                operandPsnr: operands.contains(nil) ? nil : operands.compactMap(\.self).min())
        }
        return worst.values.sorted { left, right in
            if left.divergence.isWorse(than: right.divergence) { return true }
            return !right.divergence.isWorse(than: left.divergence) && left.index < right.index
        }
    }
}
