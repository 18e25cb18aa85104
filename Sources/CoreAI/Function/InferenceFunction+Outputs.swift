extension InferenceFunction {
    /// What a run gave: each value can be taken once.
    ///
    /// ```swift
    /// var outputs = try await function.run(inputs: ["input": input])
    /// guard let scores = outputs.remove("scores")?.ndArray else { … }
    /// ```
    ///
    /// Arrays in it are dense and row-major. Outputs for which the run was lent memory are not in it.
    public struct Outputs: ~Copyable {
        private var values = NamedValues<NDArray>()

        /// - Parameter arrays: The names and values, in the function's order.
        package init(_ arrays: [(name: String, array: NDArray)]) {
            for (name, array) in arrays {
                values[name] = array
            }
        }

        /// The number of values that nobody took yet.
        public var count: Int { values.count }

        /// The names of the values that nobody took yet, in the function's order.
        public var names: some Collection<String> { values.names }

        /// Takes a value out of the collection.
        ///
        /// - Returns: The value; nil where no output has this name, or it was taken already.
        public mutating func remove(_ outputName: String) -> InferenceValue? {
            guard let array = values[outputName] else { return nil }
            values[outputName] = nil
            return InferenceValue(ndArray: array)
        }
    }
}
