import EngineDelegation
import EngineGraph

/// A part on the CPU: kernels in order, and a table of addresses that each run fills from its own working memory.
final class CPUExecutable: HostExecutable {
    let workspaceByteCount: Int

    private struct Step {
        let kernel: Kernel
        /// The op's index in the part.
        let op: Int
        /// Where its addresses start in the table.
        let first: Int
        let operandCount: Int
        let resultCount: Int
    }
    private let steps: [Step]
    private let slots: [StorageSlot]
    private let idle = Locked<[Frame]>([])
    /// Working sets that are kept for the next run; runs beyond them allocate and free their own.
    private static let idleLimit = 4
    private let constants: [HostTensor]

    init(_ part: Subgraph, weights: WeightCache) throws(EngineError) {
        var kernels: [Kernel?] = []
        for op in part.ops {
            // A store is a copy into the state; where the plan computed the value in place, nothing is left to do.
            if op.kind == .storeState {
                kernels.append(nil)
                continue
            }
            kernels.append(try KernelTable.kernel(for: KernelRequest(op, in: part, weights: weights)))
        }
        let plan = try StoragePlan(part, kernels: kernels)
        self.workspaceByteCount = plan.workspaceByteCount
        self.constants = Array(part.constants.values)
        self.slots = plan.slots
        self.steps = plan.steps.map {
            Step(
                kernel: $0.kernel, op: $0.op, first: $0.first, operandCount: $0.operandCount,
                resultCount: $0.resultCount)
        }
    }

    func run(_ arguments: ExecutionArguments) throws(EngineError) {
        try withFrame(arguments) { (base) throws(EngineError) in
            for step in steps { try run(step, base) }
        }
    }

    func run(
        _ arguments: ExecutionArguments, timing: (_ op: Int, _ interval: ClockInterval) -> Void
    ) throws(EngineError) {
        try withFrame(arguments) { (base) throws(EngineError) in
            var start = ClockInterval.now
            for step in steps {
                try run(step, base)
                let end = ClockInterval.now
                timing(step.op, ClockInterval(start: start, end: end))
                start = end
            }
        }
    }

    private func run(_ step: Step, _ base: UnsafePointer<UnsafeMutableRawPointer>) throws(EngineError) {
        try step.kernel.body(
            KernelArguments(
                pointers: base + step.first, operandCount: step.operandCount, resultCount: step.resultCount))
    }

    private func withFrame(
        _ arguments: ExecutionArguments, _ body: (UnsafePointer<UnsafeMutableRawPointer>) throws(EngineError) -> Void
    ) throws(EngineError) {
        let frame: Frame
        if let kept = idle.withLock({ $0.popLast() }) {
            frame = kept
        } else {
            frame = try recording(.setup, "allocate \(workspaceByteCount) bytes of workspace") {
                () throws(EngineError) in
                try Frame(slots: slots, workspaceByteCount: workspaceByteCount)
            }
        }
        defer {
            idle.withLock { if $0.count < Self.idleLimit { $0.append(frame) } }
        }
        frame.bind(arguments)
        try body(UnsafePointer(frame.addresses))
    }
}

/// The working memory and the address table of one run.
///
/// `@unchecked Sendable`: a frame belongs to one run at a time; the pool hands it over under a lock.
private final class Frame: @unchecked Sendable {
    let addresses: UnsafeMutablePointer<UnsafeMutableRawPointer>
    private let workspace: HostBuffer
    private let externals: [(slot: Int, source: StorageSlot)]

    init(slots: [StorageSlot], workspaceByteCount: Int) throws(EngineError) {
        workspace = try HostBuffer(uninitializedByteCount: workspaceByteCount)
        addresses = .allocate(capacity: max(slots.count, 1))
        var externals: [(slot: Int, source: StorageSlot)] = []
        for (index, slot) in slots.enumerated() {
            switch slot {
            case .workspace(let offset): (addresses + index).initialize(to: workspace.pointer + offset)
            case .constant(let tensor): (addresses + index).initialize(to: tensor.pointer)
            case .input, .state, .output:
                // A valid address until the first run is bound.
                (addresses + index).initialize(to: workspace.pointer)
                externals.append((index, slot))
            }
        }
        self.externals = externals
    }

    deinit { addresses.deallocate() }

    func bind(_ arguments: ExecutionArguments) {
        for (index, source) in externals {
            switch source {
            case .input(let position): addresses[index] = UnsafeMutableRawPointer(mutating: arguments.inputs[position])
            case .state(let position): addresses[index] = arguments.states[position]
            case .output(let position): addresses[index] = arguments.outputs[position]
            case .workspace, .constant: break
            }
        }
    }
}
