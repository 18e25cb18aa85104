package import EngineGraph

/// Builds a function op by op. Ops go to the innermost open region.
package struct FunctionBuilder {
    package private(set) var graph: Graph
    private var open: [[Op]] = [[]]

    package init(_ name: String = "main") { graph = Graph(name: name) }

    /// The function as it stands.
    package var function: Graph {
        var graph = graph
        graph.body.ops = open[0]
        return graph
    }

    /// A program of this function and `others`.
    package func program(_ others: [Graph] = []) -> Program { Program(graphs: [function] + others) }

    // MARK: Arguments and results

    package mutating func argument(_ type: ValueType) -> Value {
        let value = graph.makeValue(type)
        graph.body.arguments.append(value)
        graph.signature.argumentNames.append("a\(graph.body.arguments.count - 1)")
        return value
    }

    package mutating func input(_ shape: [Int], _ type: ElementType = .float32) -> Value {
        argument(.tensor(TensorType(shape, type)))
    }

    package mutating func state(_ shape: [Int], _ type: ElementType = .float32) -> Value {
        argument(.handle(TensorType(shape, type)))
    }

    package mutating func output(_ values: Value...) {
        for value in values {
            graph.body.results.append(value)
            graph.signature.resultNames.append("r\(graph.body.results.count - 1)")
        }
    }

    // MARK: Constants

    package mutating func constant(_ bytes: [UInt8], _ type: TensorType, isSplat: Bool = false) -> Value {
        let constant = Constant(bytes: bytes, isSplat: isSplat)
        return op(.constant, [], type, .constant(constant))
    }

    package mutating func floats(_ values: [Float], _ shape: [Int]) -> Value {
        constant(values.withUnsafeBytes { Array($0) }, TensorType(shape, .float32))
    }

    package mutating func float(_ value: Float) -> Value { floats([value], []) }

    /// A vector of `si32`.
    package mutating func integers(_ values: [Int]) -> Value {
        constant(values.map(Int32.init).withUnsafeBytes { Array($0) }, TensorType([values.count], .int32))
    }

    package mutating func integer(_ value: Int) -> Value {
        constant([Int32(value)].withUnsafeBytes { Array($0) }, TensorType([], .int32))
    }

    // MARK: Ops

    package mutating func op(
        _ kind: OpKind, _ operands: [Value], _ type: TensorType, _ attributes: OpAttributes = .none
    ) -> Value {
        let result = graph.makeValue(.tensor(type))
        append(Op(kind, operands: operands, results: [result], attributes: attributes))
        return result
    }

    /// An op whose result has the type of its first operand, or this shape.
    package mutating func op(
        _ kind: OpKind, _ operands: Value..., shape: [Int]? = nil, type: ElementType? = nil,
        attributes: OpAttributes = .none
    ) -> Value {
        var result = TensorType([], .float32)
        if let first = operands.first, case .tensor(let own) = graph[type: first] { result = own }
        return op(
            kind, operands, TensorType(shape ?? result.shape, type ?? result.elementType), attributes)
    }

    package mutating func append(_ op: Op) { open[open.count - 1].append(op) }

    /// A value of `type` that no op defines yet.
    package mutating func value(_ type: ValueType) -> Value { graph.makeValue(type) }

    // MARK: States, in the spelling of the disk

    package mutating func token() -> Value {
        let token = value(.token)
        append(Op(.createToken, results: [token]))
        return token
    }

    package mutating func read(_ state: Value, after token: Value) -> (value: Value, token: Value) {
        guard case .handle(let type) = graph[type: state] else { fatalError("not a state") }
        let (result, next) = (value(.tensor(type)), value(.token))
        append(Op(.readHandle, operands: [state, token], results: [result, next]))
        return (result, next)
    }

    package mutating func write(_ data: Value, to state: Value, after token: Value) -> Value {
        let next = value(.token)
        append(Op(.writeHandle, operands: [state, data, token], results: [next]))
        return next
    }

    // MARK: Control flow

    private mutating func region(
        _ arguments: [Value] = [], _ body: (inout FunctionBuilder) -> [Value]
    ) -> Region {
        open.append([])
        let results = body(&self)
        return Region(arguments: arguments, ops: open.removeLast(), results: results)
    }

    /// An `if` with results of these types.
    package mutating func branch(
        _ condition: Value, _ types: [ValueType], then: (inout FunctionBuilder) -> [Value],
        else otherwise: (inout FunctionBuilder) -> [Value]
    ) -> [Value] {
        let regions = [region([], then), region([], otherwise)]
        let results = types.map { value($0) }
        append(Op(.if, operands: [condition], results: results, regions: regions))
        return results
    }

    /// A `while` whose carried values have `types`; `test` gives the condition.
    package mutating func loop(
        _ initial: [Value], _ types: [ValueType], while test: (inout FunctionBuilder, [Value]) -> Value,
        do body: (inout FunctionBuilder, [Value]) -> [Value]
    ) -> [Value] {
        let (before, after) = (types.map { value($0) }, types.map { value($0) })
        let regions = [
            region(before) { builder in [test(&builder, before)] + before }, region(after) { body(&$0, after) },
        ]
        let results = types.map { value($0) }
        append(Op(.while, operands: initial, results: results, regions: regions))
        return results
    }
}

extension FunctionBuilder {
    /// Calls a function of the program.
    package mutating func call(_ name: String, _ operands: [Value], _ types: [ValueType]) -> [Value] {
        let results = types.map { value($0) }
        append(Op(.invoke, operands: operands, results: results, attributes: .callee(name)))
        return results
    }
}
