import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

@Suite struct MemoryOrderTests {
    /// Makes all of many large values, then sums each to one number: in this order, all of them are alive at once.
    private func wide(_ count: Int) throws -> FunctionBuilder {
        var builder = FunctionBuilder()
        let x = builder.input([1, 4096])
        var large: [Value] = []
        for _ in 0..<count { large.append(builder.op(.softmax, x, builder.integer(1))) }
        for value in large { builder.output(builder.op(.reduceSum, value, builder.integers([1]), shape: [1, 1])) }
        return builder
    }

    private func workspace(_ budget: Int?) throws -> Int {
        let cpu = CPUDelegate.shared
        let function = try Compiler.compile(
            wide(12).program(), function: "main", host: cpu, delegate: cpu, memoryBudget: budget)
        let types = function.compiled.graph.body.arguments.map { function.compiled.graph[type: $0] }
        return try function.makeBinding().segment(for: types).memory.workspaces.values.reduce(0, +)
    }

    @Test func takesLessWhereTheBudgetAsks() throws {
        let free = try workspace(nil)
        let tight = try workspace(64 << 10)
        #expect(free >= 12 * 16384)
        #expect(tight <= 4 * 16384)
    }
}
