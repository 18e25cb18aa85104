import CoreAI
import EngineGraph
import Foundation

/// A function of an asset, ready to be called with arrays by name: a client of the public API.
struct ModelSession {
    let function: InferenceFunction
    let descriptor: InferenceFunctionDescriptor
    /// The whole program, for what the API does not tell.
    let program: Program
    let loadTime: Duration
    let specializeTime: Duration

    /// Loads `functionName` of a model that is there already.
    init(
        _ model: AIModel, path: String, functionName: String,
        requirements: FunctionRequirements = FunctionRequirements(), loadTime: Duration = .zero
    ) throws {
        let start = ContinuousClock.now
        guard let function = try model.loadFunction(named: functionName, requiring: requirements) else {
            let names = model.functionNames
            let known = names.isEmpty ? "it has none" : "it has " + names.joined(separator: ", ")
            throw CommandError.failure("\(path) has no function '\(functionName)'", hint: known)
        }
        self.function = function
        program = model.program
        descriptor = function.descriptor
        self.loadTime = loadTime
        specializeTime = ContinuousClock.now - start
    }

    /// Loads `functionName`; nil stands for `main`, or for the only function.
    init(_ path: String, functionName: String?, unit: ComputeUnit, fusesPatterns: Bool = true) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        var options = unit.options
        options.fusesPatterns = fusesPatterns
        let model = try await AIModel(contentsOf: URL(fileURLWithPath: path), options: options)
        let loaded = clock.now
        let names = model.functionNames
        let name = functionName ?? (names.contains("main") || names.count != 1 ? "main" : names[0])
        try self.init(model, path: path, functionName: name, loadTime: loaded - start)
    }

    /// Calls the function once. `states` are read and written; the outputs come in the function's order.
    func call(
        _ inputs: [String: NDArray], states: inout [String: NDArray]
    ) async throws -> [(name: String, array: NDArray)] {
        try await Self.call(function, inputs, states: &states)
    }

    static func call(
        _ function: InferenceFunction, _ inputs: [String: NDArray], states: inout [String: NDArray]
    ) async throws -> [(name: String, array: NDArray)] {
        var views = InferenceFunction.MutableViews()
        for name in states.keys { views.insert(&states[name]!, for: name) }
        var outputs = try await function.run(inputs: inputs, states: views)
        var result: [(name: String, array: NDArray)] = []
        for name in Array(outputs.names) {
            if let array = outputs.remove(name)?.ndArray { result.append((name, array)) }
        }
        return result
    }

    /// The type of input or state `name`, where it is an array.
    func arrayDescriptor(_ name: String, isState: Bool) -> NDArrayDescriptor? {
        let descriptor = isState ? descriptor.stateDescriptor(of: name) : descriptor.inputDescriptor(of: name)
        guard case .ndArray(let array) = descriptor else { return nil }
        return array
    }
}

extension Duration {
    var milliseconds: Double {
        Double(components.seconds) * 1e3 + Double(components.attoseconds) * 1e-15
    }

    var seconds: Double { milliseconds / 1e3 }
}
