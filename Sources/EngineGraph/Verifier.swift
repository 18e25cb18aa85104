/// Checks that a program follows the rules that everything after the decoder relies on. It takes time in proportion to
/// the program, and never traps, whatever a decoder made of a damaged asset.
package enum Verifier {
    /// How deep regions and bodies may lie in one another.
    package static let maximumDepth = 64
    /// How long a chain of calls may be.
    package static let maximumCallDepth = 128
    /// How many ops a function may have once every call is replaced by what it calls.
    package static let maximumExpandedOps = 16_000_000

    /// Checks every graph, the calls between them, and their names.
    package static func verify(_ program: Program) throws(EngineError) {
        var graphs: [String: Graph] = [:]
        for graph in program.graphs {
            guard graphs.updateValue(graph, forKey: graph.name) == nil else {
                throw .invalidGraph(function: graph.name, op: "graph", reason: "there are two graphs of this name")
            }
        }
        for graph in program.graphs {
            try verify(graph, callees: graphs, locationCount: program.locations.count)
        }
        try verifyCalls(program.graphs)
    }

    /// Checks one graph: values, types, regions, bodies, signature. Calls are checked where `callees` is given,
    /// locations where `locationCount` is.
    package static func verify(
        _ graph: Graph, callees: [String: Graph]? = nil, locationCount: Int? = nil
    ) throws(EngineError) {
        var verifier = GraphVerifier(
            graph: graph, function: graph.name, callees: callees, locationCount: locationCount, depth: 0,
            isStructureOnly: false)
        try verifier.verify()
        try verifySignature(graph)
    }

    // MARK: Names

    private static func verifySignature(_ graph: Graph) throws(EngineError) {
        let signature = graph.signature
        func failure(_ reason: String) -> EngineError {
            .invalidGraph(function: graph.name, op: "graph", reason: reason)
        }
        func check(_ names: [String], _ values: [Value], _ what: String) throws(EngineError) {
            if signature.isPrivate && names.isEmpty { return }
            guard names.count == values.count else {
                throw failure("\(names.count) \(what) names for \(values.count) \(what)s")
            }
            // A token carries its state's name; an output may have the same.
            var seen: [Bool: Set<String>] = [:]
            for (name, value) in zip(names, values) {
                let isToken = graph[type: value] == .token
                guard seen[isToken, default: []].insert(name).inserted else {
                    throw failure("there are two \(what)s called '\(name)'")
                }
            }
        }
        try check(signature.argumentNames, graph.body.arguments, "argument")
        try check(signature.resultNames, graph.body.results, "result")

        let states = Set(
            zip(signature.argumentNames, graph.body.arguments).filter { graph[type: $0.1].isHandle }.map(\.0))
        for (name, value) in zip(signature.resultNames, graph.body.results)
        where graph[type: value] == .token && !states.contains(name) {
            throw failure("the token '\(name)' belongs to no state")
        }
    }

    // MARK: Calls

    /// Refuses cycles of calls, and chains and expansions beyond the limits.
    private static func verifyCalls(_ graphs: [Graph]) throws(EngineError) {
        let indices = Dictionary(graphs.indices.map { (graphs[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        var callees: [[Int]] = []
        var sizes: [Int] = []
        var callers: [[Int]] = Array(repeating: [], count: graphs.count)
        for (index, graph) in graphs.enumerated() {
            var called: [Int] = []
            sizes.append(countOps(graph.body, depth: 0, indices: indices, called: &called))
            callees.append(called)
            for callee in called { callers[callee].append(index) }
        }
        // Callees first; what is never ready calls itself in the end.
        var waiting = callees.map(\.count)
        var depths = Array(repeating: 0, count: graphs.count)
        var ready = graphs.indices.filter { waiting[$0] == 0 }
        var done = 0
        while let index = ready.popLast() {
            done += 1
            for callee in callees[index] {
                depths[index] = max(depths[index], depths[callee] + 1)
                // Saturates: a few doublings more don't matter.
                sizes[index] = min(sizes[index] + sizes[callee], maximumExpandedOps + 1)
            }
            if depths[index] > maximumCallDepth {
                throw .invalidGraph(
                    function: graphs[index].name, op: "invoke",
                    reason: "calls are \(depths[index]) deep, at most \(maximumCallDepth) are supported")
            }
            if sizes[index] > maximumExpandedOps {
                throw .invalidGraph(
                    function: graphs[index].name, op: "invoke",
                    reason: "its calls expand to more than \(maximumExpandedOps) ops")
            }
            for caller in callers[index] {
                waiting[caller] -= 1
                if waiting[caller] == 0 { ready.append(caller) }
            }
        }
        if done < graphs.count, let index = graphs.indices.first(where: { waiting[$0] > 0 }) {
            throw .invalidGraph(function: graphs[index].name, op: "invoke", reason: "the graph calls itself")
        }
    }

    /// The number of ops of a region with its inner regions and bodies; collects the graphs that it calls.
    private static func countOps(_ region: Region, depth: Int, indices: [String: Int], called: inout [Int]) -> Int {
        var count = region.ops.count
        // Each graph was verified: nothing lies deeper.
        guard depth <= maximumDepth else { return count }
        for op in region.ops {
            if case .callee(let name) = op.attributes, let index = indices[name] { called.append(index) }
            for inner in op.regions { count += countOps(inner, depth: depth + 1, indices: indices, called: &called) }
            for body in op.bodies { count += countOps(body.body, depth: depth + 1, indices: indices, called: &called) }
        }
        return count
    }
}

extension ValueType {
    /// Whether this is the type of a state.
    package var isHandle: Bool { if case .handle = self { true } else { false } }

    /// Whether one value can have both types: they agree wherever both are static.
    package func isCompatible(with other: ValueType) -> Bool {
        switch (self, other) {
        case (.tensor(let a), .tensor(let b)), (.handle(let a), .handle(let b)):
            a.elementType == b.elementType && a.rank == b.rank && (a.encoding == .dense) == (b.encoding == .dense)
                && zip(a.shape, b.shape).allSatisfy {
                    $0 == $1 || $0 == TensorType.dynamic || $1 == TensorType.dynamic
                }
        default: self == other
        }
    }
}
