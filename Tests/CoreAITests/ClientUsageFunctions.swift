import CoreAI
import Testing

// Written as an app would write it, but for `run`, which stands in for `InferenceFunction.run` and writes to whatever it
// is lent. That it compiles is half of the test.

private func flatten(_ array: NDArray) -> [Float] {
    let view = array.view(as: Float.self)
    guard let elements = view.contiguousElements else { return [] }
    return (0..<elements.count).map { elements[$0] }
}

private func ones(_ shape: [Int]) -> NDArray {
    NDArray(scalars: Array(repeating: Float(1), count: shape.reduce(1, *)), shape: shape)
}

private final class Decoder {
    private var keyCache = ones([2, 2])
    private var valueCache = ones([2, 2])
    private let mask = ones([1])
    private var fed = ones([1])

    func step() async throws -> ([Float], [Float]) {
        var inputs = InferenceFunction.Inputs()
        inputs.insert(mask, for: "mask")
        inputs.insert(self.fed, for: "fed")
        var states = InferenceFunction.MutableViews()
        states.insert(&keyCache, for: "key_cache")
        states.insert(&self.valueCache, for: "value_cache")
        var outputs = try await run(inputs: inputs, states: consume states)
        guard let value = outputs.remove("count"), let count = value.ndArray else { return ([], []) }
        #expect(flatten(count) == [2])
        return (flatten(keyCache), flatten(valueCache))
    }
}

private actor Session {
    private var cache = ones([3])
    private var caches: [String: NDArray] = ["a": ones([2]), "b": ones([2])]
    private var list = [ones([1]), ones([1])]

    func step() async throws -> [Float] {
        var states = InferenceFunction.MutableViews()
        states.insert(&cache, for: "cache")
        for name in caches.keys.sorted() {
            states.insert(&caches[name]!, for: name)
        }
        for index in list.indices { states.insert(&list[index], for: "list \(index)") }
        _ = try await run(states: states)
        return [cache, caches["a"]!, caches["b"]!, list[0], list[1]].flatMap(flatten)
    }
}

private struct Pair {
    var first = ones([1])
    var second = ones([1])

    mutating func step() async throws {
        var states = InferenceFunction.MutableViews()
        states.insert(&first, for: "first")
        states.insert(&second, for: "second")
        _ = try await run(states: consume states)
    }
}

private func increment<Value: InferenceValue.MutableViewRepresentable & ~Copyable>(_ value: inout Value) async throws {
    var views = InferenceFunction.MutableViews()
    views.insert(&value, for: "value")
    _ = try await run(outputViews: consume views)
}

private func count<Value: InferenceValue.ViewRepresentable & ~Copyable>(_ value: borrowing Value) async throws -> Int {
    var inputs = InferenceFunction.Inputs()
    inputs.insert(value, for: "first")
    inputs.insert(value, for: "second")
    var outputs = try await run(inputs: inputs)
    guard let count = outputs.remove("count")?.ndArray else { return 0 }
    return Int(flatten(count)[0])
}

private func encode(
    _ names: ArraySlice<String>, states: consuming InferenceFunction.MutableViews
) async throws -> [Float] {
    guard let name = names.first else {
        _ = try await run(states: states)
        return []
    }
    var array = ones([1])
    var next = states
    next.insert(&array, for: name)
    return try await encode(names.dropFirst(), states: consume next) + flatten(array)
}

@Suite struct ClientFunctions {
    @Test func classProperties() async throws {
        let decoder = Decoder()
        let first = try await decoder.step()
        #expect(first == ([2, 2, 2, 2], [2, 2, 2, 2]))
        let second = try await decoder.step()
        #expect(second == ([3, 3, 3, 3], [3, 3, 3, 3]))
    }

    @Test func actorsDictionariesAndArrays() async throws {
        let session = Session()
        #expect(try await session.step() == Array(repeating: 2, count: 9))
        #expect(try await session.step() == Array(repeating: 3, count: 9))
    }

    @Test func structFields() async throws {
        var pair = Pair()
        try await pair.step()
        #expect(flatten(pair.first) == [2])
        #expect(flatten(pair.second) == [2])
    }

    @Test func recursion() async throws {
        let values = try await encode(["a", "b", "c"], states: InferenceFunction.MutableViews())
        #expect(values == [2, 2, 2])
    }

    @Test func everyKindOfInput() async throws {
        let array = ones([2, 4])
        let memory: [Float] = [1, 2, 3, 4]
        var inputs = InferenceFunction.Inputs()
        inputs.insert(array, for: "array")
        inputs.insert(array.view(as: Float.self), for: "view")
        inputs.insert(array.view(as: Float.self).slice(at: [.all, 0..<2]), for: "slice")
        inputs.insert(array.rawView(), for: "raw")
        inputs.insert(NDArray.RawView(bytes: memory.span.bytes, scalarType: .float32, shape: [2, 2]), for: "bytes")
        inputs.insert(NDArray.View(span: memory.span, shape: [4]), for: "span")
        var outputs = try await run(inputs: inputs)
        #expect(outputs.count == 1)
        #expect(outputs.names.contains("count"))
        let count = outputs.remove("count")?.ndArray
        #expect(count.map(flatten) == [6])
        let again = outputs.remove("count") == nil
        #expect(again)
        let other = outputs.remove("other") == nil
        #expect(other)
        #expect(outputs.count == 0)
    }

    @Test func everyKindOfMutableView() async throws {
        var array = ones([2])
        var typed = ones([2])
        var raw = ones([2])
        var sliced = ones([2, 3])
        do {
            var full = sliced.mutableView(as: Float.self)
            let part = full.mutatingSlice(at: [.all, 1..<2])
            let typedView = typed.mutableView(as: Float.self)
            var views = InferenceFunction.MutableViews()
            views.insert(&array, for: "array")
            views.insert(typedView, for: "typed")
            views.insert(raw.mutableRawView(), for: "raw")
            views.insert(part, for: "sliced")
            _ = try await run(outputViews: views)
        }
        #expect(flatten(array) == [2, 2])
        #expect(flatten(typed) == [2, 2])
        #expect(flatten(raw) == [2, 2])
        #expect(flatten(sliced) == [1, 2, 1, 1, 2, 1])
    }

    @Test func genericValues() async throws {
        var array = ones([2])
        try await increment(&array)
        #expect(flatten(array) == [2, 2])
        #expect(try await count(array) == 2)
    }

    @Test func statesAndOutputsInALoop() async throws {
        var cache = ones([2])
        var logits = ones([1])
        for step in 0..<3 {
            var states = InferenceFunction.MutableViews()
            states.insert(&cache, for: "cache")
            var outputViews = InferenceFunction.MutableViews()
            outputViews.insert(&logits, for: "logits")
            _ = try await run(states: consume states, outputViews: consume outputViews)
            #expect(flatten(logits) == [Float(step + 2)])
        }
        #expect(flatten(cache) == [4, 4])
        let copy = cache
        let view = cache.mutableView(as: Float.self)
        var elements = view.contiguousElements!
        elements[0] = 0
        #expect(flatten(copy) == [4, 4])
    }
}
