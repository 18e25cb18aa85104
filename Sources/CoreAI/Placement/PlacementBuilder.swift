import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineRuntime

/// Makes a function's report of segments that were planned or that ran.
struct PlacementBuilder {
    private let function: CompiledFunction
    private let options: SpecializationOptions
    private let units: [PlacementReport.Unit]
    private var patterns: [PlacementReport.Pattern] = []
    private var parts: [PlacementReport.Part] = []
    /// The pattern that defines each value of the function, by what was added last.
    private var definitions: [Value: Int] = [:]
    private let argumentNames: [Value: String]
    private let resultNames: [Value: [String]]
    private var memory = PlacementReport.Memory(
        peakByteCount: 0, workspaceByteCount: 0, hostByteCount: 0, deviceByteCount: 0, weightByteCount: 0,
        isComplete: true)
    /// The units beside the CPU that read each argument.
    private var readers: [Value: Set<String>] = [:]
    private var fallbacks: [String] = []

    init(_ function: CompiledFunction, options: SpecializationOptions) {
        self.function = function
        self.options = options
        units = ComputeUnitKind.all.map { kind in
            let name = kind.engineName
            if kind == .cpu { return PlacementReport.Unit(name: name, isUsable: true) }
            if case .absent(let reason) = EngineUnits.presence(of: kind) {
                return PlacementReport.Unit(name: name, isUsable: false, reason: reason)
            }
            if function.choice.units.contains(where: { $0.id.name == name }) {
                return PlacementReport.Unit(name: name, isUsable: true)
            }
            let reason =
                options.allowedComputeUnitKinds.contains(kind)
                ? "the CPU is preferred, and runs everything" : "the options don't allow it"
            return PlacementReport.Unit(name: name, isUsable: false, reason: reason)
        }
        let graph = function.compiled.graph
        argumentNames = Dictionary(zip(graph.body.arguments, graph.signature.argumentNames)) { first, _ in first }
        var names: [Value: [String]] = [:]
        for (value, name) in zip(graph.body.results, graph.signature.resultNames) {
            names[value, default: []].append(name)
        }
        resultNames = names
        // Constants that share a buffer count once.
        var buffers: [UInt: Int] = [:]
        for tensor in function.compiled.constants.values {
            let address = unsafe UInt(bitPattern: tensor.pointer)
            buffers[address] = max(buffers[address] ?? 0, tensor.byteCount)
        }
        memory.weightByteCount = buffers.values.reduce(0, +)
    }

    /// The report. `arguments` are the types of the arguments, where they are known.
    func report(
        arguments types: [ValueType]?, unbound: [UnboundStretch], runCount: Int = 0
    ) -> PlacementReport.Function {
        let graph = function.compiled.graph
        var arguments: [PlacementReport.Argument] = []
        for (index, value) in graph.body.arguments.enumerated() {
            let known = types.flatMap { index < $0.count ? $0[index] : nil }
            guard let name = argumentNames[value], let type = (known ?? graph[type: value]).contents else { continue }
            let isState = if case .handle = graph[type: value] { true } else { false }
            arguments.append(
                PlacementReport.Argument(
                    name: name, isState: isState, type: type.description,
                    preferredStrides: type.isStatic ? type.rowMajorStrides : nil, isCopiedForLayout: false,
                    byteCount: type.byteCount, copiedTo: (readers[value] ?? []).sorted()))
        }
        var memory = memory
        memory.isComplete = unbound.isEmpty
        return PlacementReport.Function(
            name: graph.name, preferredUnit: options.preferredComputeUnitKind?.engineName, units: units,
            arguments: arguments, patterns: patterns, parts: parts,
            unbound: unbound.map {
                PlacementReport.Unbound(region: $0.path, operations: $0.ops.map(operation), reason: $0.reason)
            }, memory: memory, measuredRunCount: runCount, fallbacks: fallbacks)
    }

    mutating func add(_ segment: Segment, path: String, visit: RunObserver.Visit? = nil) {
        let used = segment.memory
        memory.peakByteCount += used.total
        memory.workspaceByteCount += used.workspaces.values.reduce(0, +)
        memory.hostByteCount += used.host
        memory.deviceByteCount += used.buffers.values.reduce(0, +)

        let first = patterns.count
        let firstPart = parts.count
        var partOf = [Int](repeating: firstPart, count: segment.placements.count)
        for (index, part) in segment.parts.enumerated() {
            for op in part.ops where partOf.indices.contains(op) { partOf[op] = firstPart + index }
            let isHost = part.executable is any HostExecutable
            for value in part.inputs + part.states where !isHost && argumentNames[value] != nil {
                readers[value, default: []].insert(part.unit.name)
            }
            parts.append(
                PlacementReport.Part(
                    unit: part.unit.name, patterns: part.ops.map { first + $0 }.sorted(),
                    workspaceByteCount: part.executable.workspaceByteCount,
                    estimatedSeconds: part.ops.reduce(0) { $0 + segment.placements[$1].estimatedSeconds },
                    measuredSeconds: visit?.partSeconds[index]))
        }
        for (index, placement) in segment.placements.enumerated() {
            add(placement, index, in: segment, path: path, part: partOf[index], visit)
        }
        shareTimes(from: firstPart)
        if let fallback = visit?.fallback {
            fallbacks.append(fallback)
            for index in first..<patterns.count { fallBack(&patterns[index], fallback) }
        }
    }

    private mutating func add(
        _ placement: PatternPlacement, _ index: Int, in segment: Segment, path: String, part: Int,
        _ visit: RunObserver.Visit?
    ) {
        let id = patterns.count
        func global(_ value: Value) -> Value? {
            segment.globals.indices.contains(value.index) ? segment.globals[value.index] : nil
        }
        var sources: Set<Int> = []
        var reads: Set<String> = []
        for operand in placement.op.operands {
            guard let value = global(operand) else { continue }
            if let name = argumentNames[value] {
                reads.insert(name)
            } else if let source = definitions[value] {
                sources.insert(source)
            }
        }
        var gives: [String] = []
        for result in placement.op.results {
            guard let value = global(result) else { continue }
            definitions[value] = id
            gives += resultNames[value] ?? []
        }
        if placement.op.kind == .storeState { gives += reads.sorted() }
        let seconds = visit?.patternSeconds[index]
        patterns.append(
            PlacementReport.Pattern(
                id: id, name: placement.op.pattern ?? placement.op.kind.name,
                operations: placement.op.origins.map(operation), region: path,
                unit: placement.unit.name, declined: declines(placement),
                estimatedSeconds: placement.estimatedSeconds, measuredSeconds: seconds,
                measurement: seconds == nil ? nil : .kernel, crossingByteCount: placement.crossingByteCount,
                isBookkeeping: placement.isBookkeeping, part: part,
                results: placement.op.results.map { segment.part[type: $0].description }, sources: sources.sorted(),
                reads: reads.sorted(), gives: gives))
    }

    /// Gives the patterns of parts that were only measured whole their shares.
    private mutating func shareTimes(from firstPart: Int) {
        for part in parts[firstPart...] {
            guard let seconds = part.measuredSeconds,
                part.patterns.allSatisfy({ patterns[$0].measuredSeconds == nil })
            else { continue }
            let weights = part.patterns.map { patterns[$0].isBookkeeping ? 0 : patterns[$0].estimatedSeconds }
            let total = weights.reduce(0, +)
            for (id, weight) in zip(part.patterns, weights) {
                patterns[id].measuredSeconds =
                    total > 0 ? seconds * weight / total : seconds / Double(part.patterns.count)
                patterns[id].measurement = .part
            }
        }
    }

    private func fallBack(_ pattern: inout PlacementReport.Pattern, _ reason: String) {
        let cpu = DelegateID.cpu.name
        guard pattern.unit != cpu else { return }
        pattern.declined.removeAll { $0.unit == cpu }
        pattern.declined.append(PlacementReport.Decline(unit: pattern.unit, reason: "it failed: \(reason)"))
        pattern.unit = cpu
    }

    private func operation(_ origin: OpOrigin) -> PlacementReport.Operation {
        let locations = function.compiled.locations
        let line = locations.line(origin.location)
        return PlacementReport.Operation(
            name: origin.kind.name, source: line, file: line == nil ? nil : locations[origin.location].file)
    }

    /// Why each other unit does not run the pattern.
    private func declines(_ placement: PatternPlacement) -> [PlacementReport.Decline] {
        units.filter { $0.name != placement.unit.name }.map { unit in
            let given = placement.declined[DelegateID(unit.name)]
            return PlacementReport.Decline(
                unit: unit.name, reason: given ?? unit.reason ?? reason(for: placement, on: unit.name))
        }
    }

    /// Why a unit that could be used does not run a pattern that it did not decline.
    private func reason(for placement: PatternPlacement, on unit: String) -> String {
        if placement.isBookkeeping { return "it computes nothing, and stays with what it reads or feeds" }
        let isFirst = function.choice.units.first?.id == placement.unit
        if isFirst, function.choice.isPreferred { return "\(placement.unit) is preferred, and takes it" }
        return "\(placement.unit) takes it, and comes first"
    }
}

extension PlacementBuilder {
    /// Adds what the host computed because only that tells a shape.
    mutating func add(dynamic ops: [OpOrigin]) {
        for op in ops {
            let reason = "only computing it on the host tells the shape of its result"
            parts.append(
                PlacementReport.Part(
                    unit: DelegateID.cpu.name, patterns: [patterns.count], workspaceByteCount: 0, estimatedSeconds: 0))
            patterns.append(
                PlacementReport.Pattern(
                    id: patterns.count, name: op.kind.name, operations: [operation(op)], region: "",
                    unit: DelegateID.cpu.name,
                    declined: units.filter { $0.name != DelegateID.cpu.name }.map {
                        PlacementReport.Decline(unit: $0.name, reason: $0.reason ?? reason)
                    }, estimatedSeconds: 0, crossingByteCount: 0, isBookkeeping: false, part: parts.count - 1,
                    results: [], sources: [], reads: [], gives: []))
        }
    }
}

extension ValueType {
    /// The tensor that a value is, or that a state holds.
    fileprivate var contents: TensorType? {
        switch self {
        case .tensor(let type), .handle(let type): type
        case .token, .image: nil
        }
    }
}

extension TensorType {
    /// The strides of a dense row-major array of a static shape.
    fileprivate var rowMajorStrides: [Int] {
        var strides = [Int](repeating: 1, count: rank)
        for index in (0..<max(rank - 1, 0)).reversed() {
            strides[index] = strides[index + 1].multipliedReportingOverflow(by: max(shape[index + 1], 1)).partialValue
        }
        return strides
    }
}
