/// A function of a model, loaded and ready to run.
public struct InferenceFunction: Sendable {
    /// The names and types of what the function takes and gives.
    public let descriptor: InferenceFunctionDescriptor
}
