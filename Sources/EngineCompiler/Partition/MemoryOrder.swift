import EngineDelegation
import EngineGraph

/// Orders the ops of a part so that less memory is in use at once: for where a budget is set and the program's own
/// order takes more.
enum MemoryOrder {
    /// Ordering looks at every op that is ready for each that is taken: not for programs without end.
    private static let opLimit = 8192

    /// The part with its ops in another order, each still after what it reads; states are accessed in the same order.
    static func run(_ part: Subgraph) -> Subgraph {
        guard part.ops.count > 2, part.ops.count <= opLimit else { return part }
        var schedule = Schedule(part)
        var result = part
        result.ops = schedule.run().map { part.ops[$0] }
        return result
    }

    private struct Schedule {
        let part: Subgraph
        /// How many ops each op still waits for, and which wait for it.
        private var waiting: [Int]
        private var followers: [[Int]]
        /// How many ops still read each value.
        private var readers: [Int]
        /// What a value takes of the working memory: nothing for what is the caller's, or constant.
        private let byteCounts: [Int]

        init(_ part: Subgraph) {
            self.part = part
            waiting = part.ops.map { _ in 0 }
            followers = part.ops.map { _ in [] }
            readers = part.types.map { _ in 0 }
            var byteCounts = part.types.map { $0.byteCount ?? 0 }
            for value in part.inputs + part.states + part.outputs + Array(part.constants.keys) {
                byteCounts[value.index] = 0
            }
            self.byteCounts = byteCounts
            var definitions: [Value: Int] = [:]
            var lastAccess: [Value: Int] = [:]
            for (index, op) in part.ops.enumerated() {
                var sources = Set(op.operands.compactMap { definitions[$0] })
                if op.isStateAccess, let state = op.operands.first {
                    if let last = lastAccess[state] { sources.insert(last) }
                    lastAccess[state] = index
                }
                for source in sources { followers[source].append(index) }
                waiting[index] = sources.count
                for operand in Set(op.operands) { readers[operand.index] += 1 }
                for result in op.results { definitions[result] = index }
            }
        }

        mutating func run() -> [Int] {
            var ready = part.ops.indices.filter { waiting[$0] == 0 }
            var order: [Int] = []
            while !ready.isEmpty {
                // What frees the most comes first; of equals, what the program has first.
                var best = 0
                for position in ready.indices.dropFirst() {
                    if (growth(ready[position]), ready[position]) < (growth(ready[best]), ready[best]) {
                        best = position
                    }
                }
                let index = ready.remove(at: best)
                order.append(index)
                for operand in Set(part.ops[index].operands) { readers[operand.index] -= 1 }
                for follower in followers[index] {
                    waiting[follower] -= 1
                    if waiting[follower] == 0 { ready.append(follower) }
                }
            }
            return order
        }

        /// By how many bytes the memory in use grows when an op has run.
        private func growth(_ index: Int) -> Int {
            let op = part.ops[index]
            let made = op.results.reduce(0) { $0 + byteCounts[$1.index] }
            let freed = Set(op.operands).reduce(0) { readers[$1.index] == 1 ? $0 + byteCounts[$1.index] : $0 }
            return made - freed
        }
    }
}
