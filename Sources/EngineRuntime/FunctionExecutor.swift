package import EngineCompiler
package import EngineDelegation
package import EngineGraph

/// Runs a compiled function: binds it to the shapes of a call, runs its segments, decides its control flow.
package final class FunctionExecutor: Sendable {
    package let function: CompiledFunction
    private let binding: RegionBinding
    /// The queues and buffers of the units beside the CPU.
    package let units: UnitContexts

    package init(_ function: CompiledFunction) {
        self.function = function
        self.binding = function.makeBinding()
        self.units = UnitContexts(function.choice.units)
    }

    /// Where the patterns of the function go for arguments of these types, as far as binding goes without a run.
    package func placements(for types: [ValueType]) throws(EngineError) -> [PatternPlacement] {
        try binding.segment(for: types).placements
    }

    /// Binds the function to arguments of these types before the first call with them; answers with the plan of all
    /// that runs before the host has to decide something.
    @discardableResult
    package func prepare(_ types: [ValueType]) throws(EngineError) -> Segment {
        try binding.segment(for: types)
    }

    /// Binds the function to arguments of these types, as far as no run has to decide, so that the first call with
    /// them is as fast as later ones. What it needs more memory for than the budget allows is an error.
    @discardableResult
    package func plan(for types: [ValueType]) throws(EngineError) -> FunctionPlan {
        let plan = try recording(.specialize, "bind '\(function.compiled.graph.name)'") { () throws(EngineError) in
            try function.plan(binding, for: types)
        }
        var memory = MemoryTally(function)
        for (_, segment) in plan.segments { try memory.add(segment) }
        return plan
    }

    /// Runs the function.
    ///
    /// - Parameters:
    ///   - arguments: A tensor for each argument in the graph's order; a state's is read and written in place.
    ///   - destinations: Where the results are to be written: nil for those that the engine allocates. A destination
    ///     whose type is not the result's is an error.
    /// - Returns: The results, in memory that nothing else refers to, or in their destinations.
    package func run(_ arguments: [HostTensor], destinations: [HostTensor?]) throws(EngineError) -> [HostTensor] {
        let types = try check(arguments)
        var call = Call(watch: RunWatch(function.compiled.locations), memory: MemoryTally(function))
        return try run(binding, arguments, types, &call, destinations: destinations, owned: true)
    }

    /// What a call carries from region to region.
    private struct Call {
        var environment: [Value: HostTensor] = [:]
        let watch: RunWatch?
        var memory: MemoryTally
    }

    /// The types of the arguments, which must be what the function takes: plans are kept by shapes alone.
    private func check(_ arguments: [HostTensor]) throws(EngineError) -> [ValueType] {
        let graph = function.compiled.graph
        var types: [ValueType] = []
        types.reserveCapacity(arguments.count)
        guard arguments.count == graph.body.arguments.count else {
            throw .invalidArgument(
                function: graph.name, argument: "arguments", expected: "\(graph.body.arguments.count)",
                given: "\(arguments.count)")
        }
        for (index, (value, tensor)) in zip(graph.body.arguments, arguments).enumerated() {
            switch graph[type: value] {
            case .tensor(let expected) where expected.accepts(tensor.type): types.append(.tensor(tensor.type))
            case .handle(let expected) where expected.accepts(tensor.type): types.append(.handle(tensor.type))
            default:
                let names = graph.signature.argumentNames
                throw .invalidArgument(
                    function: graph.name, argument: index < names.count ? names[index] : "argument \(index)",
                    expected: graph[type: value].description, given: tensor.type.description)
            }
        }
        return types
    }

    /// Runs a region. `owned`: the results must not share memory with anything that outlives the call.
    private func run(
        _ binding: RegionBinding, _ arguments: [HostTensor], _ types: [ValueType], _ call: inout Call,
        destinations: [HostTensor?], owned: Bool
    ) throws(EngineError) -> [HostTensor] {
        let region = binding.region
        for (value, tensor) in zip(region.arguments, arguments) { call.environment[value] = tensor }
        var segment = try binding.segment(for: types)
        var fresh: Set<Value> = []
        while true {
            let isLast = if case .finished = segment.end { true } else { false }
            try call.memory.add(segment)
            let watch = call.watch.map { SegmentWatch(watch: $0, segment: segment, path: binding.path) }
            watch?.began()
            try run(segment, &call.environment, results: isLast ? region.results : [], destinations, watch)
            if let probe = call.watch?.observer?.probe {
                for value in segment.outputs.map(\.value) + segment.known.map(\.value) {
                    if let tensor = call.environment[value] { probe(value, tensor) }
                }
            }
            if owned { fresh.formUnion(segment.outputs.map(\.value)) }
            switch segment.end {
            case .finished:
                return try results(of: region, call.environment, fresh, destinations: destinations, owned: owned)
            case .contents(let values):
                var contents: [(value: Value, tensor: HostTensor)] = []
                for value in values { contents.append((value, try tensor(value, call.environment))) }
                segment = try binding.segment(after: segment, contents: contents)
            case .dynamic(let op):
                var operands: [HostTensor] = []
                for operand in op.operands { operands.append(try tensor(operand, call.environment)) }
                call.watch?.observer?.note(dynamic: op)
                let results = try function.host.evaluateDynamic(
                    op, operands: operands, declared: op.results.map { function.compiled.graph[type: $0] })
                for (value, tensor) in zip(op.results, results) { call.environment[value] = tensor }
                if owned { fresh.formUnion(op.results) }
                segment = try binding.segment(after: segment, results: results, of: op)
            case .control(let op, let bodies):
                let results = try runControl(op, bodies, &call)
                for (value, tensor) in zip(op.results, results) { call.environment[value] = tensor }
                segment = try binding.segment(after: segment, results: results, of: op)
            }
        }
    }

    private func run(
        _ segment: Segment, _ environment: inout [Value: HostTensor], results: [Value], _ destinations: [HostTensor?],
        _ watch: SegmentWatch?
    ) throws(EngineError) {
        for (value, tensor) in segment.known { environment[value] = tensor }
        guard !segment.parts.isEmpty else { return }
        // Where the caller wants a result, it is written there at once.
        var wanted: [Value: HostTensor] = [:]
        for (value, type) in segment.outputs {
            guard let position = results.firstIndex(of: value), position < destinations.count,
                let destination = destinations[position]
            else { continue }
            try check(destination.type, type, position)
            wanted[value] = destination
        }
        if segment.parts.count == 1, segment.parts[0].executable is any HostExecutable {
            try run(segment.parts[0], 0, &environment, wanted, watch)
        } else {
            try runPlaced(segment, &environment, wanted, watch)
        }
    }

    /// Runs the parts of a segment on their units; all of it on the CPU where a unit fails and that is allowed.
    private func runPlaced(
        _ segment: Segment, _ environment: inout [Value: HostTensor], _ wanted: [Value: HostTensor],
        _ watch: SegmentWatch?
    ) throws(EngineError) {
        let lost = segment.parts.first { units.isLost($0.unit) }
        if lost == nil {
            let states = StateSnapshot(segment, environment)
            do throws(EngineError) {
                var run = PlacedRun(
                    segment, units: units, environment: environment, wanted: wanted, watch: watch)
                environment = try run.run { (index, environment) throws(EngineError) in
                    try self.run(segment.parts[index], index, &environment, wanted, watch)
                }
                return
            } catch {
                guard error.isUnitFailure, !function.choice.isStrict else { throw error }
                states.restore()
                watch?.fellBack(error.description)
            }
        } else if function.choice.isStrict, let lost {
            throw .deviceFailure(unit: lost.unit.name, reason: "the device was lost in an earlier run")
        } else if let lost {
            watch?.fellBack("\(lost.unit) was lost in an earlier run")
        }
        guard let part = try segment.hostPart(function.delegate) else { return }
        units.noteFallback()
        try run(part, nil, &environment, wanted, watch)
    }

    /// Runs a part of the CPU's on this thread. `index`: its place in the segment's parts.
    private func run(
        _ part: PlacedPart, _ index: Int?, _ environment: inout [Value: HostTensor], _ wanted: [Value: HostTensor],
        _ watch: SegmentWatch?
    ) throws(EngineError) {
        guard let executable = part.executable as? any HostExecutable else { return }
        var inputs: [UnsafeRawPointer] = []
        inputs.reserveCapacity(part.inputs.count)
        for value in part.inputs { inputs.append(UnsafeRawPointer(try tensor(value, environment).pointer)) }
        var states: [UnsafeMutableRawPointer] = []
        for value in part.states { states.append(try tensor(value, environment).pointer) }
        var outputs: [UnsafeMutableRawPointer] = []
        outputs.reserveCapacity(part.outputs.count)
        for (value, type) in part.outputs {
            let output: HostTensor
            if let destination = wanted[value] {
                output = destination
            } else {
                output = try HostTensor(allocating: type)
            }
            environment[value] = output
            outputs.append(output.pointer)
        }
        // What the pointers point into must outlive the run, whatever the environment forgets.
        try withExtendedLifetime(environment) { () throws(EngineError) in
            let arguments = ExecutionArguments(inputs: inputs, states: states, outputs: outputs)
            if let watch, watch.watch.measures {
                try run(executable, of: part, index, arguments, watch)
            } else {
                try executable.run(arguments)
            }
        }
    }

    private func run(
        _ executable: any HostExecutable, of part: PlacedPart, _ index: Int?, _ arguments: ExecutionArguments,
        _ watch: SegmentWatch
    ) throws(EngineError) {
        let start = ClockInterval.now
        try executable.run(arguments) { op, interval in
            if part.ops.indices.contains(op) { watch.pattern(part.ops[op], interval, track: part.unit.name) }
        }
        let interval = ClockInterval(start: start, end: ClockInterval.now)
        watch.part(index, interval.seconds)
        watch.watch.recorder?.record(
            .part, part.title, track: part.unit.name, interval, details: watch.details(of: part))
    }

    private func tensor(_ value: Value, _ environment: [Value: HostTensor]) throws(EngineError) -> HostTensor {
        if let tensor = environment[value] ?? function.compiled.constants[value] { return tensor }
        throw .invalidGraph(
            function: function.compiled.graph.name, op: "value", reason: "%\(value.index) was not computed")
    }

    private func check(_ given: TensorType, _ expected: TensorType, _ position: Int) throws(EngineError) {
        guard given != expected else { return }
        let names = function.compiled.graph.signature.resultNames
        throw .invalidArgument(
            function: function.compiled.graph.name,
            argument: position < names.count ? names[position] : "result \(position)",
            expected: expected.description, given: given.description)
    }

    /// The region's results: as they are where they were computed for this call alone, copied where they were not.
    private func results(
        of region: Region, _ environment: [Value: HostTensor], _ fresh: Set<Value>, destinations: [HostTensor?],
        owned: Bool
    ) throws(EngineError) -> [HostTensor] {
        var results: [HostTensor] = []
        results.reserveCapacity(region.results.count)
        var taken: Set<Value> = []
        for (position, value) in region.results.enumerated() {
            let source = try tensor(value, environment)
            let destination = position < destinations.count ? destinations[position] : nil
            if let destination {
                try check(destination.type, source.type, position)
                if destination.pointer != source.pointer {
                    destination.pointer.copyMemory(from: source.pointer, byteCount: source.byteCount)
                }
                results.append(destination)
                continue
            }
            let isShared = owned && (!fresh.contains(value) || !taken.insert(value).inserted)
            // A value that went to another result's destination is not this result's own.
            let isLent = region.results.indices.contains { other in
                other < destinations.count && region.results[other] == value && destinations[other] != nil
            }
            guard isShared || isLent else {
                results.append(source)
                continue
            }
            let copy = try HostTensor(allocating: source.type)
            copy.pointer.copyMemory(from: source.pointer, byteCount: source.byteCount)
            results.append(copy)
        }
        return results
    }

    // MARK: - Control flow

    private func runControl(
        _ op: Op, _ bodies: [RegionBinding], _ call: inout Call
    ) throws(EngineError) -> [HostTensor] {
        switch op.kind {
        case .if:
            guard let condition = op.operands.first, bodies.count >= 1 else { throw malformed(op) }
            let isTrue = try truth(tensor(condition, call.environment), op)
            guard isTrue || bodies.count > 1 else { return [] }
            return try run(bodies[isTrue ? 0 : 1], [], [], &call, destinations: [], owned: false)
        case .while:
            guard bodies.count == 2 else { throw malformed(op) }
            var carried: [HostTensor] = []
            for operand in op.operands { carried.append(try tensor(operand, call.environment)) }
            while true {
                let tested = try run(
                    bodies[0], carried, types(of: bodies[0], carried), &call, destinations: [], owned: false)
                guard let condition = tested.first else { throw malformed(op) }
                let values = Array(tested.dropFirst())
                guard try truth(condition, op) else { return values }
                try Task.checkCancellationTyped()
                carried = try run(
                    bodies[1], values, types(of: bodies[1], values), &call, destinations: [], owned: false)
            }
        default:
            throw malformed(op)
        }
    }

    private func types(of body: RegionBinding, _ arguments: [HostTensor]) -> [ValueType] {
        zip(body.region.arguments, arguments).map { value, tensor in
            if case .handle = function.compiled.graph[type: value] {
                .handle(tensor.type)
            } else {
                .tensor(tensor.type)
            }
        }
    }

    private func truth(_ tensor: HostTensor, _ op: Op) throws(EngineError) -> Bool {
        guard let values = tensor.integers(), values.count == 1 else {
            throw .invalidValue(op: op.kind.rawValue, reason: "the condition is \(tensor.type), not one bool")
        }
        return values[0] != 0
    }

    private func malformed(_ op: Op) -> EngineError {
        .invalidGraph(function: function.compiled.graph.name, op: op.kind.rawValue, reason: "its regions don't fit it")
    }
}

/// Adds up what a call takes, and ends it before it takes more than it may.
private struct MemoryTally {
    private let name: String
    private let budget: Int?
    private var total = 0
    private var counted: Set<ObjectIdentifier> = []

    init(_ function: CompiledFunction) {
        name = function.compiled.graph.name
        budget = function.memoryBudget
    }

    /// A segment that runs again takes what it took before.
    mutating func add(_ segment: Segment) throws(EngineError) {
        guard let budget, counted.insert(ObjectIdentifier(segment)).inserted else { return }
        total += segment.memory.total
        guard total <= budget else { throw .overBudget(function: name, byteCount: total, budget: budget) }
    }
}

extension Task where Success == Never, Failure == Never {
    /// Ends a loop that nobody waits for any more.
    fileprivate static func checkCancellationTyped() throws(EngineError) {
        if Task.isCancelled { throw .cancelled }
    }
}
