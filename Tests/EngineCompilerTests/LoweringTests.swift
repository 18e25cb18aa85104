import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

@Suite struct LoweringTests {
    private let type = TensorType([2], .float32)

    private func lower(_ program: Program, host: any HostEvaluator = ClaimingHost()) throws(EngineError)
        -> CompiledGraph
    {
        try Lowering.lower(program, function: "main", host: host)
    }

    private func kinds(_ compiled: CompiledGraph) -> [OpKind] { compiled.graph.body.ops.map(\.kind) }

    @Test func callsAreInlined() throws {
        var inner = FunctionBuilder("inner")
        let argument = inner.input([2])
        inner.output(inner.op(.abs, inner.op(.relu, argument)))
        var builder = FunctionBuilder()
        let input = builder.input([2])
        let once = builder.call("inner", [input], [.tensor(type)])[0]
        builder.output(builder.call("inner", [once], [.tensor(type)])[0])
        let compiled = try lower(builder.program([inner.function]))
        #expect(kinds(compiled) == [.relu, .abs, .relu, .abs])
        let ops = compiled.graph.body.ops
        for (earlier, later) in zip(ops, ops.dropFirst()) { #expect(later.operands == earlier.results) }
        #expect(compiled.graph.body.results == ops[3].results)
        #expect(compiled.graph.signature.resultNames == ["r0"])
    }

    @Test func aCallMayDeclareMoreOfAShapeThanItsBody() throws {
        var inner = FunctionBuilder("inner")
        let argument = inner.input([TensorType.dynamic])
        inner.output(inner.op(.relu, argument))
        var builder = FunctionBuilder()
        let input = builder.input([2])
        builder.output(builder.call("inner", [input], [.tensor(type)])[0])
        let compiled = try lower(builder.program([inner.function]))
        #expect(compiled.graph[type: compiled.graph.body.results[0]] == .tensor(type))
    }

    @Test func missingFunctionsAreErrors() {
        var builder = FunctionBuilder()
        let input = builder.input([2])
        builder.output(builder.call("nowhere", [input], [.tensor(type)])[0])
        let program = builder.program()
        #expect { try lower(program) } throws: { ($0 as? EngineError)?.isInvalidGraph == true }
        #expect {
            try Lowering.lower(program, function: "other", host: ClaimingHost())
        } throws: {
            ($0 as? EngineError)?.isInvalidGraph == true
        }
    }

    @Test func recursionIsAnError() {
        var builder = FunctionBuilder()
        let input = builder.input([2])
        builder.output(builder.call("main", [input], [.tensor(type)])[0])
        let program = builder.program()
        #expect { try lower(program) } throws: { "\($0)".contains("nested too deep") }
    }

    @Test func callsThatDoubleAreAnError() {
        var functions: [Graph] = []
        for level in 0..<40 {
            var builder = FunctionBuilder(level == 39 ? "main" : "f\(level)")
            var value = builder.input([2])
            for _ in 0..<2 {
                value =
                    level == 0 ? builder.op(.relu, value) : builder.call("f\(level - 1)", [value], [.tensor(type)])[0]
            }
            builder.output(value)
            functions.append(builder.function)
        }
        let program = Program(graphs: functions)
        #expect {
            try Lowering.lower(program, function: "main", host: ClaimingHost(), opLimit: 10_000)
        } throws: {
            "\($0)".contains("more than 10000 ops")
        }
    }

    @Test func splatsBeyondMemoryAreAnError() {
        var builder = FunctionBuilder()
        let huge = builder.constant([0], TensorType([1 << 20, 1 << 20], .int8), isSplat: true)
        builder.output(huge)
        let program = builder.program()
        #expect { try lower(program) } throws: { ($0 as? EngineError)?.isOutOfMemory == true }
    }

    @Test func aBodyThatDoesNotFitIsAnError() {
        var inner = FunctionBuilder("inner")
        inner.output(inner.input([2]))
        var builder = FunctionBuilder()
        let input = builder.input([2])
        builder.output(builder.call("inner", [input, input], [.tensor(type)])[0])
        let program = builder.program([inner.function])
        #expect { try lower(program) } throws: { "\($0)".contains("the body takes 1 values") }
    }

    // MARK: Named ops

    /// `relu` or an unknown op with a body that says `maximum(x, x)`.
    private func decomposed(_ kind: OpKind) -> Program {
        var body = FunctionBuilder("body")
        let x = body.input([2])
        body.output(body.op(.maximum, x, x))
        var builder = FunctionBuilder()
        let input = builder.input([2])
        let result = builder.value(.tensor(type))
        builder.append(
            Op(
                kind, operands: [input], results: [result], attributes: kind == .named ? .name("odd.op") : .none,
                bodies: [body.function], location: 7))
        builder.output(result)
        return builder.program()
    }

    @Test func anOpWithoutKernelRunsByItsBody() throws {
        let compiled = try lower(decomposed(.relu), host: ClaimingHost(kinds: [.maximum]))
        #expect(kinds(compiled) == [.maximum])
        #expect(compiled.graph.body.ops[0].location == 7)
        #expect(kinds(try lower(decomposed(.named))) == [.maximum])
    }

    @Test func anOpWithKernelDropsItsBody() throws {
        let compiled = try lower(decomposed(.relu))
        #expect(kinds(compiled) == [.relu])
        #expect(compiled.graph.body.ops[0].bodies.isEmpty)
    }

    @Test func anUnknownOpWithoutBodyIsAnError() {
        var builder = FunctionBuilder()
        let input = builder.input([2])
        builder.output(builder.op(.named, input, attributes: .name("odd.op")))
        let program = builder.program()
        #expect { try lower(program) } throws: { "\($0)".contains("odd.op") }
    }

    @Test func aMetalKernelIsAnErrorThatNamesIt() {
        var builder = FunctionBuilder()
        let input = builder.input([2])
        builder.output(builder.op(.metalKernel, input, attributes: .kernel(name: "blur", source: "")))
        let program = builder.program()
        #expect { try lower(program) } throws: { "\($0)".contains("'blur'") }
    }

    @Test func equalConstantsAreOneValue() throws {
        let constant = Constant(bytes: [0, 0, 128, 63, 0, 0, 0, 64])
        var builder = FunctionBuilder()
        let first = builder.op(.constant, [], type, .constant(constant))
        let second = builder.op(.constant, [], type, .constant(constant))
        let other = builder.op(.constant, [], TensorType([2], .int32), .constant(constant))
        builder.output(builder.op(.add, first, second), other)
        let compiled = try lower(builder.program())
        #expect(compiled.constants.count == 2)
        #expect(compiled.graph.body.ops[0].operands[0] == compiled.graph.body.ops[0].operands[1])
        #expect(compiled.constants[compiled.graph.body.results[1]]?.type.elementType == .int32)
    }

    // MARK: States and control flow

    @Test func statesAreReadAndStoredInOrder() throws {
        var builder = FunctionBuilder()
        let state = builder.state([2])
        let (value, token) = builder.read(state, after: builder.token())
        let after = builder.write(builder.op(.relu, value), to: state, after: token)
        builder.output(builder.read(state, after: after).value, after)
        let compiled = try lower(builder.program())
        #expect(kinds(compiled) == [.loadState, .relu, .storeState, .loadState])
        // The token is no result any more.
        #expect(compiled.graph.body.results.count == 1)
        #expect(compiled.graph.signature.resultNames == ["r0"])
        #expect(compiled.graph.body.ops[2].operands[0] == compiled.graph.body.arguments[0])
    }

    @Test func tokensLeaveControlFlow() throws {
        var builder = FunctionBuilder()
        let condition = builder.input([], .bool)
        let state = builder.state([2])
        let token = builder.token()
        let results = builder.branch(condition, [.token, .tensor(type)]) { builder in
            let (value, next) = builder.read(state, after: token)
            return [builder.write(builder.op(.abs, value), to: state, after: next), value]
        } else: { builder in
            let (value, next) = builder.read(state, after: token)
            return [next, value]
        }
        builder.output(results[1])
        let compiled = try lower(builder.program())
        let op = try #require(compiled.graph.body.ops.first { $0.kind == .if })
        #expect(op.results.count == 1)
        #expect(op.regions.map { $0.ops.map(\.kind) } == [[.loadState, .abs, .storeState], [.loadState]])
        #expect(op.regions.allSatisfy { $0.results.count == 1 })
    }

    private func loopOverStates(swapping: Bool) -> Program {
        var builder = FunctionBuilder()
        let condition = builder.input([], .bool)
        let (a, b) = (builder.state([2]), builder.state([2]))
        let handle = ValueType.handle(type)
        let results = builder.loop(
            [a, condition, b], [handle, .tensor(TensorType([], .bool)), handle],
            while: { _, values in values[1] },
            do: { builder, values in
                let value = builder.read(values[0], after: builder.token())
                _ = builder.write(value.value, to: values[2], after: value.token)
                return swapping ? [values[2], values[1], values[0]] : values
            })
        builder.output(builder.read(results[2], after: builder.token()).value)
        return builder.program()
    }

    @Test func aStateThroughALoopStaysTheArgument() throws {
        let compiled = try lower(loopOverStates(swapping: false))
        let (a, b) = (compiled.graph.body.arguments[1], compiled.graph.body.arguments[2])
        let loop = try #require(compiled.graph.body.ops.first { $0.kind == .while })
        #expect(loop.operands.count == 1 && loop.results.count == 1)
        #expect(loop.regions.allSatisfy { $0.arguments.count == 1 })
        #expect(loop.regions[1].ops.map { $0.operands[0] } == [a, b])
        #expect(compiled.graph.body.ops.last?.operands == [b])
    }

    @Test func aChoiceBetweenStatesIsAnError() {
        #expect { try lower(loopOverStates(swapping: true)) } throws: { ($0 as? EngineError)?.isUnsupported == true }
    }

    @Test func constraintsVanish() throws {
        var builder = FunctionBuilder()
        let input = builder.input([2])
        builder.output(builder.op(.copyDiscardingConstraints, builder.op(.copyWithConstraints, input)))
        let compiled = try lower(builder.program())
        #expect(compiled.graph.body.ops.isEmpty)
        #expect(compiled.graph.body.results == compiled.graph.body.arguments)
    }
}
