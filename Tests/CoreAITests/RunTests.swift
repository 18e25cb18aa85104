import CoreAI
import Foundation
import Testing

/// `AIModel` and `InferenceFunction` on genuine assets, as an app calls them.
@Suite struct RunTests {
    private static let assets = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/assets")

    private func function(_ asset: String, _ name: String = "main") async throws -> InferenceFunction {
        let model = try await AIModel(contentsOf: Self.assets.appending(path: asset + ".aimodel"))
        return try #require(try model.loadFunction(named: name))
    }

    private func elements(_ array: NDArray) -> [Float] {
        let view = array.view(as: Float.self)
        guard let span = view.contiguousElements else { return [] }
        return span.indices.map { span[$0] }
    }

    /// Takes an output out: it is there once.
    private func take(_ name: String, _ outputs: inout InferenceFunction.Outputs) throws -> NDArray {
        let array = outputs.remove(name)?.ndArray
        return try #require(array)
    }

    /// The text of the error that `body` throws.
    private func failure(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "nothing was thrown"
        } catch {
            return error.localizedDescription
        }
    }

    // MARK: Loading

    @Test func functionsHaveNamesAndTypes() async throws {
        let model = try await AIModel(contentsOf: Self.assets.appending(path: "states.aimodel"))
        #expect(model.functionNames == ["main"])
        #expect(model.functionDescriptor(for: "other") == nil)
        #expect(try model.loadFunction(named: "other") == nil)
        let descriptor = try #require(model.functionDescriptor(for: "main"))
        #expect(descriptor.inputNames == ["key", "value", "position"])
        #expect(descriptor.stateNames == ["keys", "values"])
        #expect(descriptor.outputNames == ["sum"])
        guard case .ndArray(let state)? = descriptor.stateDescriptor(of: "keys") else {
            Issue.record("no array")
            return
        }
        #expect(state.shape == [1, 2, 8, 4] && state.scalarType == .float32)
    }

    @Test func whatIsNoModelIsAnError() async throws {
        let missing = await failure { _ = try await AIModel(contentsOf: Self.assets.appending(path: "no.aimodel")) }
        #expect(missing.contains("no.aimodel"))
        let remote = await failure {
            _ = try await AIModel(contentsOf: try #require(URL(string: "custom://host/model.aimodel")))
        }
        #expect(remote.contains("not a file URL"))
    }

    @Test func aMetalKernelIsNamedWhenItsFunctionIsLoaded() async throws {
        let model = try await AIModel(contentsOf: Self.assets.appending(path: "metal.aimodel"))
        let name = try #require(model.functionNames.first)
        let text = await failure { _ = try model.loadFunction(named: name) }
        #expect(text.contains("metal4_kernel") && text.contains("export the model without the custom kernel"))
    }

    // MARK: Running

    @Test func anyStridesGiveTheSameAnswer() async throws {
        let function = try await function("linear_relu")
        let dense = NDArray(scalars: (0..<8).map { Float($0) - 3.5 }, shape: [2, 4])
        var first = try await function.run(inputs: ["x": dense])
        #expect(first.count == 1)
        let expected = try elements(take("y", &first))
        #expect(expected.count == 6 && expected.allSatisfy { $0 >= 0 } && expected.contains { $0 > 0 })
        let again = first.remove("y")?.ndArray
        #expect(again?.shape == nil)

        var columns = NDArray(shape: [2, 4], scalarType: .float32, strides: [1, 2])
        do {
            var view = columns.mutableView(as: Float.self)
            view.copyElements(from: (0..<8).map { Float($0) - 3.5 })
        }
        var second = try await function.run(inputs: ["x": columns])
        #expect(try elements(take("y", &second)) == expected)
    }

    @Test func outputsGoToTheMemoryThatIsLent() async throws {
        let function = try await function("linear_relu")
        let x = NDArray(scalars: (0..<8).map { Float($0) }, shape: [2, 4])
        var plain = try await function.run(inputs: ["x": x])
        let expected = try elements(take("y", &plain))
        for strides in [[3, 1], [1, 2], [8, 2]] {
            var lent = NDArray(shape: [2, 3], scalarType: .float32, strides: strides)
            var views = InferenceFunction.MutableViews()
            views.insert(&lent, for: "y")
            let outputs = try await function.run(inputs: ["x": x], outputViews: consume views)
            #expect(outputs.count == 0)
            let view = lent.view(as: Float.self)
            for row in 0..<2 {
                for column in 0..<3 { #expect(view[scalarAt: [row, column]] == expected[row * 3 + column]) }
            }
        }
    }

    @Test func statesAreUpdatedInPlaceCallAfterCall() async throws {
        let function = try await function("counter")
        var count = NDArray(scalars: [Int32(5)], shape: [1])
        for call in 1...3 {
            var states = InferenceFunction.MutableViews()
            states.insert(&count, for: "count")
            var outputs = try await function.run(inputs: [:], states: consume states)
            let twice = try take("twice", &outputs)
            #expect(twice.view(as: Int32.self)[scalarAt: [0]] == Int32(2 * (5 + call)))
            #expect(count.view(as: Int32.self)[scalarAt: [0]] == Int32(5 + call))
        }
    }

    @Test func cachesTakeOneRowACall() async throws {
        let function = try await function("states")
        var keys = NDArray(shape: [1, 2, 8, 4], scalarType: .float32)
        var values = NDArray(shape: [1, 2, 8, 4], scalarType: .float32)
        var sum: [Float] = Array(repeating: 0, count: 8)
        for position in 0..<8 {
            let key = (0..<8).map { Float($0 + position) }
            let value = (0..<8).map { Float($0 - position) / 4 }
            var states = InferenceFunction.MutableViews()
            states.insert(&keys, for: "keys")
            states.insert(&values, for: "values")
            var outputs = try await function.run(
                inputs: [
                    "key": NDArray(scalars: key, shape: [1, 2, 1, 4]),
                    "value": NDArray(scalars: value, shape: [1, 2, 1, 4]),
                    "position": NDArray(scalars: [Int32(position)], shape: [1]),
                ], states: consume states)
            for index in 0..<8 { sum[index] += key[index] * value[index] }
            #expect(try elements(take("sum", &outputs)) == sum)
        }
    }

    @Test func dynamicDimensionsTakeTheShapesOfEachCall() async throws {
        let function = try await function("dynamic")
        for (rows, columns) in [(1, 1), (3, 2), (0, 2), (5, 7), (3, 2)] {
            let x = NDArray(scalars: (0..<(rows * columns * 4)).map { Float($0 % 5) }, shape: [rows, columns, 4])
            var outputs = try await function.run(inputs: ["x": x])
            let y = try take("y", &outputs)
            #expect(y.shape == [rows, columns, 3])
        }
    }

    // MARK: Arguments that don't fit

    @Test func errorsNameTheArgumentWhatWasExpectedAndGiven() async throws {
        let linear = try await function("linear_relu")
        let missing = await failure { _ = try await linear.run(inputs: [:]) }
        #expect(missing.contains("input 'x' was not given"))
        let unknown = await failure {
            let x = NDArray(shape: [2, 4], scalarType: .float32)
            _ = try await linear.run(inputs: ["x": x, "z": x])
        }
        #expect(unknown.contains("'z'") && unknown.contains("one of the inputs x"))
        let shape = await failure {
            _ = try await linear.run(inputs: ["x": NDArray(shape: [4, 2], scalarType: .float32)])
        }
        #expect(shape.contains("'x'") && shape.contains("2x4xf32") && shape.contains("4x2xf32"))
        let type = await failure {
            _ = try await linear.run(inputs: ["x": NDArray(shape: [2, 4], scalarType: .float16)])
        }
        #expect(type.contains("2x4xf32") && type.contains("2x4xf16"))
        let output = await failure {
            var lent = NDArray(shape: [3, 3], scalarType: .float32)
            var views = InferenceFunction.MutableViews()
            views.insert(&lent, for: "y")
            _ = try await linear.run(
                inputs: ["x": NDArray(shape: [2, 4], scalarType: .float32)], outputViews: consume views)
        }
        #expect(output.contains("'y'") && output.contains("2x3xf32") && output.contains("3x3xf32"))
        let counter = try await function("counter")
        let state = await failure { _ = try await counter.run(inputs: [:]) }
        #expect(state.contains("state 'count' was not given"))
    }

    // MARK: Many calls

    @Test func callsAtTheSameTimeKeepTheirAnswers() async throws {
        let function = try await function("linear_relu").limitingCallsInFlight(to: 3)
        let inputs = (0..<8).map { index in
            NDArray(scalars: (0..<8).map { Float($0 * index) - 9 }, shape: [2, 4])
        }
        var expected: [[Float]] = []
        for input in inputs {
            var outputs = try await function.run(inputs: ["x": input])
            expected.append(try elements(take("y", &outputs)))
        }
        let answers = expected
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        var outputs = try await function.run(inputs: ["x": inputs[task]])
                        guard let y = outputs.remove("y")?.ndArray, elements(y) == answers[task] else { return false }
                    }
                    return true
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
