import CPUDelegate
import CoreAI
import EngineDelegation
import EngineGraph
import Foundation
import TestDelegate
import Testing

/// A fake graphics processor that takes all that the CPU takes, or some kinds of ops only.
func fakeGPU(_ ops: Set<OpKind>? = nil, _ change: (inout TestOptions) -> Void = { _ in }) -> TestDelegate {
    var options = TestOptions()
    options.id = .gpu
    options.ops = ops
    change(&options)
    return TestDelegate(computing: CPUDelegate.shared, options)
}

@Suite struct PlacementReportTests {
    private let onGPU = SpecializationOptions(preferredComputeUnitKind: .gpu)

    private func model(_ asset: String, _ gpu: TestDelegate) async throws -> AIModel {
        try await EngineUnits.$substitutes.withValue([.gpu: gpu]) {
            try await AIModel(contentsOf: AssetFixtures.url(asset), options: onGPU)
        }
    }

    private func report(_ asset: String, _ gpu: TestDelegate) async throws -> PlacementReport.Function {
        let model = try await model(asset, gpu)
        return try EngineUnits.$substitutes.withValue([.gpu: gpu]) {
            try #require(try model.placementReport().functions.first)
        }
    }

    @Test func tellsUnitsLinesAndReasons() async throws {
        let function = try await report("debug_info", fakeGPU())
        #expect(function.preferredUnit == "gpu")
        #expect(function.computingUnits == ["gpu"])
        let pattern = try #require(function.patterns.first { !$0.isBookkeeping })
        #expect(pattern.operations.map(\.name) == ["broadcasting_mul", "relu", "broadcasting_add"])
        #expect(pattern.operations.map(\.source) == ["scale.py:6", "scale.py:7", "scale.py:7"])
        #expect(pattern.declined.map(\.unit) == ["cpu", "accelerator"])
        #expect(pattern.declined[0].reason == "gpu is preferred, and takes it")
        #expect(pattern.declined[1].reason.contains("no delegate"))
        // 24 bytes of input there, 24 of output back.
        #expect(pattern.crossingByteCount == 48)
        #expect(pattern.estimatedSeconds > 0 && pattern.measuredSeconds == nil)
        #expect(pattern.reads == ["x"] && !pattern.gives.isEmpty)
        #expect(function.arguments.map(\.copiedTo) == [["gpu"]])
        #expect(function.arguments[0].preferredStrides == [3, 1])
        #expect(function.memory.deviceByteCount == 48 && function.memory.isComplete)
        #expect(function.units.map(\.isUsable) == [true, true, false])
    }

    @Test func givesTheReasonOfTheUnitThatDeclines() async throws {
        let function = try await report("linear_relu", fakeGPU([.softmax]))
        #expect(function.computingUnits == ["cpu"])
        let pattern = try #require(function.misplaced(from: "gpu").first)
        let decline = try #require(pattern.declined.first { $0.unit == "gpu" })
        #expect(decline.reason == "gpu does not take engine.matmul")
    }

    @Test func measuresPatternsAndParts() async throws {
        let gpu = fakeGPU(nil) { $0.delays.run = 0.002 }
        let model = try await model("cond", gpu)
        let x = NDArray(scalars: [1, 2, 3] as [Float], shape: [3])
        let wide = strided([1, 2, 3])
        let function = try await EngineUnits.$substitutes.withValue([.gpu: gpu]) {
            let function = try #require(try model.loadFunction(named: "main"))
            return try await function.measurePlacement(inputs: ["x": x], runCount: 2)
        }
        #expect(function.measuredRunCount == 2)
        let measured = function.parts.filter { $0.unit == "gpu" }.compactMap(\.measuredSeconds)
        #expect(!measured.isEmpty && measured.allSatisfy { $0 >= 0.001 })
        let shares = function.patterns.filter { $0.unit == "gpu" && $0.measurement != nil }
        #expect(!shares.isEmpty && shares.allSatisfy { $0.measurement == .part })
        // Only the branch that ran is there.
        #expect(Set(function.patterns.map(\.region)).count == 2)
        #expect(function.arguments.map(\.isCopiedForLayout) == [false])

        let cpu = try await AIModel(contentsOf: AssetFixtures.url("cond"), options: .cpuOnly)
        let alone = try await #require(try cpu.loadFunction(named: "main")).measurePlacement(inputs: ["x": wide])
        #expect(alone.patterns.contains { $0.measurement == .kernel && ($0.measuredSeconds ?? 0) > 0 })
        #expect(alone.arguments.map(\.isCopiedForLayout) == [true])
        #expect(alone.arguments.map(\.givenStrides) == [[2]])
    }

    private func strided(_ values: [Float]) -> NDArray {
        var array = NDArray(shape: [values.count], scalarType: .float32, strides: [2])
        var view = array.mutableView(as: Float.self)
        for (index, value) in values.enumerated() { view[scalarAt: [index]] = value }
        return array
    }

    @Test func planCoversBranchesAndSaysWhatIsOpen() async throws {
        let branches = try await report("cond", fakeGPU())
        #expect(branches.unbound.isEmpty)
        #expect(Set(branches.patterns.map(\.region)).count == 3)
        let loop = try await report("loop", fakeGPU())
        #expect(loop.patterns.contains { $0.region == "while 0 body" })
        let open = try await report("data_dependent", fakeGPU())
        #expect(open.unbound.count == 1 && !open.memory.isComplete)
        #expect(open.unbound[0].reason.contains("non_zero"))
        let dynamic = try await report("dynamic", fakeGPU())
        #expect(dynamic.patterns.isEmpty && dynamic.unbound[0].reason.contains("the sizes of x are dynamic"))
        let given = try await model("dynamic", fakeGPU()).placementReport(for: ["x": [2, 3, 4]])
        #expect(given.functions[0].unbound.isEmpty && !given.functions[0].patterns.isEmpty)
    }

    @Test func survivesCoding() async throws {
        let report = PlacementReport(functions: [try await report("states", fakeGPU([.broadcastingMul]))])
        let data = try JSONEncoder().encode(report)
        #expect(try JSONDecoder().decode(PlacementReport.self, from: data) == report)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let functions = try #require(object["functions"] as? [[String: Any]])
        let patterns = try #require(functions[0]["patterns"] as? [[String: Any]])
        for key in ["id", "name", "operations", "unit", "declined", "estimatedSeconds", "crossingByteCount", "part"] {
            #expect(patterns[0][key] != nil, "\(key)")
        }
    }

    @Test func loadingBindsStaticShapes() async throws {
        let gpu = fakeGPU()
        let model = try await model("linear_relu", gpu)
        try EngineUnits.$substitutes.withValue([.gpu: gpu]) { _ = try model.loadFunction(named: "main") }
        #expect(gpu.events.contains { if case .loaded = $0 { true } else { false } })
        #expect(gpu.counters.liveBytes == 0)
    }

    @Test func strictPlacementFailsAtLoadAndNamesWhatFallsBack() async throws {
        let strict = FunctionRequirements(placesStrictly: true)
        let picky = fakeGPU([.softmax])
        let model = try await model("debug_info", picky)
        let error = try EngineUnits.$substitutes.withValue([.gpu: picky]) {
            try #require(throws: EngineError.self) { try model.loadFunction(named: "main", requiring: strict) }
        }
        #expect(error.description.contains("scale.py:7"))
        #expect(error.description.contains("gpu does not take engine.elementwise"))
        let willing = fakeGPU()
        try EngineUnits.$substitutes.withValue([.gpu: willing]) {
            let function = try model.loadFunction(named: "main", requiring: strict)
            #expect(function != nil)
        }
        // Where the unit is not there, nothing runs on it.
        guard !ComputeUnitKind.availableKinds.contains(.gpu) else { return }
        #expect(throws: EngineError.self) { try model.loadFunction(named: "main", requiring: strict) }
    }

    @Test func aUnitThatIsLostIsInTheReport() async throws {
        let gpu = fakeGPU()
        let model = try await model("linear_relu", gpu)
        let x = NDArray(scalars: [Float](repeating: 1, count: 8), shape: [2, 4])
        let report = try await EngineUnits.$substitutes.withValue([.gpu: gpu]) {
            let function = try #require(try model.loadFunction(named: "main"))
            gpu.lose("unplugged")
            return try await function.measurePlacement(inputs: ["x": x])
        }
        #expect(report.computingUnits == ["cpu"])
        #expect(report.fallbacks.count == 1)
        let decline = report.patterns.first { !$0.isBookkeeping }?.declined.first { $0.unit == "gpu" }
        #expect(decline?.reason.hasPrefix("it failed") == true)
    }
}

@Suite struct MemoryBudgetTests {
    @Test func isHeldAgainstThePlanBeforeAnythingIsTaken() async throws {
        let model = try await AIModel(contentsOf: AssetFixtures.url("linear_relu"), options: .cpuOnly)
        let peak = try model.placementReport().functions[0].memory.peakByteCount
        #expect(peak >= 24)
        #expect(try model.loadFunction(named: "main", requiring: FunctionRequirements(memoryBudget: peak)) != nil)
        let error = try #require(throws: EngineError.self) {
            try model.loadFunction(named: "main", requiring: FunctionRequirements(memoryBudget: peak - 1))
        }
        #expect(error == .overBudget(function: "main", byteCount: peak, budget: peak - 1))
    }

    @Test func dynamicShapesFailInTheCall() async throws {
        let model = try await AIModel(contentsOf: AssetFixtures.url("dynamic"), options: .cpuOnly)
        let small = try model.placementReport(for: ["x": [1, 1, 4]]).functions[0].memory.peakByteCount
        let function = try #require(
            try model.loadFunction(named: "main", requiring: FunctionRequirements(memoryBudget: small)))
        _ = try await function.run(inputs: ["x": NDArray(shape: [1, 1, 4], scalarType: .float32)])
        await #expect(throws: EngineError.self) {
            _ = try await function.run(inputs: ["x": NDArray(shape: [64, 8, 4], scalarType: .float32)])
        }
    }
}
