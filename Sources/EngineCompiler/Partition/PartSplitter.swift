package import EngineDelegation
package import EngineGraph

/// A stretch of a part that one unit runs, with its values' names in the whole.
package struct PlacedSubgraph: Sendable {
    package let unit: DelegateID
    package let part: Subgraph
    /// The values of the whole part that are its inputs, states and outputs, in order.
    package let inputs: [Value]
    package let states: [Value]
    package let outputs: [Value]
    /// The index in the whole part of each op.
    package let ops: [Int]
}

extension PlacedSubgraph {
    /// The same with its values called as in the function: `names` are those of the whole part's values.
    func renamed(_ names: [Value]) -> PlacedSubgraph {
        PlacedSubgraph(
            unit: unit, part: part, inputs: inputs.map { names[$0.index] }, states: states.map { names[$0.index] },
            outputs: outputs.map { names[$0.index] }, ops: ops)
    }
}

/// Cuts a placed part into stretches of one unit each, as few as the dependencies allow.
package enum PartSplitter {
    package static func split(_ part: Subgraph, units: [DelegateID]) -> [PlacedSubgraph] {
        guard let first = units.first else { return [] }
        if units.allSatisfy({ $0 == first }) {
            return [
                PlacedSubgraph(
                    unit: first, part: part, inputs: part.inputs, states: part.states, outputs: part.outputs,
                    ops: Array(part.ops.indices))
            ]
        }
        return order(part, units: units).map { extract(part, $0, unit: units[$0[0]]) }
    }

    /// Ops grouped into runs of one unit: whatever is ready on the unit at work goes before another unit starts.
    private static func order(_ part: Subgraph, units: [DelegateID]) -> [[Int]] {
        var waiting = part.ops.map { _ in 0 }
        var followers = part.ops.map { _ in [Int]() }
        var definitions: [Value: Int] = [:]
        var lastAccess: [Value: Int] = [:]
        for (index, op) in part.ops.enumerated() {
            var sources = Set(op.operands.compactMap { definitions[$0] })
            if op.isStateAccess, let state = op.operands.first {
                // Reads and writes of a state keep their order.
                if let last = lastAccess[state] { sources.insert(last) }
                lastAccess[state] = index
            }
            for source in sources { followers[source].append(index) }
            waiting[index] = sources.count
            for result in op.results { definitions[result] = index }
        }
        var ready = part.ops.indices.filter { waiting[$0] == 0 }
        var runs: [[Int]] = []
        while !ready.isEmpty {
            // The unit with the most work ready.
            let counts = Dictionary(grouping: ready) { units[$0] }
            let unit = counts.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }?.key ?? units[ready[0]]
            var run: [Int] = []
            while let position = ready.firstIndex(where: { units[$0] == unit }) {
                let index = ready.remove(at: position)
                run.append(index)
                for follower in followers[index] {
                    waiting[follower] -= 1
                    if waiting[follower] == 0 {
                        ready.insert(follower, at: ready.firstIndex { $0 > follower } ?? ready.count)
                    }
                }
            }
            runs.append(run)
        }
        return runs
    }

    private static func extract(_ part: Subgraph, _ indices: [Int], unit: DelegateID) -> PlacedSubgraph {
        var result = Subgraph(name: part.name)
        var map: [Value: Value] = [:]
        var inputs: [Value] = []
        var states: [Value] = []
        func define(_ value: Value) -> Value {
            result.types.append(part[type: value])
            let local = Value(result.types.count - 1)
            map[value] = local
            return local
        }
        for index in indices {
            var op = part.ops[index]
            op.operands = op.operands.map { operand in
                if let known = map[operand] { return known }
                let local = define(operand)
                if let constant = part.constants[operand] {
                    result.constants[local] = constant
                } else if part.states.contains(operand) {
                    result.states.append(local)
                    states.append(operand)
                } else {
                    result.inputs.append(local)
                    inputs.append(operand)
                }
                return local
            }
            op.results = op.results.map(define)
            result.ops.append(op)
        }
        let members = Set(indices)
        var readElsewhere = Set(part.outputs)
        for (index, op) in part.ops.enumerated() where !members.contains(index) {
            readElsewhere.formUnion(op.operands)
        }
        var outputs: [Value] = []
        for index in indices {
            for value in part.ops[index].results where readElsewhere.contains(value) {
                outputs.append(value)
                if let local = map[value] { result.outputs.append(local) }
            }
        }
        return PlacedSubgraph(
            unit: unit, part: result, inputs: inputs, states: states, outputs: outputs, ops: indices)
    }
}
