import CPUDelegate
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

@Suite struct RegionBindingTests {
    private let cpu = CPUDelegate()
    private let dynamic = TensorType.dynamic

    private func compile(_ builder: FunctionBuilder, planLimit: Int = 16) throws -> CompiledFunction {
        try Compiler.compile(builder.program(), function: "main", host: cpu, delegate: cpu, planLimit: planLimit)
    }

    private func types(_ shapes: [Int]...) -> [ValueType] { shapes.map { .tensor(TensorType($0, .float32)) } }

    @Test func aStaticFunctionIsOneSegment() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([4]), builder.input([4]))
        let sum = builder.op(.add, a, b)
        builder.output(builder.op(.exp, sum))
        let segment = try compile(builder).makeBinding().segment(for: types([4], [4]))
        guard case .finished = segment.end else { Issue.record("\(segment.end)"); return }
        #expect(segment.parts.count == 1)
        #expect(segment.inputs.count == 2 && segment.states.isEmpty && segment.known.isEmpty)
        // The sum is nobody's business.
        #expect(segment.outputs.map(\.type) == [TensorType([4], .float32)])
    }

    @Test func plansAreKeptByShape() throws {
        var builder = FunctionBuilder()
        builder.output(builder.op(.relu, builder.input([dynamic, 2])))
        let binding = try compile(builder, planLimit: 2).makeBinding()
        let first = try binding.segment(for: types([3, 2]))
        #expect(first.outputs[0].type.shape == [3, 2])
        #expect(try binding.segment(for: types([3, 2])) === first)
        let second = try binding.segment(for: types([5, 2]))
        #expect(second !== first && second.outputs[0].type.shape == [5, 2])
        _ = try binding.segment(for: types([7, 2]))
        // The first was used longest ago.
        #expect(try binding.segment(for: types([3, 2])) !== first)
    }

    @Test func shapeArithmeticIsNoWorkForARun() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([dynamic, 2]), builder.input([2, dynamic]))
        let shape = builder.op(.getShape, b, shape: [2], type: .uint32)
        let result = builder.op(.reshape, builder.op(.relu, a), shape, shape: [2, dynamic])
        builder.output(result, shape)
        let segment = try compile(builder).makeBinding().segment(for: types([6, 2], [2, 6]))
        #expect(segment.outputs.map(\.type.shape) == [[2, 6]])
        // The shape is a result too: known without a run. Its source is not read.
        #expect(segment.known.count == 1)
        #expect(segment.known[0].tensor.integers() == [2, 6])
        #expect(segment.inputs.count == 1)
    }

    @Test func aFunctionOfShapesAloneHasNothingToRun() throws {
        var builder = FunctionBuilder()
        builder.output(builder.op(.getShape, builder.input([dynamic]), shape: [1], type: .uint32))
        let segment = try compile(builder).makeBinding().segment(for: types([9]))
        #expect(segment.parts.isEmpty)
        #expect(segment.known.map { $0.tensor.integers() } == [[9]])
    }

    @Test func contentsThatDecideShapesEndASegment() throws {
        var builder = FunctionBuilder()
        let (a, shape) = (builder.input([6]), builder.input([2], .int32))
        let doubled = builder.op(.add, shape, builder.integers([0, 0]))
        let result = builder.op(.reshape, builder.op(.relu, a), doubled, shape: [dynamic, dynamic])
        builder.output(result)
        let binding = try compile(builder).makeBinding()
        let first = try binding.segment(
            for: [.tensor(TensorType([6], .float32)), .tensor(TensorType([2], .int32))])
        guard case .contents(let values) = first.end else { Issue.record("\(first.end)"); return }
        #expect(values.count == 1)
        // What the rest reads goes out: the shape, and the tensor that takes it.
        #expect(Set(first.outputs.map(\.type.shape)) == [[6], [2]])
        func rest(_ shape: [Int32]) throws -> Segment {
            try binding.segment(after: first, contents: [(values[0], try HostTensor(shape, [2]))])
        }
        let (wide, tall) = (try rest([2, 3]), try rest([3, 2]))
        #expect(wide.outputs[0].type.shape == [2, 3] && tall.outputs[0].type.shape == [3, 2])
        #expect(try rest([2, 3]) === wide)
        #expect(throws: EngineError.self) { try rest([4, 4]) }
    }

    @Test func contentsTooLargeForAShapeAreAnError() throws {
        var builder = FunctionBuilder()
        let (a, shape) = (builder.input([6]), builder.input([dynamic], .int32))
        builder.output(builder.op(.broadcastTo, a, builder.op(.abs, shape), shape: [dynamic, dynamic]))
        let binding = try compile(builder).makeBinding()
        let length = 5000
        let first = try binding.segment(
            for: [.tensor(TensorType([6], .float32)), .tensor(TensorType([length], .int32))])
        guard case .contents(let values) = first.end else { Issue.record("\(first.end)"); return }
        let tensor = try HostTensor([Int32](repeating: 1, count: length), [length])
        #expect {
            try binding.segment(after: first, contents: [(values[0], tensor)])
        } throws: {
            ($0 as? EngineError)?.isUnsupported == true
        }
    }

    @Test func controlFlowEndsASegmentAndBindsItsRegions() throws {
        var builder = FunctionBuilder()
        let (condition, a) = (builder.input([], .bool), builder.input([dynamic]))
        let captured = builder.op(.relu, a)
        let type = ValueType.tensor(TensorType([dynamic], .float32))
        let result = builder.branch(condition, [type]) {
            [$0.op(.exp, captured)]
        } else: {
            [$0.op(.abs, captured)]
        }[0]
        builder.output(builder.op(.add, result, captured))
        let binding = try compile(builder).makeBinding()
        let first = try binding.segment(
            for: [.tensor(TensorType([], .bool)), .tensor(TensorType([5], .float32))])
        guard case .control(let op, let bodies) = first.end else { Issue.record("\(first.end)"); return }
        #expect(first.outputs.count == 1 && bodies.count == 2)
        let branch = try bodies[0].segment(for: [])
        #expect(branch.inputs.count == 1 && branch.outputs[0].type.shape == [5])
        let tensor = try HostTensor([Float](repeating: 0, count: 5), [5])
        let rest = try binding.segment(after: first, results: [tensor], of: op)
        #expect(rest.inputs.count == 2 && rest.outputs[0].type.shape == [5])
    }

    @Test func dynamicResultsEndASegment() throws {
        var builder = FunctionBuilder()
        let input = builder.input([4])
        let positions = builder.op(.nonZero, builder.op(.relu, input), shape: [dynamic, 1], type: .int32)
        builder.output(builder.op(.add, positions, positions))
        let binding = try compile(builder).makeBinding()
        let first = try binding.segment(for: types([4]))
        guard case .dynamic(let op) = first.end else { Issue.record("\(first.end)"); return }
        let rest = try binding.segment(after: first, results: [try HostTensor([Int32(2), 3], [2, 1])], of: op)
        #expect(rest.outputs[0].type.shape == [2, 1])
    }

    @Test func statesAreNamedInOrder() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.state([2]), builder.state([2]))
        let (value, token) = builder.read(b, after: builder.token())
        _ = builder.write(value, to: a, after: token)
        let compiled = try compile(builder)
        let handle = ValueType.handle(TensorType([2], .float32))
        let segment = try compiled.makeBinding().segment(for: [handle, handle])
        let arguments = compiled.compiled.graph.body.arguments
        #expect(segment.states == [arguments[1], arguments[0]])
        #expect(segment.inputs.isEmpty && segment.outputs.isEmpty && segment.parts.count == 1)
    }

    @Test func aStateTakesNothingOfAnotherSize() throws {
        var builder = FunctionBuilder()
        let state = builder.state([2])
        let input = builder.input([dynamic])
        _ = builder.write(input, to: state, after: builder.token())
        let binding = try compile(builder).makeBinding()
        let handle = ValueType.handle(TensorType([2], .float32))
        #expect(throws: Never.self) { try binding.segment(for: [handle, .tensor(TensorType([2], .float32))]) }
        #expect(throws: EngineError.self) { try binding.segment(for: [handle, .tensor(TensorType([3], .float32))]) }
    }

    /// A unit whose kernel does not take a fused op after all: the part runs as it was.
    @Test func fusedOpsThatAreDeclinedAreUndone() throws {
        var builder = FunctionBuilder()
        let (a, b) = (builder.input([2, 2]), builder.input([2, 2]))
        builder.output(builder.op(.relu, builder.op(.broadcastingBatchMatmul, a, b)))
        let picky = PickyDelegate(cpu: cpu, refuses: .matmul)
        let function = try Compiler.compile(builder.program(), function: "main", host: cpu, delegate: picky)
        #expect(try function.makeBinding().segment(for: types([2, 2], [2, 2])).parts.count == 1)
    }

    private struct PickyDelegate: Delegate {
        let cpu: CPUDelegate
        let refuses: OpKind
        var id: DelegateID { DelegateID("picky") }

        var profile: UnitProfile { cpu.profile }

        func support(for pattern: Op, in part: Subgraph) -> Support { cpu.support(for: pattern, in: part) }

        func compile(_ part: Subgraph) throws(EngineError) -> CompiledPart { CompiledPart(part: part) }

        func makeBuffer(byteCount: Int) throws(EngineError) -> any Buffer { try cpu.makeBuffer(byteCount: byteCount) }

        func makeQueue() throws(EngineError) -> any CommandQueue { try cpu.makeQueue() }

        func load(_ compiled: CompiledPart) throws(EngineError) -> any Executable {
            let part = compiled.part
            if part.ops.contains(where: { $0.kind == refuses }) {
                throw .unsupportedOp(op: refuses.rawValue, reason: "not here")
            }
            return try cpu.load(part)
        }
    }
}
