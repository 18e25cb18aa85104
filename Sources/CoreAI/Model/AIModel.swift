import CPUDelegate
import EngineAsset
import EngineCompiler
import EngineDelegation
package import EngineGraph
import EngineRuntime
public import Foundation

/// A model that is ready to give out its functions.
///
/// ```swift
/// let model = try await AIModel(contentsOf: url)
/// guard let function = try model.loadFunction(named: "main") else { throw MyError.noSuchFunction }
/// ```
///
/// A model is cheap to keep: its weights stay in the file's pages until a function that uses them is loaded.
public struct AIModel: Sendable {
    package let program: Program
    private let options: SpecializationOptions
    private let descriptors: [InferenceFunctionDescriptor]

    /// Loads the model in the asset at `modelURL`.
    ///
    /// - Parameters:
    ///   - modelURL: A file URL of an `.aimodel` asset.
    ///   - options: The units that may run the model, and which one is preferred.
    /// - Throws: ``AssetError`` where the asset is not one, or was written by a newer converter; an error that names the
    ///   place where the program is damaged.
    public init(contentsOf modelURL: URL, options: SpecializationOptions = .default) async throws {
        guard modelURL.isFileURL else {
            throw EngineError.system(operation: "open", path: modelURL.absoluteString, reason: "it is not a file URL")
        }
        do {
            let program = try AssetReader.readProgram(at: modelURL.path)
            try self.init(program: program, options: options)
        } catch let error as EngineError {
            throw error.publicError
        }
    }

    /// The model of a program, which is checked first.
    package init(program: Program, options: SpecializationOptions = .default) throws {
        try Verifier.verify(program)
        self.program = program
        self.options = options
        self.descriptors = try program.functions.map(InferenceFunctionDescriptor.init(of:))
    }

    /// The names of the functions, in the order of the asset.
    public var functionNames: [String] { descriptors.map(\.name) }

    /// What a function takes and gives; nil where none has this name.
    public func functionDescriptor(for functionName: String) -> InferenceFunctionDescriptor? {
        descriptors.first { $0.name == functionName }
    }

    /// Loads a function: compiles it and readies its weights, which takes time and memory. Keep the result.
    ///
    /// - Returns: The function; nil where none has this name.
    /// - Throws: An error that names the op that can't run, and why.
    public func loadFunction(named functionName: String) throws -> InferenceFunction? {
        guard let descriptor = functionDescriptor(for: functionName) else { return nil }
        let unit = CPUDelegate.shared
        let compiled = try Compiler.compile(program, function: functionName, host: unit, delegate: unit)
        return try InferenceFunction(descriptor: descriptor, executor: FunctionExecutor(compiled))
    }
}

extension InferenceFunctionDescriptor {
    /// The descriptor of a function of a program.
    init(of graph: Graph) throws(EngineError) {
        var inputs: [(name: String, descriptor: InferenceValue.Descriptor)] = []
        var states: [(name: String, descriptor: InferenceValue.Descriptor)] = []
        var outputs: [(name: String, descriptor: InferenceValue.Descriptor)] = []
        for (value, name) in zip(graph.body.arguments, graph.signature.argumentNames) {
            switch graph[type: value] {
            case .tensor(let type): inputs.append((name, try .init(of: type, name, in: graph)))
            case .handle(let type): states.append((name, try .init(of: type, name, in: graph)))
            case .image(let type): inputs.append((name, .init(of: type)))
            case .token: continue
            }
        }
        for (value, name) in zip(graph.body.results, graph.signature.resultNames) {
            switch graph[type: value] {
            case .tensor(let type): outputs.append((name, try .init(of: type, name, in: graph)))
            case .image(let type): outputs.append((name, .init(of: type)))
            case .token, .handle: continue
            }
        }
        self.init(name: graph.name, inputs: inputs, states: states, outputs: outputs)
    }
}

extension InferenceValue.Descriptor {
    fileprivate init(of type: TensorType, _ name: String, in graph: Graph) throws(EngineError) {
        guard let scalarType = NDArray.ScalarType(type.elementType) else {
            throw .invalidGraph(
                function: graph.name, op: "graph",
                reason: "'\(name)' is \(type), whose elements no array of the API can hold")
        }
        self = .ndArray(NDArrayDescriptor(scalarType: scalarType, shape: type.shape))
    }

    fileprivate init(of type: ImageType) {
        self = .image(
            ImageDescriptor(height: type.height, width: type.width, pixelFormatType: type.pixelFormat))
    }
}
