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
    package let options: SpecializationOptions
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
            let program = try recording(.load, "read \(modelURL.lastPathComponent)") {
                try AssetReader.readProgram(at: modelURL.path)
            }
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
    /// Where all its shapes are static, the function is ready then: what can't run fails here, and the first call is as
    /// fast as later ones.
    ///
    /// - Returns: The function; nil where none has this name.
    /// - Throws: An error that names the op that can't run, and why.
    public func loadFunction(named functionName: String) throws -> InferenceFunction? {
        try loadFunction(named: functionName, requiring: FunctionRequirements())
    }

    /// Loads a function that has to meet `requirements`: strict placement, a memory budget. Not a part of Apple's API.
    ///
    /// - Returns: The function; nil where none has this name.
    /// - Throws: An error that names the ops that would run on another unit than the preferred one, or the memory that a
    ///   call would take; else as ``loadFunction(named:)``. Where shapes are dynamic, a call throws it, before it takes
    ///   any memory.
    public func loadFunction(
        named functionName: String, requiring requirements: FunctionRequirements
    ) throws -> InferenceFunction? {
        guard let descriptor = functionDescriptor(for: functionName) else { return nil }
        return try recording(.load, "load '\(functionName)'") {
            let compiled = try Compiler.compile(
                program, function: functionName, host: EngineUnits.cpu, delegate: EngineUnits.cpu,
                fusesPatterns: options.fusesPatterns,
                choice: EngineUnits.choice(for: options, isStrict: requirements.placesStrictly),
                memoryBudget: requirements.memoryBudget)
            let executor = FunctionExecutor(compiled)
            let function = try InferenceFunction(descriptor: descriptor, executor: executor, options: options)
            if let types = compiled.staticArgumentTypes { try executor.plan(for: types) }
            return function
        }
    }
}

/// What a host asks of a function beyond Apple's API.
///
/// ```swift
/// let function = try model.loadFunction(
///     named: "main", requiring: FunctionRequirements(placesStrictly: true, memoryBudget: 64 << 20))
/// ```
public struct FunctionRequirements: Hashable, Sendable {
    /// Whether everything has to run on the preferred unit: what would fall back to another fails instead, and so does
    /// a unit that is lost. Host bookkeeping does not count: views, states, shape arithmetic, control flow.
    ///
    /// Without a preferred unit in the model's ``SpecializationOptions`` this changes nothing.
    public var placesStrictly: Bool

    /// The most bytes that one call may take for working memory, intermediate values and outputs; nil for no limit.
    ///
    /// Where the program's order takes more, operations are run in another that takes less, if there is one. Weights,
    /// and the arrays that the caller brings, are not counted. Calls in flight at once take this each:
    /// ``InferenceFunction/limitingCallsInFlight(to:)`` bounds their number.
    public var memoryBudget: Int?

    /// Requirements that are met by everything, unless some are given.
    public init(placesStrictly: Bool = false, memoryBudget: Int? = nil) {
        self.placesStrictly = placesStrictly
        self.memoryBudget = memoryBudget
    }
}

extension CompiledFunction {
    /// The types of the arguments, where none has a dynamic size.
    var staticArgumentTypes: [ValueType]? {
        let types = compiled.graph.body.arguments.map { compiled.graph[type: $0] }
        let areStatic = types.allSatisfy { type in
            switch type {
            case .tensor(let tensor), .handle(let tensor): tensor.isStatic
            case .token, .image: false
            }
        }
        return areStatic ? types : nil
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
