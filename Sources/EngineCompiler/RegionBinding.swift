package import EngineDelegation
package import EngineGraph

/// A function after the passes, with what binding it to shapes takes.
package final class CompiledFunction: Sendable {
    package let compiled: CompiledGraph
    package let host: any HostEvaluator
    package let delegate: any Delegate
    /// How many bound plans the function keeps, each for the shapes of a call. Below them, where the contents of
    /// tensors and control flow decide, fewer are kept: the numbers multiply.
    package let planLimit: Int
    /// Whether ops are joined into patterns that one kernel computes: off, each runs by itself, to compare with.
    package let fusesPatterns: Bool
    /// The units beside the CPU that may run parts.
    package let choice: UnitChoice
    /// Whether every op's result is kept until its segment has run: to look at, not to be fast.
    package let keepsResults: Bool
    /// The most bytes that a call may take, its arguments and the weights not counted; nil for no limit.
    package let memoryBudget: Int?

    /// - Parameter delegate: The CPU's, which runs everything that no other unit does.
    package init(
        _ compiled: CompiledGraph, host: any HostEvaluator, delegate: any Delegate, planLimit: Int = 16,
        fusesPatterns: Bool = true, choice: UnitChoice = .cpuOnly, keepsResults: Bool = false, memoryBudget: Int? = nil
    ) {
        self.compiled = compiled
        self.host = host
        self.delegate = delegate
        self.planLimit = planLimit
        self.fusesPatterns = fusesPatterns
        self.choice = choice
        self.keepsResults = keepsResults
        self.memoryBudget = memoryBudget
    }

    /// The delegate of a unit; the CPU's for a name that is none.
    package func unit(_ id: DelegateID) -> any Delegate { choice.units.first { $0.id == id } ?? delegate }

    /// The whole function, ready to be bound to the shapes of a call.
    package func makeBinding() -> RegionBinding {
        RegionBinding(
            self, region: compiled.graph.body, path: "", captured: BindState(valueCount: compiled.graph.types.count),
            planLimit: planLimit)
    }
}

/// A region bound to what it captures; `segment(for:)` binds it to its arguments' shapes.
package final class RegionBinding: Sendable {
    package let function: CompiledFunction
    package let region: Region
    /// Which region of the function it is: empty for the function itself, else as in `while 12 body`.
    package let path: String
    private let captured: BindState
    private let plans: PlanCache<Segment>
    private let planLimit: Int
    /// The last op of the region that reads a value; `ops.count` for the region's results.
    private let lastUse: [Value: Int]

    init(_ function: CompiledFunction, region: Region, path: String, captured: BindState, planLimit: Int) {
        self.function = function
        self.region = region
        self.path = path
        self.captured = captured
        self.plans = PlanCache(limit: planLimit)
        self.planLimit = planLimit
        var lastUse: [Value: Int] = [:]
        for (index, op) in region.ops.enumerated() {
            for value in op.reads { lastUse[value] = index }
        }
        for value in region.results { lastUse[value] = region.ops.count }
        self.lastUse = lastUse
    }

    /// The region's first segment for arguments of these types, in the order of `region.arguments`.
    package func segment(for types: [ValueType]) throws(EngineError) -> Segment {
        var key: [Int] = []
        for type in types {
            switch type {
            case .tensor(let tensor), .handle(let tensor): key += tensor.shape
            case .token, .image: break
            }
        }
        return try plans.plan(for: key) { () throws(EngineError) in
            var state = captured
            for (argument, type) in zip(region.arguments, types) { state.types[argument.index] = type }
            return try bind(from: 0, state, planLimit: max(1, planLimit / 4))
        }
    }

    /// The segment after `segment`, once the op that ended it has given `results`.
    package func segment(after segment: Segment, results: [HostTensor], of op: Op) throws(EngineError) -> Segment {
        try self.segment(after: segment, types: results.map(\.type), of: op)
    }

    /// The same where the results' types are enough.
    func segment(after segment: Segment, types: [TensorType], of op: Op) throws(EngineError) -> Segment {
        try segment.following.plan(for: types.flatMap(\.shape)) { () throws(EngineError) in
            var state = segment.state
            for (value, type) in zip(op.results, types) { state.types[value.index] = .tensor(type) }
            return try bind(from: segment.nextOp, state, planLimit: max(1, segment.planLimit / 4))
        }
    }

    /// The segment after `segment`, once the contents that it asked for are known.
    package func segment(
        after segment: Segment, contents: [(value: Value, tensor: HostTensor)]
    ) throws(EngineError) -> Segment {
        var key: [Int] = []
        for (_, tensor) in contents {
            guard tensor.byteCount <= Self.knownByteLimit else {
                throw .unsupportedOp(
                    op: region.ops[segment.nextOp].kind.rawValue,
                    reason: "its shape depends on the contents of \(tensor.type), which is too large for a shape")
            }
            key.append(tensor.byteCount)
            for offset in 0..<tensor.byteCount {
                key.append(Int(tensor.pointer.load(fromByteOffset: offset, as: UInt8.self)))
            }
        }
        return try segment.following.plan(for: key) { () throws(EngineError) in
            var state = segment.state
            for (value, tensor) in contents {
                // A copy: the run's own buffer is gone when the plan is used again.
                let copy = try HostTensor(allocating: tensor.type)
                copy.pointer.copyMemory(from: tensor.pointer, byteCount: tensor.byteCount)
                state.known[value] = copy
            }
            return try bind(from: segment.nextOp, state, planLimit: max(1, segment.planLimit / 4))
        }
    }

    /// Contents beyond this many bytes are data, not shapes.
    private static let knownByteLimit = 16 << 10

    private func known(_ value: Value, _ state: BindState) -> HostTensor? {
        state.known[value] ?? function.compiled.constants[value]
    }

    func type(_ value: Value, _ state: BindState) -> ValueType? {
        state.types[value.index] ?? function.compiled.constants[value].map { .tensor($0.type) }
    }

    /// Binds ops from `start` until the region ends or the host has to decide something.
    private func bind(from start: Int, _ initial: BindState, planLimit: Int) throws(EngineError) -> Segment {
        var state = initial
        var kept: [Op] = []
        var end = Segment.End.finished
        var next = region.ops.count
        loop: for index in start..<region.ops.count {
            let op = region.ops[index]
            switch op.kind {
            case .if, .while:
                end = .control(op, bodies: [])
                next = index + 1
                break loop
            case .nonZero:
                end = .dynamic(op)
                next = index + 1
                break loop
            default: break
            }
            var operands: [ValueType] = []
            for operand in op.operands {
                guard let type = type(operand, state) else {
                    throw .invalidGraph(
                        function: function.compiled.graph.name, op: op.kind.rawValue,
                        reason: "operand %\(operand.index) has no value here")
                }
                operands.append(type)
            }
            let contents = op.operands.map { known($0, state) }
            let query = ShapeQuery(
                op: op, operands: operands, declared: op.results.map { function.compiled.graph[type: $0] },
                integers: { contents[$0]?.integers() }, numbers: { contents[$0]?.numbers() })
            switch try inferTypes(query) {
            case .needsValues(let positions):
                let values = positions.map { op.operands[$0] }
                guard values.contains(where: { known($0, state) == nil }) else {
                    throw .unsupportedOp(
                        op: op.kind.rawValue, reason: "its shape depends on contents that can't be read as a shape")
                }
                end = .contents(values)
                next = index
                break loop
            case .types(let types):
                for (result, type) in zip(op.results, types) { state.types[result.index] = type }
                if let tensors = try evaluated(op, operands: contents, results: types, operandTypes: operands) {
                    for (result, tensor) in zip(op.results, tensors) { state.known[result] = tensor }
                } else {
                    kept.append(op)
                }
            }
        }
        return try makeSegment(kept, to: next, end: end, state, planLimit: planLimit)
    }

    /// The results of an op whose operands the host knows, where they are small: shape arithmetic.
    private func evaluated(
        _ op: Op, operands: [HostTensor?], results: [ValueType], operandTypes: [ValueType]
    ) throws(EngineError) -> [HostTensor]? {
        var resultTypes: [TensorType] = []
        var byteCount = 0
        for type in results {
            guard case .tensor(let tensor) = type, let size = tensor.byteCount,
                size <= Self.knownByteLimit - byteCount
            else { return nil }
            resultTypes.append(tensor)
            byteCount += size
        }
        guard !resultTypes.isEmpty else { return nil }
        if op.kind == .getShape, case .tensor(let operand) = operandTypes[0] {
            return HostTensor(integers: operand.shape, type: resultTypes[0]).map { [$0] }
        }
        var known: [HostTensor] = []
        for operand in operands {
            guard let operand else { return nil }
            known.append(operand)
        }
        guard !known.isEmpty else { return nil }
        return try function.host.evaluate(op, operands: known, results: resultTypes)
    }

    private func makeSegment(
        _ ops: [Op], to next: Int, end: Segment.End, _ state: BindState, planLimit: Int
    ) throws(EngineError) -> Segment {
        if case .dynamic(let op) = end, function.choice.isStrict, let unit = function.choice.units.first {
            throw .misplaced(
                unit: unit.id.name,
                ops: [function.compiled.locations.describe(op) + ": only computing it on the host tells its shape"])
        }
        // What is read from here on: by the op that ends the segment, by later ones, by the result.
        var wanted: Set<Value> = []
        switch end {
        case .finished, .contents: break
        case .control(let op, _), .dynamic(let op): wanted.formUnion(op.reads)
        }
        func isWanted(_ value: Value) -> Bool {
            function.keepsResults || wanted.contains(value) || (lastUse[value] ?? -1) >= next
        }

        var live: [Op] = []
        var needed: Set<Value> = []
        for op in ops.reversed() {
            guard op.hasEffect || op.results.contains(where: { needed.contains($0) || isWanted($0) }) else { continue }
            needed.formUnion(op.operands)
            live.append(op)
        }
        live.reverse()

        var builder = SubgraphBuilder(name: function.compiled.graph.name)
        for op in live {
            for operand in op.operands { try add(operand, to: &builder, state) }
            try builder.append(op, state)
        }
        var outputs: [(value: Value, type: TensorType)] = []
        for op in live {
            for result in op.results where isWanted(result) {
                guard case .tensor(let type) = state.types[result.index] else { continue }
                outputs.append((result, type))
                builder.addOutput(result)
            }
        }
        let placed = try place(builder)

        var end = end
        if case .control(let op, _) = end {
            let names = op.kind == .while ? ["condition", "body"] : ["then", "else"]
            let bodies = op.regions.enumerated().map { index, body in
                RegionBinding(
                    function, region: body,
                    path: "\(path)\(path.isEmpty ? "" : ", ")\(op.kind.name) \(next - 1) \(names[min(index, 1)])",
                    captured: state, planLimit: planLimit)
            }
            end = .control(op, bodies: bodies)
        }
        let known = state.known.filter { isWanted($0.key) }.map { (value: $0.key, tensor: $0.value) }
        return Segment(
            parts: placed.parts, placements: placed.placements, part: placed.part, globals: builder.globals,
            whole: placed.whole, inputs: builder.inputs, states: builder.states, outputs: outputs, known: known,
            end: end, nextOp: next, state: state, planLimit: planLimit)
    }

    private struct PlacedSegment {
        var part: Subgraph
        var parts: [PlacedPart] = []
        var placements: [PatternPlacement] = []
        var whole: PlacedSubgraph?

        var workspaceByteCount: Int { parts.reduce(0) { $0 + $1.executable.workspaceByteCount } }
    }

    /// Fuses a part's patterns, places them and loads each stretch on its unit. Where a unit does not take what it was
    /// given, the CPU runs all; where the CPU does not take a fused op, nothing is fused.
    private func place(_ builder: SubgraphBuilder) throws(EngineError) -> PlacedSegment {
        guard !builder.part.ops.isEmpty else { return PlacedSegment(part: builder.part) }
        try PassVerifier.verifyInDebug(builder.part, after: "binding")
        guard function.fusesPatterns else { return try place(builder.part, builder) }
        do throws(EngineError) {
            let fused = recording(.specialize, "fuse \(builder.part.ops.count) ops") {
                Fusion.run(builder.part, host: function.host)
            }
            try PassVerifier.verifyInDebug(fused, after: "fusion")
            return try place(fused, builder)
        } catch .unsupportedOp where !function.choice.isStrict {
            return try place(builder.part, builder)
        }
    }

    /// Where the program's order takes more memory than the budget allows, one that takes less, if there is one.
    private func place(_ part: Subgraph, _ builder: SubgraphBuilder) throws(EngineError) -> PlacedSegment {
        let placed = try placeInOrder(part, builder)
        guard let budget = function.memoryBudget, placed.workspaceByteCount > budget else { return placed }
        let smaller = try placeInOrder(MemoryOrder.run(part), builder)
        return smaller.workspaceByteCount < placed.workspaceByteCount ? smaller : placed
    }

    private func placeInOrder(_ part: Subgraph, _ builder: SubgraphBuilder) throws(EngineError) -> PlacedSegment {
        var placed = PlacedSegment(part: part)
        placed.placements = try recording(.specialize, "place \(part.ops.count) patterns") { () throws(EngineError) in
            var partitioner = Partitioner(
                part, choice: function.choice, host: function.delegate, locations: function.compiled.locations)
            return try partitioner.run()
        }
        let whole = PlacedSubgraph(
            unit: function.delegate.id, part: part, inputs: part.inputs, states: part.states, outputs: part.outputs,
            ops: Array(part.ops.indices)
        ).renamed(builder.globals)
        do throws(EngineError) {
            for piece in PartSplitter.split(part, units: placed.placements.map(\.unit)) {
                placed.parts.append(
                    try PlacedPart(
                        piece.renamed(builder.globals), unit: piece.unit, on: function.unit(piece.unit)))
            }
            if placed.parts.contains(where: { $0.unit != function.delegate.id }) { placed.whole = whole }
        } catch {
            let isHosted = placed.placements.allSatisfy { $0.unit == function.delegate.id }
            guard !isHosted, !function.choice.isStrict else { throw error }
            placed.parts = [try PlacedPart(whole, unit: function.delegate.id, on: function.delegate)]
            for index in placed.placements.indices where placed.placements[index].unit != function.delegate.id {
                placed.placements[index].declined[placed.placements[index].unit] =
                    "it could not be readied: \(error.description)"
                placed.placements[index].unit = function.delegate.id
                placed.placements[index].delegate = function.delegate
            }
        }
        return placed
    }

    private func add(_ value: Value, to builder: inout SubgraphBuilder, _ state: BindState) throws(EngineError) {
        guard !builder.contains(value) else { return }
        if let tensor = known(value, state) {
            builder.addConstant(value, tensor)
            return
        }
        switch type(value, state) {
        case .tensor(let type): builder.addInput(value, type)
        case .handle(let type): builder.addState(value, type)
        case .token, .image, nil:
            throw .invalidGraph(
                function: function.compiled.graph.name, op: "value", reason: "%\(value.index) is no tensor here")
        }
    }
}

/// Builds a part, with values numbered anew.
private struct SubgraphBuilder {
    private(set) var part: Subgraph
    private(set) var inputs: [Value] = []
    private(set) var states: [Value] = []
    private var map: [Value: Value] = [:]
    /// The value of the function that each value of the part is.
    private(set) var globals: [Value] = []

    init(name: String) { part = Subgraph(name: name) }

    func contains(_ value: Value) -> Bool { map[value] != nil }

    private mutating func define(_ value: Value, _ type: TensorType) -> Value {
        part.types.append(type)
        let local = Value(part.types.count - 1)
        map[value] = local
        globals.append(value)
        return local
    }

    mutating func addInput(_ value: Value, _ type: TensorType) {
        part.inputs.append(define(value, type))
        inputs.append(value)
    }

    mutating func addState(_ value: Value, _ type: TensorType) {
        part.states.append(define(value, type))
        states.append(value)
    }

    mutating func addConstant(_ value: Value, _ tensor: HostTensor) {
        part.constants[define(value, tensor.type)] = tensor
    }

    mutating func addOutput(_ value: Value) {
        if let local = map[value] { part.outputs.append(local) }
    }

    mutating func append(_ op: Op, _ state: BindState) throws(EngineError) {
        var local = op
        local.operands = op.operands.compactMap { map[$0] }
        local.results = []
        for result in op.results {
            guard case .tensor(let type) = state.types[result.index] else {
                throw .invalidGraph(function: part.name, op: op.kind.rawValue, reason: "a result is no tensor")
            }
            local.results.append(define(result, type))
        }
        part.ops.append(local)
    }
}
