package import EngineDelegation
package import EngineGraph

/// The passes from a function of a program to a graph that can be bound and run.
package enum Compiler {
    package static func compile(
        _ program: Program, function name: String, host: any HostEvaluator, delegate: any Delegate,
        planLimit: Int = 16, fusesPatterns: Bool = true, choice: UnitChoice = .cpuOnly, keepsResults: Bool = false,
        memoryBudget: Int? = nil
    ) throws(EngineError) -> CompiledFunction {
        CompiledFunction(
            try lower(program, function: name, host: host, fusesPatterns: fusesPatterns), host: host,
            delegate: delegate, planLimit: planLimit,
            fusesPatterns: fusesPatterns, choice: choice, keepsResults: keepsResults, memoryBudget: memoryBudget)
    }

    /// A function's graph after the passes that no unit matters to.
    package static func lower(
        _ program: Program, function name: String, host: any HostEvaluator, fusesPatterns: Bool = true
    ) throws(EngineError) -> CompiledGraph {
        var compiled = try recording(.specialize, "lower '\(name)'") { () throws(EngineError) in
            try Lowering.lower(program, function: name, host: host)
        }
        try PassVerifier.verifyInDebug(compiled, after: "lowering")
        try recording(.specialize, "fold constants") { () throws(EngineError) in
            DeadCode.run(&compiled)
            try PassVerifier.verifyInDebug(compiled, after: "dead code")
            ConstantFolding.run(&compiled, host: host)
            try PassVerifier.verifyInDebug(compiled, after: "constant folding")
            if fusesPatterns {
                WeightFolding.run(&compiled)
                try PassVerifier.verifyInDebug(compiled, after: "weight folding")
            }
            DeadCode.run(&compiled)
            try PassVerifier.verifyInDebug(compiled, after: "dead code")
        }
        return compiled
    }
}
