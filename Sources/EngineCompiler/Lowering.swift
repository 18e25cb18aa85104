package import EngineDelegation
package import EngineGraph

/// Turns a function of a program into one flat graph: calls and decompositions inlined, tokens gone, states read and
/// stored by plain ops in program order.
package struct Lowering {
    /// A hostile program can call itself into exponential size: no genuine one comes near this many ops.
    package static let opLimit = 2_000_000

    /// So can splats, which take a few bytes on disk and as many as they like here.
    private static let splatByteLimit = 8 << 30

    private let opLimit: Int
    private let program: Program
    private let host: any HostEvaluator
    private let functionName: String
    private let graphsByName: [String: Graph]
    private var output = Graph()
    private var constants: [Value: HostTensor] = [:]
    private var knownConstants: [ConstantKey: Value] = [:]
    private var opCount = 0
    private var splatByteCount = 0

    private struct ConstantKey: Hashable {
        let constant: ObjectIdentifier
        let type: TensorType
    }

    /// Lowers the function called `functionName`.
    package static func lower(
        _ program: Program, function functionName: String, host: any HostEvaluator, opLimit: Int = Lowering.opLimit
    ) throws(EngineError) -> CompiledGraph {
        guard let graph = program.graph(named: functionName) else {
            throw .invalidGraph(function: functionName, op: "graph", reason: "there is no such function")
        }
        var lowering = Lowering(program, host: host, functionName: functionName, opLimit: opLimit)
        return try lowering.lower(graph)
    }

    private init(_ program: Program, host: any HostEvaluator, functionName: String, opLimit: Int) {
        self.opLimit = opLimit
        self.program = program
        self.host = host
        self.functionName = functionName
        self.graphsByName = Dictionary(program.graphs.map { ($0.name, $0) }) { first, _ in first }
    }

    private mutating func lower(_ graph: Graph) throws(EngineError) -> CompiledGraph {
        output.name = graph.name
        output.signature = graph.signature
        var scope = Scope(graph)
        for argument in graph.body.arguments {
            let value = output.makeValue(graph[type: argument])
            scope.map[argument.index] = value
            output.body.arguments.append(value)
        }
        var ops: [Op] = []
        try lower(graph.body.ops, in: &scope, into: &ops, depth: 0)
        output.body.ops = ops
        // Tokens are how the program returns its states, which are arguments here.
        var resultNames: [String] = []
        for (position, result) in graph.body.results.enumerated() {
            if Self.isStateful(graph[type: result]) { continue }
            output.body.results.append(try value(result, in: scope))
            if position < graph.signature.resultNames.count {
                resultNames.append(graph.signature.resultNames[position])
            }
        }
        output.signature.resultNames = resultNames
        return CompiledGraph(graph: output, constants: constants, locations: program.locations)
    }

    /// The values of the graph that is being read, as values of the graph that is being made.
    private struct Scope {
        let graph: Graph
        var map: [Value?]

        init(_ graph: Graph) {
            self.graph = graph
            map = graph.types.map { _ in nil }
        }
    }

    private func value(_ value: Value, in scope: Scope) throws(EngineError) -> Value {
        guard value.index < scope.map.count, let mapped = scope.map[value.index] else {
            throw .invalidGraph(function: functionName, op: "value", reason: "%\(value.index) is used but not defined")
        }
        return mapped
    }

    private mutating func lower(
        _ source: [Op], in scope: inout Scope, into ops: inout [Op], depth: Int
    ) throws(EngineError) {
        for op in source {
            opCount += max(1, op.results.count)
            guard opCount <= opLimit else {
                throw .invalidGraph(
                    function: functionName, op: op.kind.rawValue,
                    reason: "calls unfold to more than \(opLimit) ops")
            }
            try lower(op, in: &scope, into: &ops, depth: depth)
        }
    }

    private mutating func lower(
        _ op: Op, in scope: inout Scope, into ops: inout [Op], depth: Int
    ) throws(EngineError) {
        guard depth < 128 else {
            throw .invalidGraph(function: functionName, op: op.kind.rawValue, reason: "calls are nested too deep")
        }
        switch op.kind {
        case .constant:
            scope.map[op.results[0].index] = try constant(op, in: scope)
        case .createToken, .joinToken:
            break
        case .readHandle:
            let result = output.makeValue(scope.graph[type: op.results[0]])
            scope.map[op.results[0].index] = result
            ops.append(
                Op(
                    .loadState, operands: [try value(op.operands[0], in: scope)], results: [result],
                    location: op.location))
        case .writeHandle:
            let operands = [try value(op.operands[0], in: scope), try value(op.operands[1], in: scope)]
            ops.append(Op(.storeState, operands: operands, location: op.location))
        case .copyWithConstraints, .copyDiscardingConstraints:
            scope.map[op.results[0].index] = try value(op.operands[0], in: scope)
        case .invoke:
            guard case .callee(let name) = op.attributes, let callee = graphsByName[name] else {
                throw .invalidGraph(function: functionName, op: "invoke", reason: "the graph that it calls is missing")
            }
            try inline(callee, for: op, in: &scope, into: &ops, depth: depth)
        case .isolatedGroup:
            guard let body = op.bodies.first else {
                throw .invalidGraph(function: functionName, op: op.kind.rawValue, reason: "it has no body")
            }
            try inline(body, for: op, in: &scope, into: &ops, depth: depth)
        case .metalKernel:
            var name = "?"
            if case .kernel(let kernelName, _) = op.attributes { name = kernelName }
            throw .unsupportedOp(
                op: op.kind.rawValue,
                reason:
                    "kernel '\(name)' is Metal source without a fallback; export the model without the custom kernel, "
                    + "or with a composite whose body spells it out")
        case .if, .while:
            try lowerControl(op, in: &scope, into: &ops, depth: depth)
        default:
            if isInlined(op) {
                guard let body = op.bodies.first else {
                    var name = op.kind.rawValue
                    if case .name(let dialectName) = op.attributes { name = dialectName }
                    throw .unsupportedOp(op: name, reason: "this engine does not know it and it has no decomposition")
                }
                try inline(body, for: op, in: &scope, into: &ops, depth: depth)
            } else {
                try keep(op, in: &scope, into: &ops)
            }
        }
    }

    /// Whether an op runs by its decomposition.
    private func isInlined(_ op: Op) -> Bool {
        if op.kind == .named { return true }
        return op.carriesDecomposition && !host.hasKernel(for: op.kind)
    }

    private mutating func keep(_ op: Op, in scope: inout Scope, into ops: inout [Op]) throws(EngineError) {
        var lowered = op
        lowered.operands = []
        for operand in op.operands { lowered.operands.append(try value(operand, in: scope)) }
        // A decomposition is not the meaning of an op that has a kernel; a combiner is.
        if op.carriesDecomposition { lowered.bodies = [] }
        lowered.results = op.results.map {
            let result = output.makeValue(scope.graph[type: $0])
            scope.map[$0.index] = result
            return result
        }
        ops.append(lowered)
    }

    private mutating func inline(
        _ body: Graph, for op: Op, in scope: inout Scope, into ops: inout [Op], depth: Int
    ) throws(EngineError) {
        guard body.body.arguments.count == op.operands.count, body.body.results.count == op.results.count else {
            throw .invalidGraph(
                function: functionName, op: op.kind.rawValue,
                reason:
                    "the body takes \(body.body.arguments.count) values and gives \(body.body.results.count); the op "
                    + "has \(op.operands.count) operands and \(op.results.count) results")
        }
        var inner = Scope(body)
        for (argument, operand) in zip(body.body.arguments, op.operands) {
            if case .token = scope.graph[type: operand] { continue }
            inner.map[argument.index] = try value(operand, in: scope)
        }
        let first = ops.count
        try lower(body.body.ops, in: &inner, into: &ops, depth: depth + 1)
        // What a body does is done by the op that stands for it: reports name the line of the model.
        for index in first..<ops.count where op.location >= 0 && op.kind != .invoke {
            ops[index].location = op.location
        }
        for (result, yielded) in zip(op.results, body.body.results) {
            if case .token = scope.graph[type: result] { continue }
            let inlined = try value(yielded, in: inner)
            scope.map[result.index] = inlined
            // A body may declare less of a shape than the op itself.
            if case .tensor(let own) = scope.graph[type: result], case .tensor(let declared) = output[type: inlined],
                declared.accepts(own)
            {
                output[type: inlined] = .tensor(own)
            }
        }
    }

    private mutating func lowerControl(
        _ op: Op, in scope: inout Scope, into ops: inout [Op], depth: Int
    ) throws(EngineError) {
        var lowered = Op(op.kind, location: op.location)
        lowered.operands = try values(op.operands, in: scope)
        // A `while` passes its operands to the first region, and the first's results after the condition to the second.
        var passed = op.kind == .while ? op.operands : []
        for region in op.regions {
            try alias(region.arguments, to: passed, in: &scope, op)
            let arguments = define(region.arguments, in: &scope)
            var inner: [Op] = []
            try lower(region.ops, in: &scope, into: &inner, depth: depth + 1)
            lowered.regions.append(
                Region(arguments: arguments, ops: inner, results: try values(region.results, in: scope)))
            if op.kind == .while { passed = Array(region.results.dropFirst()) }
        }
        if op.kind == .while, op.regions.count == 2 {
            try alias(op.results, to: Array(op.regions[0].results.dropFirst()), in: &scope, op)
            // The second round must mean the same states as the first.
            try alias(op.regions[0].arguments, to: op.regions[1].results, in: &scope, op)
        } else {
            for region in op.regions { try alias(op.results, to: region.results, in: &scope, op) }
        }
        lowered.results = define(op.results, in: &scope)
        ops.append(lowered)
    }

    /// Makes the states among `names` stand for those in the same places of `values`: a state that goes through control
    /// flow stays the argument that it is, so that one memory never has two names.
    private func alias(
        _ names: [Value], to values: [Value], in scope: inout Scope, _ op: Op
    ) throws(EngineError) {
        for (index, name) in names.enumerated() {
            guard case .handle = scope.graph[type: name] else { continue }
            guard index < values.count else {
                throw .invalidGraph(function: functionName, op: op.kind.rawValue, reason: "a state comes from nowhere")
            }
            let state = try value(values[index], in: scope)
            guard scope.map[name.index] == nil || scope.map[name.index] == state else {
                throw .unsupportedOp(op: op.kind.rawValue, reason: "it chooses between states")
            }
            scope.map[name.index] = state
        }
    }

    /// Whether a value of this type is memory of the caller or an order of accesses, rather than data.
    private static func isStateful(_ type: ValueType) -> Bool {
        switch type {
        case .handle, .token: true
        case .tensor, .image: false
        }
    }

    /// The values that stand for `source`, without the states and tokens among them.
    private func values(_ source: [Value], in scope: Scope) throws(EngineError) -> [Value] {
        var values: [Value] = []
        for item in source {
            if Self.isStateful(scope.graph[type: item]) { continue }
            values.append(try value(item, in: scope))
        }
        return values
    }

    /// New values for `source`, without the states and tokens among them.
    private mutating func define(_ source: [Value], in scope: inout Scope) -> [Value] {
        var values: [Value] = []
        for item in source {
            if Self.isStateful(scope.graph[type: item]) { continue }
            let value = output.makeValue(scope.graph[type: item])
            scope.map[item.index] = value
            values.append(value)
        }
        return values
    }

    private mutating func constant(_ op: Op, in scope: Scope) throws(EngineError) -> Value {
        guard case .constant(let constant) = op.attributes, case .tensor(let type) = scope.graph[type: op.results[0]]
        else {
            throw .invalidGraph(function: functionName, op: "constant", reason: "it is not a tensor")
        }
        let key = ConstantKey(constant: ObjectIdentifier(constant), type: type)
        if let known = knownConstants[key] { return known }
        if constant.isSplat {
            let byteCount = type.byteCount ?? .max
            guard byteCount <= Self.splatByteLimit - splatByteCount else {
                throw .outOfMemory(unit: "host", byteCount: byteCount)
            }
            splatByteCount += byteCount
        }
        let value = output.makeValue(.tensor(type))
        constants[value] = try HostTensor(constant: constant, type: type)
        knownConstants[key] = value
        return value
    }
}

extension Op {
    /// Whether the op's body is a decomposition, rather than a part of its meaning.
    fileprivate var carriesDecomposition: Bool {
        switch kind {
        case .reduce, .reduceIndex, .scatterND, .isolatedGroup: false
        default: !bodies.isEmpty
        }
    }
}
