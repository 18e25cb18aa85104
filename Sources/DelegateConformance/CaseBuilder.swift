package import EngineDelegation
package import EngineGraph

/// Builds a case's part op by op. The first thing that goes wrong is kept and ends the case.
package struct CaseBuilder {
    package private(set) var part = Subgraph(name: "case")
    package private(set) var inputs: [Elements] = []
    package private(set) var states: [Elements] = []
    package private(set) var failure: EngineError?

    package init() {}

    // MARK: Values

    private mutating func define(_ type: TensorType) -> Value {
        part.types.append(type)
        return Value(part.types.count - 1)
    }

    package mutating func input(_ elements: Elements) -> Value {
        let value = define(elements.type)
        part.inputs.append(value)
        inputs.append(elements)
        return value
    }

    package mutating func state(_ elements: Elements) -> Value {
        let value = define(elements.type)
        part.states.append(value)
        states.append(elements)
        return value
    }

    package mutating func constant(_ elements: Elements) -> Value {
        let value = define(elements.type)
        do throws(EngineError) { part.constants[value] = try elements.tensor() } catch { fail(error) }
        return value
    }

    /// A vector that the host knows.
    package mutating func vector(_ integers: [Int], _ type: ElementType = .int32) -> Value {
        constant(Elements([integers.count], type, integers))
    }

    /// A single element that the host knows.
    package mutating func scalar(_ integer: Int, _ type: ElementType = .int32) -> Value {
        constant(Elements([], type, [integer]))
    }

    package mutating func output(_ values: Value...) { part.outputs += values }

    // MARK: Ops

    /// Adds an op with one result of this type, and checks the type against the op's rule.
    package mutating func op(
        _ kind: OpKind, _ operands: [Value], _ shape: [Int], _ type: ElementType,
        _ attributes: OpAttributes = .none, bodies: [Graph] = []
    ) -> Value {
        ops(kind, operands, [TensorType(shape, type)], attributes, bodies: bodies)[0]
    }

    package mutating func ops(
        _ kind: OpKind, _ operands: [Value], _ types: [TensorType], _ attributes: OpAttributes = .none,
        bodies: [Graph] = []
    ) -> [Value] {
        let results = types.map { define($0) }
        let op = Op(kind, operands: operands, results: results, attributes: attributes, bodies: bodies)
        part.ops.append(op)
        let constants = operands.map { part.constants[$0] }
        let query = ShapeQuery(
            op: op,
            operands: operands.map {
                part.states.contains($0) ? .handle(part[type: $0]) : .tensor(part[type: $0])
            }, declared: types.map { .tensor($0) }, integers: { constants[$0]?.integers() },
            numbers: { constants[$0]?.numbers() })
        do throws(EngineError) { _ = try inferTypes(query) } catch { fail(error) }
        return results
    }

    private mutating func fail(_ error: EngineError) {
        if failure == nil { failure = error }
    }
}

/// A body of one op on rank-0 values of `type`, as reductions and scatters carry: (x, y) → op(x, y).
func combinerBody(_ kind: OpKind, _ type: ElementType, result: ElementType? = nil, swapped: Bool = false) -> Graph {
    var graph = Graph()
    let scalar = TensorType([], type)
    let (x, y) = (graph.makeValue(.tensor(scalar)), graph.makeValue(.tensor(scalar)))
    let answer = graph.makeValue(.tensor(TensorType([], result ?? type)))
    graph.body = Region(
        arguments: [x, y], ops: [Op(kind, operands: swapped ? [y, x] : [x, y], results: [answer])], results: [answer])
    return graph
}

/// A body that gives its second argument.
func replacementBody(_ type: ElementType) -> Graph {
    var graph = Graph()
    let (x, y) = (graph.makeValue(.tensor(TensorType([], type))), graph.makeValue(.tensor(TensorType([], type))))
    graph.body = Region(arguments: [x, y], results: [y])
    return graph
}
