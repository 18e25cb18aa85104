package import EngineDelegation
package import EngineGraph

/// What binding a function to argument types gives, as far as it goes without running it.
package struct FunctionPlan: Sendable {
    /// The segments that are bound, each with the region that it is of.
    package var segments: [(path: String, segment: Segment)] = []
    package var unbound: [UnboundStretch] = []

    package init() {}
}

/// Ops that only a run binds.
package struct UnboundStretch: Sendable, Hashable {
    package let path: String
    package let ops: [OpOrigin]
    package let reason: String

    package init(path: String, ops: [OpOrigin], reason: String) {
        self.path = path
        self.ops = ops
        self.reason = reason
    }
}

extension CompiledFunction {
    /// Binds the function to arguments of these types: all of it that no run has to decide, branches and loops too.
    package func plan(_ binding: RegionBinding, for types: [ValueType]) throws(EngineError) -> FunctionPlan {
        var plan = FunctionPlan()
        _ = try binding.walk(types, into: &plan)
        return plan
    }
}

extension RegionBinding {
    /// Adds the region's segments to `plan`; the types of its results, where binding gets that far.
    fileprivate func walk(_ types: [ValueType], into plan: inout FunctionPlan) throws(EngineError) -> [TensorType]? {
        var segment = try segment(for: types)
        while true {
            plan.segments.append((path, segment))
            switch segment.end {
            case .finished:
                return region.results.reduce(into: [TensorType]?.some([])) { types, value in
                    guard case .tensor(let type)? = self.type(value, segment.state) else {
                        types = nil
                        return
                    }
                    types?.append(type)
                }
            case .contents(let values):
                let names = values.map(name(of:)).joined(separator: ", ")
                note(&plan, from: segment, "shapes depend on what a run computes (\(names))")
                return nil
            case .dynamic(let op):
                note(&plan, from: segment, "only computing \(op.kind.name) tells the shape of its result")
                return nil
            case .control(let op, let bodies):
                guard let results = walk(op, bodies, after: segment, into: &plan) else {
                    note(&plan, from: segment, "the shapes that \(op.kind.name) gives depend on the run")
                    return nil
                }
                segment = try self.segment(after: segment, types: results, of: op)
            }
        }
    }

    /// Binds the regions of an `if` or a `while`; the types of its results, where they don't depend on the run.
    private func walk(
        _ op: Op, _ bodies: [RegionBinding], after segment: Segment, into plan: inout FunctionPlan
    ) -> [TensorType]? {
        if op.kind == .if {
            let results = bodies.map { $0.tryWalk([], into: &plan) }
            guard let first = results.first, results.allSatisfy({ $0 == first }) else { return nil }
            return first
        }
        var carried: [TensorType] = []
        for operand in op.operands {
            guard case .tensor(let type)? = type(operand, segment.state) else { return nil }
            carried.append(type)
        }
        guard bodies.count == 2, let tested = bodies[0].tryWalk(carried.map(ValueType.tensor), into: &plan) else {
            return nil
        }
        let values = Array(tested.dropFirst())
        // Where the second round has other shapes than the first, only running tells how it ends.
        let next = bodies[1].tryWalk(values.map(ValueType.tensor), into: &plan)
        guard next == carried else { return nil }
        return values
    }

    /// A region that does not bind fails when a run gets there, which may be never.
    private func tryWalk(_ types: [ValueType], into plan: inout FunctionPlan) -> [TensorType]? {
        do throws(EngineError) {
            return try walk(types, into: &plan)
        } catch {
            plan.unbound.append(
                UnboundStretch(path: path, ops: region.ops.flatMap(\.origins), reason: error.description))
            return nil
        }
    }

    private func name(of value: Value) -> String {
        region.ops.first { $0.results.contains(value) }?.kind.name ?? "an input"
    }

    private func note(_ plan: inout FunctionPlan, from segment: Segment, _ reason: String) {
        let rest = region.ops[min(segment.nextOp, region.ops.count)...].flatMap(\.origins)
        plan.unbound.append(UnboundStretch(path: path, ops: rest, reason: reason))
    }
}

/// The memory that the engine takes for one run of a segment, in bytes.
package struct SegmentMemory: Sendable, Hashable {
    /// Results on the host, and values that go through it from unit to unit.
    package var host = 0
    /// Working memory of the parts, by unit.
    package var workspaces: [DelegateID: Int] = [:]
    /// What the units beside the CPU keep of inputs, states and results.
    package var buffers: [DelegateID: Int] = [:]

    package init() {}

    package var total: Int {
        workspaces.values.reduce(host, +) + buffers.values.reduce(0, +)
    }
}

extension Segment {
    /// What a run of the segment takes beside its arguments and the weights. Nothing of it is freed before the end.
    package var memory: SegmentMemory {
        var memory = SegmentMemory()
        var onHost = Set(inputs).union(states)
        var onUnit: [DelegateID: Set<Value>] = [:]
        for part in parts {
            memory.workspaces[part.unit, default: 0] += part.executable.workspaceByteCount
            let values = zip(part.inputs, part.inputByteCounts)
            let outputs = part.outputs.map { ($0.value, $0.type.byteCount ?? 0) }
            if part.executable is any HostExecutable {
                for (value, byteCount) in Array(values) + outputs where onHost.insert(value).inserted {
                    memory.host += byteCount
                }
                continue
            }
            for (value, byteCount) in Array(values) + outputs
            where onUnit[part.unit, default: []].insert(value).inserted {
                memory.buffers[part.unit, default: 0] += byteCount
            }
            memory.buffers[part.unit, default: 0] += part.stateByteCounts.reduce(0, +)
        }
        for (value, type) in outputs where onHost.insert(value).inserted { memory.host += type.byteCount ?? 0 }
        return memory
    }
}
