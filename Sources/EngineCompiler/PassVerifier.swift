package import EngineDelegation
package import EngineGraph

/// Checks what a pass has made: every value is defined once, before it is read, where it can be seen; every op has the
/// operands, results and regions that its kind asks for. Debug builds and tests check after every pass.
package enum PassVerifier {
    /// `verify`, in debug builds only.
    static func verifyInDebug(_ compiled: CompiledGraph, after pass: String) throws(EngineError) {
        #if DEBUG
            try verify(compiled, after: pass)
        #endif
    }

    /// `verify`, in debug builds only.
    static func verifyInDebug(_ part: Subgraph, after pass: String) throws(EngineError) {
        #if DEBUG
            try verify(part, after: pass)
        #endif
    }

    /// Checks a function between two passes.
    package static func verify(_ compiled: CompiledGraph, after pass: String) throws(EngineError) {
        let graph = compiled.graph
        var defined = Set(compiled.constants.keys)
        var ever = defined
        for argument in graph.body.arguments {
            try define(argument, &defined, &ever, graph.types.count, graph.name, pass)
        }
        try verify(graph.body.ops, &defined, &ever, graph, pass)
        for result in graph.body.results where !defined.contains(result) {
            throw broken(graph.name, pass, "the result %\(result.index) is not defined")
        }
    }

    private static func verify(
        _ ops: [Op], _ defined: inout Set<Value>, _ ever: inout Set<Value>, _ graph: Graph, _ pass: String
    ) throws(EngineError) {
        for op in ops {
            try verify(op, graph.name, pass)
            for operand in op.operands where !defined.contains(operand) {
                throw broken(graph.name, pass, "\(op.kind.rawValue) reads %\(operand.index), which is not defined")
            }
            for region in op.regions {
                // What a region defines is its own; what is around it, it may read.
                var inner = defined
                for argument in region.arguments {
                    try define(argument, &inner, &ever, graph.types.count, graph.name, pass)
                }
                try verify(region.ops, &inner, &ever, graph, pass)
                for result in region.results where !inner.contains(result) {
                    throw broken(graph.name, pass, "a region of \(op.kind.rawValue) gives %\(result.index) undefined")
                }
            }
            for result in op.results { try define(result, &defined, &ever, graph.types.count, graph.name, pass) }
        }
    }

    /// Checks a part between two fusions.
    package static func verify(_ part: Subgraph, after pass: String) throws(EngineError) {
        var defined = Set(part.constants.keys)
        var ever = defined
        for value in part.inputs + part.states {
            try define(value, &defined, &ever, part.types.count, part.name, pass)
        }
        for op in part.ops {
            try verify(op, part.name, pass)
            for operand in op.operands where !defined.contains(operand) {
                throw broken(part.name, pass, "\(op.kind.rawValue) reads %\(operand.index), which is not defined")
            }
            for result in op.results { try define(result, &defined, &ever, part.types.count, part.name, pass) }
        }
        for output in part.outputs where !defined.contains(output) {
            throw broken(part.name, pass, "the output %\(output.index) is not defined")
        }
    }

    private static func define(
        _ value: Value, _ defined: inout Set<Value>, _ ever: inout Set<Value>, _ count: Int, _ name: String,
        _ pass: String
    ) throws(EngineError) {
        guard (0..<count).contains(value.index) else {
            throw broken(name, pass, "%\(value.index) has no type")
        }
        guard ever.insert(value).inserted else {
            throw broken(name, pass, "%\(value.index) is defined twice")
        }
        defined.insert(value)
    }

    private static func verify(_ op: Op, _ name: String, _ pass: String) throws(EngineError) {
        let info = op.kind.info
        let fixed = info.operands.count
        // Fused ops have operands that their attributes decide.
        let isFused = info.category.contains(.compilerMade)
        guard isFused || op.operands.count == fixed || (op.operands.count > fixed && info.variadic != nil) else {
            throw broken(name, pass, "\(op.kind.rawValue) has \(op.operands.count) operands, expected \(fixed)")
        }
        if let count = info.resultCount, !isFused, op.results.count != count {
            throw broken(name, pass, "\(op.kind.rawValue) has \(op.results.count) results, expected \(count)")
        }
        guard info.regionCount.contains(op.regions.count) else {
            throw broken(name, pass, "\(op.kind.rawValue) has \(op.regions.count) regions")
        }
    }

    private static func broken(_ name: String, _ pass: String, _ reason: String) -> EngineError {
        .invalidGraph(function: name, op: pass, reason: "the pass left a broken graph: \(reason)")
    }
}
