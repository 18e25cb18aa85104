import EngineCompiler
import EngineDelegation
import EngineGraph
package import EngineRuntime

/// A function of a model, loaded and ready to run.
///
/// ```swift
/// var outputs = try await function.run(inputs: ["x": array])
/// let scores = outputs.remove("scores")?.ndArray
/// ```
///
/// Calls at the same time are safe: each takes working memory of its own. ``limitingCallsInFlight(to:)`` bounds how many
/// there can be.
public struct InferenceFunction: Sendable {
    /// The names and types of what the function takes and gives.
    public let descriptor: InferenceFunctionDescriptor
    package let executor: FunctionExecutor
    package let options: SpecializationOptions
    private let gate: CallGate?
    let arguments: [Argument]

    /// An argument of the function, in the graph's order.
    struct Argument: Sendable {
        let name: String
        let isState: Bool
        let type: TensorType
    }

    init(
        descriptor: InferenceFunctionDescriptor, executor: FunctionExecutor, options: SpecializationOptions
    ) throws(EngineError) {
        let graph = executor.function.compiled.graph
        var arguments: [Argument] = []
        for (value, name) in zip(graph.body.arguments, graph.signature.argumentNames) {
            switch graph[type: value] {
            case .tensor(let type): arguments.append(Argument(name: name, isState: false, type: type))
            case .handle(let type): arguments.append(Argument(name: name, isState: true, type: type))
            case .image:
                throw .unsupportedOp(op: "graph", reason: "input '\(name)' is an image; pass tensors on this system")
            case .token: throw .invalidGraph(function: graph.name, op: "graph", reason: "'\(name)' is a token")
            }
        }
        self.init(descriptor: descriptor, executor: executor, options: options, gate: nil, arguments: arguments)
    }

    private init(
        descriptor: InferenceFunctionDescriptor, executor: FunctionExecutor, options: SpecializationOptions,
        gate: CallGate?, arguments: [Argument]
    ) {
        self.descriptor = descriptor
        self.executor = executor
        self.options = options
        self.gate = gate
        self.arguments = arguments
    }

    /// The same function with at most `limit` calls in flight: more of them wait their turn, in the order they came.
    ///
    /// Each call in flight has working memory of its own, so the limit bounds memory too. Copies of the result share the
    /// limit.
    public func limitingCallsInFlight(to limit: Int) -> InferenceFunction {
        InferenceFunction(
            descriptor: descriptor, executor: executor, options: options, gate: CallGate(limit: limit),
            arguments: arguments)
    }
}

extension InferenceFunction {
    /// Runs the function.
    ///
    /// - Parameters:
    ///   - inputs: A value for every input, of the descriptor's scalar type and shape. Any strides are taken; dense
    ///     row-major arrays are read where they are, others are copied first.
    ///   - states: Memory for every state, read and written in place.
    ///   - outputViews: Memory for some outputs; these are not in the result.
    /// - Returns: The other outputs, as dense row-major arrays.
    /// - Throws: An error that names the argument that is missing or does not fit, with what was expected and given; the
    ///   error of an op that can't compute its result; `CancellationError` where the task is cancelled before its turn.
    public func run(
        inputs: borrowing Inputs, states: consuming MutableViews = MutableViews(),
        outputViews: consuming MutableViews = MutableViews()
    ) async throws -> Outputs {
        if let gate {
            try await gate.enter()
        } else {
            try Task.checkCancellation()
        }
        defer { gate?.leave() }
        return try execute(inputs, states, outputViews)
    }

    /// Runs the function on arrays.
    ///
    /// - Parameters:
    ///   - inputs: An array for every input, by its name.
    ///   - states: Memory for every state, read and written in place.
    ///   - outputViews: Memory for some outputs; these are not in the result.
    /// - Returns: The other outputs, as dense row-major arrays.
    /// - Throws: As the overload that takes ``Inputs``.
    public func run(
        inputs: [String: NDArray], states: consuming MutableViews = MutableViews(),
        outputViews: consuming MutableViews = MutableViews()
    ) async throws -> Outputs {
        var collected = Inputs()
        for (name, array) in inputs { collected.insert(array, for: name) }
        return try await run(inputs: collected, states: states, outputViews: outputViews)
    }
}

extension InferenceFunction {
    private func execute(
        _ inputs: borrowing Inputs, _ states: borrowing MutableViews, _ outputViews: borrowing MutableViews
    ) throws(EngineError) -> Outputs {
        try checkNames(inputs.names, descriptor.inputNames, "input")
        try checkNames(states.names, descriptor.stateNames, "state")
        try checkNames(outputViews.names, descriptor.outputNames, "output")
        var tensors: [HostTensor] = []
        tensors.reserveCapacity(arguments.count)
        var copiedStates: [(MutableTensor, HostTensor)] = []
        for argument in arguments {
            if argument.isState {
                guard let state = states.tensor(argument.name) else { throw missing(argument.name, "state") }
                try check(state.borrowed, argument)
                let tensor = try HostTensor(borrowing: state.borrowed)
                if unsafe UnsafeRawPointer(tensor.pointer) != UnsafeRawPointer(state.start) {
                    copiedStates.append((state, tensor))
                }
                tensors.append(tensor)
            } else {
                guard let input = inputs.tensor(argument.name) else { throw missing(argument.name, "input") }
                try check(input, argument)
                tensors.append(try HostTensor(borrowing: input))
            }
        }
        var destinations: [HostTensor?] = []
        var copiedOutputs: [(MutableTensor, HostTensor)] = []
        for name in descriptor.outputNames {
            guard let view = outputViews.tensor(name) else {
                destinations.append(nil)
                continue
            }
            if view.isDense {
                destinations.append(try HostTensor(borrowing: view.borrowed))
            } else {
                let dense = try HostTensor(allocating: TensorType(view.shape, view.elementType))
                copiedOutputs.append((view, dense))
                destinations.append(dense)
            }
        }
        let results = try recording(.call, "call '\(descriptor.name)'") { () throws(EngineError) in
            try executor.run(tensors, destinations: destinations)
        }
        for (view, tensor) in copiedStates { unsafe view.copyElements(from: tensor.pointer) }
        for (view, tensor) in copiedOutputs { unsafe view.copyElements(from: tensor.pointer) }
        var outputs: [(name: String, array: NDArray)] = []
        for (index, name) in descriptor.outputNames.enumerated() where destinations[index] == nil {
            let result = results[index]
            outputs.append(
                (
                    name,
                    try NDArray(
                        buffer: result.buffer, byteOffset: result.byteOffset, elementType: result.type.elementType,
                        shape: result.type.shape)
                ))
        }
        return Outputs(outputs)
    }

    private func checkNames(_ given: [String], _ known: [String], _ kind: String) throws(EngineError) {
        for name in given where !known.contains(name) {
            throw .invalidArgument(
                function: descriptor.name, argument: name,
                expected: known.isEmpty ? "no \(kind)" : "one of the \(kind)s \(known.joined(separator: ", "))",
                given: "'\(name)'")
        }
    }

    private func check(_ given: BorrowedTensor, _ argument: Argument) throws(EngineError) {
        let type = TensorType(given.shape, given.elementType)
        guard argument.type.accepts(type) else {
            throw .invalidArgument(
                function: descriptor.name, argument: argument.name, expected: argument.type.description,
                given: type.description)
        }
    }

    private func missing(_ name: String, _ kind: String) -> EngineError {
        .missingArgument(function: descriptor.name, argument: name, kind: kind)
    }
}

extension MutableTensor {
    /// Whether the kernels can write to it as it lies.
    fileprivate var isDense: Bool { borrowed.isDense }
}

extension BorrowedTensor {
    /// Whether the kernels can read it as it lies: dense, and aligned to its elements.
    var isDense: Bool {
        let alignment = max(1, min(16, elementType.bitWidth / 8))
        return unsafe isContiguous && Int(bitPattern: start) % alignment == 0
    }
}

extension HostTensor {
    /// The tensor in place where it is dense, a dense copy where it is not.
    fileprivate init(borrowing tensor: BorrowedTensor) throws(EngineError) {
        let type = TensorType(tensor.shape, tensor.elementType)
        if tensor.isDense {
            let address = unsafe UnsafeMutableRawPointer(mutating: tensor.start)
            unsafe self.init(
                type: type,
                buffer: HostBuffer(lending: address, byteCount: type.byteCount ?? 0, owner: tensor.buffer))
            return
        }
        self = try HostTensor(allocating: type)
        recording(.copy, "copy for the layout: \(type)") { unsafe tensor.copyElements(to: pointer) }
    }
}
