package import EngineDelegation
package import EngineGraph

/// Which units may run a function, and how strictly.
package struct UnitChoice: Sendable {
    /// The units beside the CPU, the preferred one first.
    package var units: [any Delegate]
    /// Whether the first of `units` was asked for: as much as possible goes there.
    package var isPreferred: Bool
    /// Whether what the preferred unit can't run is an error.
    package var isStrict: Bool

    package init(units: [any Delegate] = [], isPreferred: Bool = false, isStrict: Bool = false) {
        self.units = units
        self.isPreferred = isPreferred
        self.isStrict = isStrict
    }

    /// Everything on the CPU.
    package static let cpuOnly = UnitChoice()
}

/// Where one pattern goes, and why not elsewhere.
package struct PatternPlacement: Sendable {
    package let op: Op
    package var unit: DelegateID
    /// For each unit that was asked and does not run the pattern, its reason.
    package var declined: [DelegateID: String]
    /// What runs the pattern, and what it costs there.
    var delegate: any Delegate
    let cost: OpCost
    /// Bytes that come from other units, and that go to them.
    package var crossingByteCount: Int
    /// Whether the op computes nothing worth a unit: views, copies, states, integer arithmetic on shapes.
    package let isBookkeeping: Bool

    /// The seconds that the cost model expects, on the unit chosen. Asks for its profile, which may be measured then.
    package var estimatedSeconds: Double { cost.seconds(on: delegate.profile) }
}

/// Places the patterns of a part: the preferred unit first, then the others, then the CPU, which runs everything.
package struct Partitioner {
    private let part: Subgraph
    private let units: [any Delegate]
    private let host: any Delegate
    private let choice: UnitChoice
    private let locations: [SourceLocation]
    /// For each op the index of its unit in `units`; the CPU is the last.
    private var assigned: [Int]
    private var declined: [[DelegateID: String]]
    private var costs: [OpCost]
    /// The op that defines each value.
    private var definitions: [Int?]
    private var readers: [[Int]]

    /// - Parameter locations: What `Op.location` is an index into, for messages.
    package init(
        _ part: Subgraph, choice: UnitChoice, host: any Delegate, locations: [SourceLocation] = []
    ) {
        self.part = part
        self.locations = locations
        self.choice = choice
        self.host = host
        units = choice.units + [host]
        assigned = part.ops.map { _ in choice.units.count }
        declined = part.ops.map { _ in [:] }
        costs = part.ops.map { OpCost($0, in: part) }
        definitions = part.types.map { _ in nil }
        readers = part.types.map { _ in [] }
        for (index, op) in part.ops.enumerated() {
            for result in op.results { definitions[result.index] = index }
            for operand in op.operands where readers[operand.index].last != index {
                readers[operand.index].append(index)
            }
        }
    }

    private var hostIndex: Int { units.count - 1 }

    /// The placement of every op of the part, in order.
    package mutating func run() throws(EngineError) -> [PatternPlacement] {
        if !choice.units.isEmpty {
            ask()
            placeBookkeeping()
            if !choice.isStrict { settle() }
            placeBookkeeping()
            placeStates()
            if choice.isStrict { try checkStrict() }
        }
        return part.ops.indices.map { index in
            PatternPlacement(
                op: part.ops[index], unit: units[assigned[index]].id, declined: declined[index],
                delegate: units[assigned[index]], cost: costs[index], crossingByteCount: crossing(index),
                isBookkeeping: isBookkeeping(part.ops[index]))
        }
    }

    // MARK: - Steps

    /// Asks each unit in order; the first that takes an op has it.
    private mutating func ask() {
        for (index, op) in part.ops.enumerated() where !op.isStateAccess {
            for (unit, delegate) in units.enumerated() {
                if unit == hostIndex {
                    assigned[index] = unit
                    break
                }
                switch delegate.support(for: op, in: part) {
                case .supported: assigned[index] = unit
                case .declined(let reason):
                    declined[index][delegate.id] = reason
                    continue
                }
                break
            }
        }
    }

    /// Views and copies go where what they view was computed, if that unit takes them.
    private mutating func placeBookkeeping() {
        for (index, op) in part.ops.enumerated() where op.isBookkeeping && !op.isStateAccess {
            let source = op.operands.first.flatMap { definitions[$0.index] }.map { assigned[$0] }
            let target = op.results.first.flatMap { readers[$0.index].first }.map { assigned[$0] }
            guard let unit = source ?? target, canRun(index, on: unit) else { continue }
            assigned[index] = unit
        }
    }

    private func canRun(_ index: Int, on unit: Int) -> Bool {
        if unit == hostIndex { return true }
        return units[unit].support(for: part.ops[index], in: part) == .supported
    }

    /// Moves groups back to the CPU where staying costs more than it gains: the way there and back, and the launches.
    private mutating func settle() {
        for _ in 0..<4 {
            var isChanged = false
            for group in groups() {
                let unit = assigned[group[0]]
                let computing = group.filter { !part.ops[$0].isBookkeeping }
                guard unit != hostIndex, !computing.isEmpty else { continue }
                // What was asked for goes where it was asked for, unless it is an island among the CPU's ops.
                let all = part.ops.indices.filter { !part.ops[$0].isBookkeeping }
                if choice.isPreferred, unit == 0, computing.count * 2 >= all.count { continue }
                let stay = seconds(group, on: unit) * (choice.isPreferred && unit == 0 ? 0.5 : 1)
                let move = seconds(group, on: hostIndex)
                guard move < stay else { continue }
                for index in group {
                    assigned[index] = hostIndex
                    declined[index][units[unit].id] =
                        "supported, but the way there and back costs more than it gains"
                }
                isChanged = true
            }
            if !isChanged { return }
        }
    }

    /// A state is where all that reads and replaces it is; the CPU's where several units do.
    private mutating func placeStates() {
        for state in part.states {
            let accesses = part.ops.indices.filter {
                part.ops[$0].isStateAccess && part.ops[$0].operands.first == state
            }
            var touching: Set<Int> = []
            for access in accesses {
                let op = part.ops[access]
                for result in op.results { touching.formUnion(readers[result.index].map { assigned[$0] }) }
                for operand in op.operands.dropFirst() {
                    if let definition = definitions[operand.index] { touching.insert(assigned[definition]) }
                }
            }
            guard touching.count == 1, let unit = touching.first, accesses.allSatisfy({ canRun($0, on: unit) }) else {
                continue
            }
            for access in accesses { assigned[access] = unit }
        }
    }

    private func checkStrict() throws(EngineError) {
        var misplaced: [String] = []
        for (index, op) in part.ops.enumerated() where !isBookkeeping(op) && assigned[index] != 0 {
            let reason = declined[index][units[0].id] ?? "it was placed on \(units[assigned[index]].id)"
            misplaced.append(locations.describe(op) + ": " + reason)
        }
        if !misplaced.isEmpty { throw .misplaced(unit: units[0].id.name, ops: misplaced) }
    }

    /// Whether the op computes nothing worth a unit: views, copies, states, integer arithmetic on shapes.
    private func isBookkeeping(_ op: Op) -> Bool {
        op.isBookkeeping
            || (op.operands + op.results).allSatisfy {
                let type = part[type: $0]
                return type.rank <= 1 && (type.elementType.isInteger || type.elementType == .bool)
            }
    }

    // MARK: - Costs

    /// Ops of one unit that feed each other without leaving it, each group in program order.
    private func groups() -> [[Int]] {
        var parent = Array(part.ops.indices)
        func root(_ index: Int) -> Int {
            var index = index
            while parent[index] != index { index = parent[index] }
            return index
        }
        for (index, op) in part.ops.enumerated() {
            for operand in op.operands {
                guard let definition = definitions[operand.index], assigned[definition] == assigned[index] else {
                    continue
                }
                let (first, second) = (root(definition), root(index))
                if first != second { parent[max(first, second)] = min(first, second) }
            }
        }
        return Dictionary(grouping: part.ops.indices, by: root).values.map { $0.sorted() }.sorted { $0[0] < $1[0] }
    }

    /// The seconds that a group takes on a unit, with what crosses its border.
    private func seconds(_ group: [Int], on unit: Int) -> Double {
        let members = Set(group)
        let profile = units[unit].profile
        var seconds = group.reduce(0) {
            $0 + (part.ops[$1].isBookkeeping ? 0 : costs[$1].seconds(on: profile))
        }
        func unitOf(_ index: Int) -> Int { members.contains(index) ? unit : assigned[index] }
        var counted: Set<Value> = []
        for index in group {
            for operand in part.ops[index].operands where counted.insert(operand).inserted {
                if part.constants[operand] != nil { continue }
                let source = definitions[operand.index].map(unitOf) ?? hostIndex
                seconds += transfer(operand, from: source, to: unit)
            }
            for result in part.ops[index].results {
                var targets = Set(readers[result.index].filter { !members.contains($0) }.map(unitOf))
                if part.outputs.contains(result) { targets.insert(hostIndex) }
                for target in targets { seconds += transfer(result, from: unit, to: target) }
            }
        }
        return seconds
    }

    private func transfer(_ value: Value, from source: Int, to target: Int) -> Double {
        guard source != target else { return 0 }
        let byteCount = part[type: value].byteCount ?? 0
        return [source, target].filter { $0 != hostIndex }.reduce(0) {
            $0 + units[$1].profile.transferSeconds(byteCount)
        }
    }

    private func crossing(_ index: Int) -> Int {
        let op = part.ops[index]
        var byteCount = 0
        for operand in Set(op.operands) where part.constants[operand] == nil {
            let source = definitions[operand.index].map { assigned[$0] } ?? hostIndex
            if source != assigned[index] { byteCount += part[type: operand].byteCount ?? 0 }
        }
        for result in op.results {
            var targets = Set(readers[result.index].map { assigned[$0] })
            if part.outputs.contains(result) { targets.insert(hostIndex) }
            if targets.contains(where: { $0 != assigned[index] }) { byteCount += part[type: result].byteCount ?? 0 }
        }
        return byteCount
    }
}

extension Op {
    /// Whether the op reads or replaces a state.
    package var isStateAccess: Bool { kind == .loadState || kind == .storeState }

    /// Whether the op computes nothing: views, copies, states, shapes.
    package var isBookkeeping: Bool {
        switch kind {
        case .reshape, .expandDims, .shrinkDims, .copy, .loadState, .storeState, .copyWithConstraints,
            .copyDiscardingConstraints, .getShape, .broadcastShapes, .constant:
            true
        default: false
        }
    }
}
