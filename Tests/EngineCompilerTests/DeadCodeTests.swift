import CPUDelegate
import EngineCompiler
import EngineGraph
import EngineTestSupport
import Testing

@Suite struct DeadCodeTests {
    private func cleaned(_ builder: FunctionBuilder) throws -> CompiledGraph {
        var compiled = try Lowering.lower(builder.program(), function: "main", host: ClaimingHost())
        DeadCode.run(&compiled)
        return compiled
    }

    @Test func whatNobodyReadsGoes() throws {
        var builder = FunctionBuilder()
        let input = builder.input([2])
        let unused = builder.op(.add, input, builder.floats([1, 2], [2]))
        _ = builder.op(.relu, unused)
        builder.output(builder.op(.abs, input))
        let compiled = try cleaned(builder)
        #expect(compiled.graph.body.ops.map(\.kind) == [.abs])
        #expect(compiled.constants.isEmpty)
    }

    @Test func whatIsStoredStays() throws {
        var builder = FunctionBuilder()
        let state = builder.state([2])
        let (value, token) = builder.read(state, after: builder.token())
        _ = builder.write(builder.op(.relu, value), to: state, after: token)
        #expect(try cleaned(builder).graph.body.ops.map(\.kind) == [.loadState, .relu, .storeState])
    }

    /// An `if` whose result is not read: gone, unless a branch stores a state.
    @Test(arguments: [false, true]) func branchesStayForWhatTheyDo(stores: Bool) throws {
        var builder = FunctionBuilder()
        let condition = builder.input([], .bool)
        let state = builder.state([2])
        let input = builder.input([2])
        // Captured by a branch alone.
        let captured = builder.op(.relu, input)
        let token = builder.token()
        _ = builder.branch(condition, []) { builder in
            if stores { _ = builder.write(captured, to: state, after: token) }
            return []
        } else: { _ in
            []
        }
        #expect(try cleaned(builder).graph.body.ops.map(\.kind) == (stores ? [.relu, .if] : []))
    }
}
