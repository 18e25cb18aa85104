import EngineAsset
import EngineGraph
import Testing

@Suite("Verifying what was read")
struct VerifyingTests {
    @Test("every fixture verifies and prints", arguments: Fixtures.names)
    func verifies(name: String) throws {
        let program = try AssetReader.readProgram(at: Fixtures.path(name))
        try Verifier.verify(program)
        let text = Printer(showsDecompositions: true, showsLocations: true).print(program)
        #expect(text.hasPrefix("program"))
        for graph in program.functions { #expect(text.contains("graph @\(graph.name)(")) }
    }

    @Test("every op of a fixture has the types it declares", arguments: Fixtures.names)
    func infers(name: String) throws {
        let program = try AssetReader.readProgram(at: Fixtures.path(name))
        for graph in program.graphs { try infer(graph.body, graph) }
    }

    /// Runs the shape rules over a region, with the contents of its constants.
    private func infer(_ region: Region, _ graph: Graph) throws {
        var known: [Value: ConstantReader] = [:]
        for op in region.ops {
            if case .constant(let constant) = op.attributes, let result = op.results.first {
                known[result] = try ConstantReader(constant, as: #require(graph[type: result].tensor))
            }
            let operands = op.operands.map { graph[type: $0] }
            guard operands.allSatisfy({ $0.tensor?.isStatic ?? true }) else { continue }
            _ = try inferTypes(
                ShapeQuery(
                    op: op, operands: operands, declared: op.results.map { graph[type: $0] },
                    integers: { known[op.operands[$0]]?.integers(limit: 4096) },
                    numbers: { known[op.operands[$0]]?.numbers(limit: 4096) }))
        }
    }

    /// A program that was damaged and still reads is verified or refused; either way nothing traps.
    @Test("damaged programs", arguments: Fixtures.names)
    func survivesDamage(name: String) throws {
        let bytes = try Fixtures.program(name)
        guard bytes.count < 100_000 else { return }
        var state = UInt64(bytes.count)
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var read = 0
        for _ in 0..<60 {
            var damaged = bytes
            for _ in 0...next(3) { damaged[next(bytes.count)] = UInt8(next(256)) }
            guard let program = try? AssetReader.readProgram(bytes: damaged) else { continue }
            read += 1
            try? Verifier.verify(program)
            Printer(showsDecompositions: true, showsLocations: true).write(program) { _ in }
        }
        #expect(read > 0)
    }
}
