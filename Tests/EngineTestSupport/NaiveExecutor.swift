package import EngineDelegation
package import EngineGraph

/// Runs a part op by op, every value in memory of its own: slow, and with nothing that could go wrong in a plan.
package enum NaiveExecutor {
    /// `states` are read and written in place.
    package static func run(
        _ part: Subgraph, _ inputs: [HostTensor], states: [HostTensor] = [], on host: any HostEvaluator
    ) throws -> [HostTensor] {
        var values = part.constants
        for (value, tensor) in zip(part.inputs, inputs) { values[value] = tensor }
        for (value, tensor) in zip(part.states, states) { values[value] = tensor }
        func tensor(_ value: Value) throws -> HostTensor {
            guard let tensor = values[value] else { throw Missing(value: value) }
            return tensor
        }
        for op in part.ops {
            switch op.kind {
            case .loadState: values[op.results[0]] = try tensor(op.operands[0]).copied()
            case .storeState:
                let (state, data) = (try tensor(op.operands[0]), try tensor(op.operands[1]))
                state.pointer.copyMemory(from: data.pointer, byteCount: data.byteCount)
            default:
                let results = try host.evaluate(
                    op, operands: try op.operands.map(tensor), results: op.results.map { part[type: $0] })
                for (value, result) in zip(op.results, results) { values[value] = result }
            }
        }
        return try part.outputs.map(tensor)
    }

    package struct Missing: Error {
        package let value: Value
    }
}
