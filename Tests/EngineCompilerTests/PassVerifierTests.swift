import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// A pass that breaks a graph is found out.
@Suite struct PassVerifierTests {
    private func part() throws -> Subgraph {
        var builder = FunctionBuilder()
        let x = builder.input([2, 2])
        let y = builder.op(.exp, x)
        builder.output(builder.op(.add, y, x))
        return try builder.part()
    }

    /// What the check says of a part that `change` broke.
    private func complaint(_ change: (inout Subgraph) -> Void) throws -> String {
        var broken = try part()
        change(&broken)
        do throws(EngineError) {
            try PassVerifier.verify(broken, after: "test")
            return ""
        } catch {
            return error.description
        }
    }

    @Test func aSoundPartPasses() throws {
        #expect(try complaint { _ in } == "")
    }

    @Test func valuesAreDefinedOnceBeforeTheyAreRead() throws {
        #expect(try complaint { $0.ops.swapAt(0, 1) }.contains("is not defined"))
        #expect(try complaint { $0.ops.append($0.ops[0]) }.contains("is defined twice"))
        #expect(try complaint { $0.ops.removeLast() }.contains("the output"))
        #expect(try complaint { $0.ops[0].results = [Value(99)] }.contains("has no type"))
    }

    @Test func opsHaveTheirOperandsAndResults() throws {
        #expect(try complaint { $0.ops[1].operands.removeLast() }.contains("1 operands, expected 2"))
        #expect(try complaint { $0.ops[1].results = [] }.contains("0 results, expected 1"))
        #expect(try complaint { $0.ops[1].regions = [Region()] }.contains("1 regions"))
    }
}
