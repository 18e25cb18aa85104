/// The names and types of a function's inputs, states and outputs.
public struct InferenceFunctionDescriptor: Sendable {
    /// The name of the function.
    public let name: String
    /// The names of the inputs, in the function's order.
    public let inputNames: [String]
    /// The names of the states, in the function's order: values that a run reads and writes in place. Every run
    /// needs a mutable view of each.
    public let stateNames: [String]
    /// The names of the outputs, in the function's order.
    public let outputNames: [String]
    private let inputs: [String: InferenceValue.Descriptor]
    private let states: [String: InferenceValue.Descriptor]
    private let outputs: [String: InferenceValue.Descriptor]

    package init(
        name: String, inputs: [(name: String, descriptor: InferenceValue.Descriptor)],
        states: [(name: String, descriptor: InferenceValue.Descriptor)],
        outputs: [(name: String, descriptor: InferenceValue.Descriptor)]
    ) {
        func byName(
            _ values: [(name: String, descriptor: InferenceValue.Descriptor)]
        ) -> [String: InferenceValue.Descriptor] {
            Dictionary(values.map { ($0.name, $0.descriptor) }, uniquingKeysWith: { first, _ in first })
        }
        self.name = name
        self.inputNames = inputs.map(\.name)
        self.stateNames = states.map(\.name)
        self.outputNames = outputs.map(\.name)
        self.inputs = byName(inputs)
        self.states = byName(states)
        self.outputs = byName(outputs)
    }

    /// The number of inputs.
    public var inputCount: Int { inputNames.count }

    /// The number of outputs.
    public var outputCount: Int { outputNames.count }

    /// What the function expects of an input; nil where none has this name.
    public func inputDescriptor(of inputName: String) -> InferenceValue.Descriptor? { inputs[inputName] }

    /// What the function expects of a state; nil where none has this name.
    public func stateDescriptor(of stateName: String) -> InferenceValue.Descriptor? { states[stateName] }

    /// What the function tells about an output; nil where none has this name.
    public func outputDescriptor(of outputName: String) -> InferenceValue.Descriptor? { outputs[outputName] }
}
