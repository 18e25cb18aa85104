import Testing

@testable import EngineGraph

@Suite("Verifier")
struct VerifierTests {
    private static let vector = ValueType.tensor(TensorType([4], .float32))
    private static let flag = ValueType.tensor(TensorType([], .bool))
    private static let scalar = ValueType.tensor(TensorType([], .float32))
    private static let axes = ValueType.tensor(TensorType([1], .int32))

    /// A graph whose values have `types`, with `arguments` first ones as arguments.
    private static func graph(
        _ name: String = "main", types: [ValueType], arguments: Int, ops: [Op], results: [Int], isPrivate: Bool = false
    ) -> Graph {
        Graph(
            name: name, types: types,
            body: Region(arguments: (0..<arguments).map { Value($0) }, ops: ops, results: results.map { Value($0) }),
            signature: Signature(
                argumentNames: (0..<arguments).map { "a\($0)" }, resultNames: results.indices.map { "r\($0)" },
                isPrivate: isPrivate))
    }

    private static func op(
        _ kind: OpKind, _ operands: [Int], _ results: [Int], _ attributes: OpAttributes = .none,
        regions: [Region] = [], bodies: [Graph] = []
    ) -> Op {
        Op(
            kind, operands: operands.map { Value($0) }, results: results.map { Value($0) }, attributes: attributes,
            regions: regions, bodies: bodies)
    }

    private static func region(_ arguments: [Int], _ ops: [Op], _ results: [Int]) -> Region {
        Region(arguments: arguments.map { Value($0) }, ops: ops, results: results.map { Value($0) })
    }

    private func expectFailure(
        _ graphs: [Graph], _ part: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        do throws(EngineError) {
            try Verifier.verify(Program(graphs: graphs))
            Issue.record("verified", sourceLocation: sourceLocation)
        } catch {
            guard case .invalidGraph = error else {
                Issue.record("error \(error)", sourceLocation: sourceLocation)
                return
            }
            #expect("\(error)".contains(part), sourceLocation: sourceLocation)
        }
    }

    private static let sum = graph(
        types: [vector, vector, vector], arguments: 2, ops: [op(.add, [0, 1], [2])], results: [2])

    @Test("a sum is fine")
    func accepts() throws { try Verifier.verify(Program(graphs: [Self.sum])) }

    @Test("values are defined once, before use, in range")
    func values() {
        var graph = Self.sum
        graph.body.ops = [Self.op(.add, [0, 1], [1])]
        expectFailure([graph], "defined twice")
        graph.body.ops = [Self.op(.add, [0, 2], [2])]
        expectFailure([graph], "used before")
        graph.body.ops = [Self.op(.add, [0, 3], [2])]
        expectFailure([graph], "out of range")
        graph.body.ops = [Self.op(.add, [0, -1], [2])]
        expectFailure([graph], "out of range")
        graph.body.ops = [Self.op(.add, [0, 1], [7])]
        expectFailure([graph], "out of range")
        graph.body.ops = []
        expectFailure([graph], "used before")
        graph.body.arguments = [Value(0), Value(0)]
        expectFailure([graph], "defined twice")
    }

    @Test("ops fit their rows and types")
    func rows() {
        var graph = Self.sum
        graph.body.ops = [Self.op(.add, [0], [2])]
        expectFailure([graph], "1 operands, expected 2")
        graph.body.ops = [Self.op(.add, [0, 1], [])]
        expectFailure([graph], "0 results, expected 1")
        graph.body.ops = [Self.op(.logicalAnd, [0, 1], [2])]
        expectFailure([graph], "expected a tensor of bool")
        graph.body.ops = [Self.op(.add, [0, 1], [2], regions: [Region()])]
        expectFailure([graph], "1 regions")
        graph.body.ops = [Self.op(.add, [0, 1], [2], bodies: [Graph()])]
        expectFailure([graph], "1 bodies")
        graph.body.ops = [Self.op(.invoke, [0, 1], [2])]
        expectFailure([graph], "no callee")
        graph = Self.sum
        graph.types[1] = .tensor(TensorType([4], .float16))
        expectFailure([graph], "element type f16, expected f32")
        // The same where shapes are dynamic.
        graph.types[0] = .tensor(TensorType([-1], .float32))
        expectFailure([graph], "element types f32 and f16")
        graph.types = [.tensor(TensorType([-1], .float32)), Self.vector, .tensor(TensorType([-1], .bool))]
        expectFailure([graph], "expected f32")
        graph.types[2] = .tensor(TensorType([-1, 4], .float32))
        expectFailure([graph], "expected rank 1")
        graph.types[2] = .tensor(TensorType(Array(repeating: 1, count: 9), .float32))
        expectFailure([graph], "rank 9")
        graph.types[2] = .tensor(TensorType([-2], .float32))
        expectFailure([graph], "a value has the type")
        graph = Self.sum
        graph.body.ops[0].location = 0
        expectFailure([graph], "location 0 is out of range")
    }

    // MARK: Control flow

    private static func conditional(_ types: [ValueType], then: Region, otherwise: Region) -> Graph {
        graph(types: types, arguments: 2, ops: [op(.if, [1], [2], regions: [then, otherwise])], results: [2])
    }

    @Test("the regions of an if")
    func conditionals() throws {
        let types = [Self.vector, Self.flag, Self.vector, Self.vector, Self.vector]
        let negate = Self.region([], [Self.op(.abs, [0], [3])], [3])
        let root = Self.region([], [Self.op(.sqrt, [0], [4])], [4])
        try Verifier.verify(Self.conditional(types, then: negate, otherwise: root))
        expectFailure(
            [Self.conditional(types, then: negate, otherwise: Self.region([], [], [3]))], "outside the region")
        expectFailure([Self.conditional(types, then: negate, otherwise: Self.region([], [], []))], "a region yields ()")
        expectFailure([Self.conditional(types, then: negate, otherwise: Self.region([], [], [1]))], "a region yields")
        expectFailure([Self.conditional(types, then: negate, otherwise: Self.region([4], [], [4]))], "has arguments")
        expectFailure([Self.conditional(types, then: negate, otherwise: negate)], "defined twice")
        // The regions come before the result.
        expectFailure([Self.conditional(types, then: negate, otherwise: Self.region([], [], [2]))], "used before")
        var graph = Self.conditional(types, then: negate, otherwise: root)
        graph.types[1] = .tensor(TensorType([1], .bool))
        expectFailure([graph], "'condition'")
        graph = Self.conditional(types, then: negate, otherwise: root)
        graph.body.ops[0].regions.removeLast()
        expectFailure([graph], "no second region")
        graph.body.ops[0].regions = []
        expectFailure([graph], "0 regions")
    }

    @Test("the regions of a while")
    func loops() throws {
        let types = [Self.vector, Self.flag, Self.vector, Self.vector, Self.vector, Self.vector]
        func loop(_ before: Region, _ after: Region) -> Graph {
            Self.graph(
                types: types, arguments: 2, ops: [Self.op(.while, [0], [2], regions: [before, after])], results: [2])
        }
        let before = Self.region([3], [], [1, 3])
        let after = Self.region([4], [Self.op(.abs, [4], [5])], [5])
        try Verifier.verify(loop(before, after))
        expectFailure([loop(Self.region([3], [], [3]), after)], "doesn't end with a condition")
        expectFailure([loop(Self.region([3], [], []), after)], "doesn't end with a condition")
        expectFailure([loop(Self.region([], [], [1, 0]), after)], "it starts with")
        expectFailure([loop(Self.region([3], [], [1]), after)], "the first region passes ()")
        expectFailure([loop(before, Self.region([4], [], []))], "the second region yields ()")
        expectFailure([loop(before, Self.region([4], [], [1]))], "the second region yields")
    }

    @Test("bodies")
    func bodies() throws {
        func combiner(_ types: [ValueType], _ kind: OpKind = .add) -> Graph {
            Graph(types: types, body: Self.region([0, 1], [Self.op(kind, [0, 1], [2])], [2]))
        }
        func reduction(_ body: Graph) -> Graph {
            Self.graph(
                types: [Self.vector, Self.axes, Self.scalar, .tensor(TensorType([1], .float32))], arguments: 3,
                ops: [Self.op(.reduce, [0, 1, 2], [3], bodies: [body])], results: [3])
        }
        try Verifier.verify(reduction(combiner([Self.scalar, Self.scalar, Self.scalar])))
        expectFailure([reduction(combiner([Self.vector, Self.vector, Self.vector]))], "the body takes")
        expectFailure([reduction(combiner([Self.scalar, Self.scalar, Self.flag], .greater))], "the body yields")
        expectFailure([reduction(Graph())], "the body takes ()")
        // A body sees nothing outside.
        let leaking = Graph(types: [Self.scalar, Self.scalar], body: Self.region([0, 1], [], [2]))
        expectFailure([reduction(leaking)], "out of range")

        func activation(_ body: Graph) -> Graph {
            Self.graph(
                types: [Self.vector, Self.vector], arguments: 1, ops: [Self.op(.relu, [0], [1], bodies: [body])],
                results: [1])
        }
        let identity = Graph(types: [Self.vector], body: Self.region([0], [], [0]))
        try Verifier.verify(activation(identity))
        expectFailure([activation(Graph())], "the body takes 0 and yields 0 values, the op 1 and 1")
        // A decomposition's types don't matter: the op has a kernel of its own.
        try Verifier.verify(activation(Graph(types: [Self.scalar], body: Self.region([0], [], [0]))))
    }

    // MARK: Calls

    private static func caller(_ name: String, _ callees: [String], isPrivate: Bool = true) -> Graph {
        let ops = callees.enumerated().map { op(.invoke, [$0.offset], [$0.offset + 1], .callee($0.element)) }
        return graph(
            name, types: Array(repeating: vector, count: callees.count + 1), arguments: 1, ops: ops,
            results: [callees.count], isPrivate: isPrivate)
    }

    @Test("calls")
    func calls() throws {
        try Verifier.verify(Program(graphs: [Self.caller("main", ["f", "f"]), Self.caller("f", [])]))
        expectFailure([Self.caller("main", ["g"])], "there is no graph 'g'")
        expectFailure([Self.caller("main", ["main"])], "calls itself")
        expectFailure([Self.caller("main", ["f"]), Self.caller("f", ["g"]), Self.caller("g", ["f"])], "calls itself")
        expectFailure([Self.caller("f", []), Self.caller("f", [])], "two graphs of this name")
        let other = Self.graph("f", types: [Self.scalar], arguments: 1, ops: [], results: [0])
        expectFailure([Self.caller("main", ["f"]), other], "it passes")
        let damaged = Self.graph("f", types: [Self.vector], arguments: 1, ops: [], results: [9])
        expectFailure([Self.caller("main", ["f"]), damaged], "damaged")
    }

    @Test("calls are bounded in depth and in what they expand to")
    func expansion() throws {
        func chain(_ length: Int, _ width: Int) -> [Graph] {
            (0..<length).map { index in
                let callees = index + 1 < length ? Array(repeating: "f\(index + 1)", count: width) : []
                return Self.caller("f\(index)", callees)
            }
        }
        try Verifier.verify(Program(graphs: chain(100, 1)))
        expectFailure(chain(200, 1), "deep")
        try Verifier.verify(Program(graphs: chain(10, 2)))
        expectFailure(chain(40, 2), "expand to more than")
    }

    @Test("nesting is bounded")
    func nesting() {
        var body = Graph(types: [Self.vector], body: Self.region([0], [], [0]))
        for _ in 0..<100 {
            body = Graph(
                types: [Self.vector, Self.vector],
                body: Self.region([0], [Self.op(.relu, [0], [1], bodies: [body])], [1]))
        }
        body.name = "main"
        body.signature.isPrivate = true
        expectFailure([body], "nested more than")
    }

    // MARK: Names and states

    @Test("names")
    func names() {
        var graph = Self.sum
        graph.signature.argumentNames = ["x"]
        expectFailure([graph], "1 argument names for 2 arguments")
        graph.signature.argumentNames = ["x", "x"]
        expectFailure([graph], "two arguments called 'x'")
        graph = Self.sum
        graph.signature.resultNames = []
        expectFailure([graph], "0 result names for 1 results")
    }

    private static func stateful() -> Graph {
        let state = TensorType([4], .float32)
        return graph(
            types: [.handle(state), .handle(state), .token, .tensor(state), .token, .token], arguments: 2,
            ops: [
                op(.createToken, [], [2]), op(.readHandle, [0, 2], [3, 4]), op(.writeHandle, [0, 3, 4], [5]),
            ], results: [5])
    }

    @Test("states and tokens")
    func states() throws {
        var graph = Self.stateful()
        graph.signature.resultNames = ["a0"]
        try Verifier.verify(graph)
        graph.signature.resultNames = ["y"]
        expectFailure([graph], "the token 'y' belongs to no state")
        graph = Self.stateful()
        graph.body.ops[2] = Self.op(.writeHandle, [1, 3, 4], [5])
        expectFailure([graph], "another state")
        graph = Self.stateful()
        graph.body.ops[2] = Self.op(.writeHandle, [0, 3, 3], [5])
        expectFailure([graph], "'in_token'")
        graph = Self.stateful()
        graph.types[3] = .tensor(TensorType([5], .float32))
        expectFailure([graph], "declared as")
    }
}
