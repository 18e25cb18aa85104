import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineRuntime
import EngineTestSupport

/// The function that a builder holds, ready to run.
func executor(
    _ builder: FunctionBuilder, _ others: [Graph] = [], planLimit: Int = 16, fusesPatterns: Bool = true
) throws -> FunctionExecutor {
    let cpu = CPUDelegate.shared
    return FunctionExecutor(
        try Compiler.compile(
            builder.program(others), function: "main", host: cpu, delegate: cpu, planLimit: planLimit,
            fusesPatterns: fusesPatterns))
}

extension FunctionExecutor {
    func run(_ arguments: HostTensor...) throws(EngineError) -> [HostTensor] {
        try run(arguments, destinations: [])
    }
}

let floatType = ValueType.tensor(TensorType([2], .float32))
let boolType = ValueType.tensor(TensorType([], .bool))
let countType = ValueType.tensor(TensorType([], .int32))

extension FunctionBuilder {
    /// `value < limit`.
    mutating func isLess(_ value: Value, than limit: Int) -> Value {
        op(.greater, integer(limit), value, type: .bool)
    }
}

/// The function `main` of a program.
func compiled(_ program: Program) throws -> FunctionExecutor {
    let cpu = CPUDelegate.shared
    return FunctionExecutor(try Compiler.compile(program, function: "main", host: cpu, delegate: cpu))
}
