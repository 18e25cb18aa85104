package import EngineDelegation
package import EngineGraph

/// The passes from a function of a program to a graph that can be bound and run.
package enum Compiler {
    package static func compile(
        _ program: Program, function name: String, host: any HostEvaluator, delegate: any Delegate,
        planLimit: Int = 16, fusesPatterns: Bool = true, choice: UnitChoice = .cpuOnly
    ) throws(EngineError) -> CompiledFunction {
        var compiled = try Lowering.lower(program, function: name, host: host)
        DeadCode.run(&compiled)
        ConstantFolding.run(&compiled, host: host)
        DeadCode.run(&compiled)
        return CompiledFunction(
            compiled, host: host, delegate: delegate, planLimit: planLimit, fusesPatterns: fusesPatterns,
            choice: choice)
    }
}
