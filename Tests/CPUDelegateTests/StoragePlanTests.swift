import CPUDelegate
import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

/// What shares memory, and what is computed in place, must never show in results.
@Suite struct StoragePlanTests {
    private let cpu = CPUDelegate()

    /// Runs `part` three times on the same states, planned and naively.
    private func compare(
        _ part: Subgraph, _ inputs: [HostTensor], _ states: [HostTensor], _ label: String
    ) throws {
        let executable = try cpu.load(part)
        let (planned, naive) = (try states.map { try $0.copied() }, try states.map { try $0.copied() })
        for round in 0..<3 {
            let outputs = try part.outputs.map { try HostTensor(allocating: part[type: $0]) }
            let before = inputs.map(\.bytes)
            try executable.run(
                ExecutionArguments(
                    inputs: inputs.map { UnsafeRawPointer($0.pointer) }, states: planned.map(\.pointer),
                    outputs: outputs.map(\.pointer)))
            let expected = try NaiveExecutor.run(part, inputs, states: naive, on: cpu)
            #expect(outputs.map(\.bytes) == expected.map(\.bytes), "outputs of \(label), round \(round)")
            #expect(planned.map(\.bytes) == naive.map(\.bytes), "states of \(label), round \(round)")
            #expect(inputs.map(\.bytes) == before, "inputs of \(label) were written")
        }
    }

    @Test func randomGraphsGiveWhatSeparateMemoryGives() throws {
        for seed in 0..<700 {
            var random = try RandomPart(seed: seed)
            let (inputs, states) = try random.arguments()
            try compare(random.part, inputs, states, "seed \(seed)")
        }
    }

    // MARK: Cases by hand

    /// Numbers a part's values as they come.
    private struct Builder {
        var part = Subgraph(name: "part")
        let type = TensorType([8], .float32)

        mutating func value() -> Value {
            part.types.append(type)
            return Value(part.types.count - 1)
        }

        mutating func state() -> Value {
            part.states.append(value())
            return part.states[part.states.count - 1]
        }

        mutating func op(_ kind: OpKind, _ operands: Value..., attributes: OpAttributes = .none) -> Value {
            let result = value()
            part.ops.append(Op(kind, operands: operands, results: [result], attributes: attributes))
            return result
        }

        mutating func store(_ state: Value, _ value: Value) {
            part.ops.append(Op(.storeState, operands: [state, value]))
        }

        mutating func integers(_ values: [Int32]) throws -> Value {
            let tensor = try HostTensor(values, [values.count])
            part.types.append(tensor.type)
            let value = Value(part.types.count - 1)
            part.constants[value] = tensor
            return value
        }

        /// `target` with its elements from `start` on replaced by the first of `source`.
        mutating func update(_ target: Value, at start: Int32, with source: Value) throws -> Value {
            let one = try integers([1])
            part.types.append(TensorType([2], .float32))
            let rows = Value(part.types.count - 1)
            part.ops.append(
                Op(.slice, operands: [source, try integers([0]), try integers([2]), one], results: [rows]))
            return op(.sliceUpdate, target, try integers([start]), try integers([start + 2]), one, rows)
        }
    }

    private func check(_ builder: Builder, _ label: String) throws {
        var dice = Dice(7)
        func tensors(_ values: [Value]) throws -> [HostTensor] {
            try values.map { _ in try HostTensor(dice.floats(8), [8]) }
        }
        let inputs = try tensors(builder.part.inputs)
        try compare(builder.part, inputs, try tensors(builder.part.states), label)
    }

    @Test func oldValueOfAReplacedStateIsStillRead() throws {
        var builder = Builder()
        let input = builder.value()
        builder.part.inputs = [input]
        let state = builder.state()
        let old = builder.op(.loadState, state)
        builder.store(state, input)
        let new = builder.op(.loadState, state)
        builder.part.outputs = [builder.op(.sub, old, new)]
        try check(builder, "load, store, load, read both")
    }

    @Test func twoStatesSwap() throws {
        var builder = Builder()
        let (a, b) = (builder.state(), builder.state())
        let (x, y) = (builder.op(.loadState, a), builder.op(.loadState, b))
        builder.store(a, y)
        builder.store(b, x)
        try check(builder, "swap")
    }

    @Test func updateInPlaceKeepsWhatOthersRead() throws {
        var builder = Builder()
        let input = builder.value()
        builder.part.inputs = [input]
        let state = builder.state()
        let early = builder.op(.loadState, state)
        let updated = try builder.update(builder.op(.loadState, state), at: 2, with: input)
        builder.store(state, updated)
        let again = try builder.update(builder.op(.loadState, state), at: 5, with: input)
        builder.store(state, again)
        builder.part.outputs = [builder.op(.add, early, updated), builder.op(.sub, again, updated)]
        try check(builder, "updates after a load that is read late")
    }

    /// The old value, from a load of its own, is read between the update and the store.
    @Test func updateBeforeItIsStored() throws {
        for sharesLoad in [false, true] {
            var builder = Builder()
            let input = builder.value()
            builder.part.inputs = [input]
            let state = builder.state()
            let old = builder.op(.loadState, state)
            let source = sharesLoad ? old : builder.op(.loadState, state)
            let updated = try builder.update(source, at: 1, with: input)
            let read = builder.op(.abs, old)
            builder.store(state, updated)
            builder.part.outputs = [builder.op(.sub, read, updated)]
            try check(builder, "old value between update and store, one load: \(sharesLoad)")
        }
    }

    @Test func updateOfAStateByItself() throws {
        var builder = Builder()
        let state = builder.state()
        let value = builder.op(.loadState, state)
        builder.store(state, try builder.update(value, at: 4, with: value))
        try check(builder, "update by itself")
    }

    @Test func normWhoseGammaIsItsInput() throws {
        var builder = Builder()
        let input = builder.value()
        builder.part.inputs = [input]
        var norm = NormAttributes(axisCount: 1, epsilon: 1e-3)
        norm.hasGamma = true
        norm.hasBeta = true
        let value = builder.op(.relu, input)
        let view = builder.op(.copy, value)
        builder.part.outputs = [builder.op(.rmsNorm, value, view, value, attributes: .norm(norm))]
        // A reader after it: the norm's own result must be in the workspace too.
        let inner = builder.op(.rmsNorm, view, view, view, attributes: .norm(norm))
        builder.part.outputs.append(builder.op(.abs, inner))
        try check(builder, "gamma is the input")
    }

    @Test func updateInStateMemoryNeedsNoWorkspace() throws {
        var builder = Builder()
        let state = builder.state()
        let value = builder.op(.loadState, state)
        let one = try builder.integers([1])
        builder.part.types.append(TensorType([2], .float32))
        let rows = Value(builder.part.types.count - 1)
        builder.part.inputs = [rows]
        let updated = builder.op(
            .sliceUpdate, value, try builder.integers([3]), try builder.integers([5]), one, rows)
        builder.store(state, updated)
        #expect(try cpu.load(builder.part).workspaceByteCount == 0)
    }

    @Test func chainOfElementwiseOpsStaysInOnePlace() throws {
        var builder = Builder()
        let input = builder.value()
        builder.part.inputs = [input]
        var value = input
        for _ in 0..<6 { value = builder.op(.relu, value) }
        builder.part.outputs = [builder.op(.abs, value)]
        #expect(try cpu.load(builder.part).workspaceByteCount == 64)
        try check(builder, "chain")
    }

    @Test func sizesBeyondAddressSpaceAreAnError() throws {
        var part = Subgraph(name: "huge")
        for _ in 0..<4 { part.types.append(TensorType([1 << 31, 1 << 31], .int8)) }
        part.inputs = [Value(0)]
        part.ops = (1..<4).map { Op(.abs, operands: [Value($0 - 1)], results: [Value($0)]) }
        part.outputs = [Value(3)]
        #expect(throws: EngineError.self) { try cpu.load(part) }
    }

    @Test func emptyResultsWithHugeOtherExtents() throws {
        let type = TensorType([1 << 40, 1 << 40, 0], .float32)
        let part = Subgraph(
            name: "empty", types: [type, type, type],
            ops: [
                Op(.broadcastingAdd, operands: [Value(0), Value(0)], results: [Value(1)]),
                Op(.relu, operands: [Value(1)], results: [Value(2)]),
            ], inputs: [Value(0)], outputs: [Value(2)])
        let empty = try HostTensor(allocating: type)
        try cpu.load(part).run(
            ExecutionArguments(inputs: [UnsafeRawPointer(empty.pointer)], outputs: [empty.pointer]))
    }
}
