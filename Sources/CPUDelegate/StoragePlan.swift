import EngineDelegation
import EngineGraph

/// Where one address of a kernel comes from.
enum StorageSlot: Sendable {
    case workspace(offset: Int)
    case constant(HostTensor)
    case input(Int)
    case state(Int)
    case output(Int)
}

/// Decides where each value of a part lives: in the caller's memory, in a constant, in another value's place, or in the
/// workspace, where places are reused once nothing reads them any more.
struct StoragePlan {
    struct PlannedStep {
        let op: Int
        let kernel: Kernel
        let first: Int
        let operandCount: Int
        let resultCount: Int
    }

    private(set) var steps: [PlannedStep] = []
    private(set) var slots: [StorageSlot] = []
    private(set) var workspaceByteCount = 0

    /// Ops whose result is their first operand's bytes under another shape.
    private static let views: Set<OpKind> = [
        .reshape, .expandDims, .shrinkDims, .copyWithConstraints, .copyDiscardingConstraints, .copy,
    ]
    /// Ops that change some elements of their first operand and keep the rest.
    private static let updates: Set<OpKind> = [.sliceUpdate, .scatterND, .scatterAlongAxis]

    init(_ part: Subgraph, kernels: [Kernel?]) throws(EngineError) {
        var analysis = Analysis(part, kernels: kernels)
        analysis.assign()
        let scratch = kernels.map { $0?.workspaceByteCount ?? 0 }
        var lifetimes: [BufferLifetime] = []
        var bufferOfValue = [Int?](repeating: nil, count: part.types.count)
        for index in part.types.indices {
            guard case .own = analysis.place[index], let lifetime = analysis.lifetime[index] else { continue }
            guard let byteCount = part.types[index].byteCount else {
                throw .invalidValue(op: "plan", reason: "\(part.types[index]) has no size that fits in memory")
            }
            bufferOfValue[index] = lifetimes.count
            lifetimes.append(BufferLifetime(steps: lifetime, byteCount: byteCount))
        }
        let firstScratch = lifetimes.count
        for (step, byteCount) in scratch.enumerated() {
            lifetimes.append(BufferLifetime(steps: step...step, byteCount: byteCount))
        }
        let memory = try MemoryPlan(lifetimes)
        workspaceByteCount = memory.byteCount

        func slot(of value: Value) -> StorageSlot {
            var index = value.index
            while case .shared(let other) = analysis.place[index] { index = other.index }
            switch analysis.place[index] {
            case .input(let position): return .input(position)
            case .state(let position): return .state(position)
            case .output(let position): return .output(position)
            case .constant(let tensor): return .constant(tensor)
            case .own, .shared: return .workspace(offset: bufferOfValue[index].map { memory.offsets[$0] } ?? 0)
            }
        }
        for (index, op) in part.ops.enumerated() {
            if analysis.isElided[index] { continue }
            let kernel: Kernel
            var operands = op.operands
            var results = op.results
            if op.kind == .storeState {
                // (state, tensor): the tensor's bytes go to the state's.
                let byteCount = part[type: op.operands[1]].byteCount ?? 0
                kernel = .copy(byteCount: byteCount)
                operands = [op.operands[1]]
                results = [op.operands[0]]
            } else if let planned = kernels[index] {
                kernel = planned
            } else {
                continue
            }
            let first = slots.count
            slots += operands.map(slot(of:)) + results.map(slot(of:))
            slots.append(.workspace(offset: memory.offsets[firstScratch + index]))
            steps.append(
                PlannedStep(
                    op: index, kernel: kernel, first: first, operandCount: operands.count,
                    resultCount: results.count))
        }
    }

    /// Who shares memory with whom, and for how long.
    private struct Analysis {
        enum Place {
            case own
            case shared(with: Value)
            case input(Int)
            case state(Int)
            case output(Int)
            case constant(HostTensor)
        }

        let part: Subgraph
        let kernels: [Kernel?]
        var place: [Place]
        /// From the step that defines a value to the last that reads it or what shares its memory.
        var lifetime: [ClosedRange<Int>?]
        /// Ops that the plan made unnecessary.
        var isElided: [Bool]
        private var lastUse: [Int]
        private var uses: [[Int]]

        init(_ part: Subgraph, kernels: [Kernel?]) {
            self.part = part
            self.kernels = kernels
            place = part.types.map { _ in .own }
            lifetime = part.types.map { _ in nil }
            isElided = part.ops.map { _ in false }
            uses = part.types.map { _ in [] }
            for (step, op) in part.ops.enumerated() {
                for operand in op.operands where uses[operand.index].last != step { uses[operand.index].append(step) }
            }
            lastUse = uses.map { $0.last ?? -1 }
        }

        mutating func assign() {
            for (value, tensor) in part.constants { place[value.index] = .constant(tensor) }
            for (position, value) in part.inputs.enumerated() { place[value.index] = .input(position) }
            for (position, value) in part.states.enumerated() { place[value.index] = .state(position) }
            for (position, value) in part.outputs.enumerated() { place[value.index] = .output(position) }
            shareOutputs()
            for (step, op) in part.ops.enumerated() { assign(step, op) }
        }

        /// Lets what is only reshaped into an output be computed in the output's memory.
        private mutating func shareOutputs() {
            for (step, op) in part.ops.enumerated().reversed() where StoragePlan.views.contains(op.kind) {
                let result = root(of: op.results[0])
                guard case .output = place[result.index], isOwn(op.operands[0]), uses[op.operands[0].index] == [step]
                else { continue }
                place[op.operands[0].index] = .shared(with: result)
                isElided[step] = true
            }
        }

        /// The value whose memory `value` is in.
        private func root(of value: Value) -> Value {
            var value = value
            while case .shared(let other) = place[value.index] { value = other }
            return value
        }

        private func isOwn(_ value: Value) -> Bool {
            if case .own = place[value.index] { true } else { false }
        }

        private mutating func assign(_ step: Int, _ op: Op) {
            for operand in op.operands { extend(root(of: operand), to: step) }
            if let result = op.results.first, isOwn(result) {
                if let shared = sharedMemory(step, op) {
                    place[result.index] = .shared(with: shared)
                    // What is shared lives until the last reader of either.
                    lastUse[shared.index] = max(lastUse[shared.index], lastUse[result.index])
                    if StoragePlan.views.contains(op.kind) || op.kind == .loadState { isElided[step] = true }
                }
            }
            if op.kind == .storeState, root(of: op.operands[1]) == op.operands[0] { isElided[step] = true }
            for result in op.results { extend(root(of: result), to: step) }
        }

        private mutating func extend(_ value: Value, to step: Int) {
            lifetime[value.index] =
                lifetime[value.index].map { min($0.lowerBound, step)...max($0.upperBound, step) }
                ?? step...step
        }

        /// The value whose memory the first result of `op` can be in, if any.
        private func sharedMemory(_ step: Int, _ op: Op) -> Value? {
            let result = op.results[0]
            if op.kind == .loadState {
                return canReadInPlace(state: op.operands[0], result, from: step) ? op.operands[0] : nil
            }
            guard let first = op.operands.first else { return nil }
            if StoragePlan.views.contains(op.kind) {
                // Outlives its source only where the source's memory is not rewritten: states are checked at the load.
                return root(of: first)
            }
            if StoragePlan.updates.contains(op.kind) {
                let memory = root(of: first)
                // What is written must not be what is read.
                if op.operands.dropFirst().contains(where: { root(of: $0) == memory }) { return nil }
                if part.states.contains(memory) {
                    return canUpdateInPlace(state: memory, through: first, result, at: step) ? memory : nil
                }
                return isFree(memory, after: step, type: part[type: result]) ? memory : nil
            }
            guard let kernel = kernels[step] else { return nil }
            for index in kernel.inPlaceOperands where index < op.operands.count {
                let memory = root(of: op.operands[index])
                if part.states.contains(memory) { continue }
                // What reads the same memory otherwise, as a norm reads its gamma, must not see results there.
                let isShared = op.operands.indices.contains {
                    root(of: op.operands[$0]) == memory && !kernel.inPlaceOperands.contains($0)
                }
                if isShared { continue }
                if isFree(memory, after: step, type: part[type: result]) { return memory }
            }
            return nil
        }

        /// Whether `memory` is workspace that nothing reads after `step`, of the size that `type` needs.
        private func isFree(_ memory: Value, after step: Int, type: TensorType) -> Bool {
            guard isOwn(memory), lastUse[memory.index] <= step else { return false }
            return part[type: memory].byteCount == type.byteCount
        }

        /// Every value that is in `value`'s memory by views of it, with `value`.
        private func readers(of value: Value) -> [Int] {
            var steps: [Int] = []
            var pending = [value]
            while let next = pending.popLast() {
                for step in uses[next.index] {
                    steps.append(step)
                    if StoragePlan.views.contains(part.ops[step].kind) { pending += part.ops[step].results }
                }
            }
            return steps
        }

        /// Whether `result`, loaded from `state` at `step`, can be the state's own memory: nothing may replace the
        /// state while it is still read.
        private func canReadInPlace(state: Value, _ result: Value, from step: Int) -> Bool {
            guard let last = readers(of: result).max() else { return true }
            for later in part.ops.indices where later > step && later < last {
                let op = part.ops[later]
                if op.kind == .storeState, op.operands[0] == state { return false }
            }
            return true
        }

        /// Whether an update of `source`, which is `state`'s memory, may be made right there: `source` is read by
        /// nothing else, and the next thing that happens to the state is that the result is stored to it.
        private func canUpdateInPlace(state: Value, through source: Value, _ result: Value, at step: Int) -> Bool {
            guard readers(of: source) == [step], !part.outputs.contains(source) else { return false }
            // Another load of the state that is still read must not see the update.
            for op in part.ops[..<step] where op.kind == .loadState && op.operands[0] == state {
                if let last = readers(of: op.results[0]).max(), last > step { return false }
            }
            var isStored = false
            for later in part.ops.indices where later > step {
                let op = part.ops[later]
                guard op.kind == .loadState || op.kind == .storeState, op.operands[0] == state else { continue }
                if !isStored {
                    guard op.kind == .storeState, op.operands[1] == result else { return false }
                    isStored = true
                } else if op.kind == .storeState {
                    // The next value of the state may be computed in place from where its op stands.
                    let next = definition(of: op.operands[1]) ?? later
                    return (readers(of: result).max() ?? step) <= min(next, later)
                }
            }
            return isStored
        }

        /// The step that computes `value`, behind the views of it.
        private func definition(of value: Value) -> Int? {
            var value = value
            while let step = part.ops.firstIndex(where: { $0.results.contains(value) }) {
                guard StoragePlan.views.contains(part.ops[step].kind) else { return step }
                value = part.ops[step].operands[0]
            }
            return nil
        }
    }
}

extension Kernel {
    /// Copies operand 0 to the result.
    static func copy(byteCount: Int) -> Kernel {
        Kernel { arguments throws(EngineError) in
            arguments.result().copyMemory(from: arguments.operand(0), byteCount: byteCount)
        }
    }
}
