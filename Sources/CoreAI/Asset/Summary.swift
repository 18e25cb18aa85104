extension AIModelAsset {
    /// What a model asset's program holds.
    public struct Summary: Sendable {
        /// The functions that can be loaded, in the program's order.
        public internal(set) var functions: [AIModelAsset.FunctionDescriptor] = []
        /// How many elements the constants have of each type, the most first; empty without statistics.
        public internal(set) var storageTypes: [StorageType] = []
        /// The types that the program computes with, by name; empty without statistics.
        public internal(set) var computeTypes: [String] = []
        /// How often each operation occurs, the most frequent first; empty without statistics.
        public internal(set) var operationDistribution: [OperationCount] = []
    }

    /// What a function takes and gives.
    public struct FunctionDescriptor: Hashable, Sendable {
        /// The function's name.
        public internal(set) var name: String
        /// What the function takes.
        public internal(set) var inputs: [AIModelAsset.ValueDescriptor]
        /// What the function reads and changes in place.
        public internal(set) var states: [AIModelAsset.ValueDescriptor]
        /// What the function gives.
        public internal(set) var outputs: [AIModelAsset.ValueDescriptor]
    }

    /// An input, a state or an output of a function.
    public struct ValueDescriptor: Hashable, Sendable {
        /// The value's name.
        public internal(set) var name: String
        /// The value's type, as a person reads it: `NDArray (Float32, 2 × 3)`.
        public internal(set) var typeName: String
    }
}

extension AIModelAsset.Summary {
    /// How many elements the constants of a program have of one type.
    public struct StorageType: Hashable, Sendable {
        /// The name of the elements' type: `Float16`.
        public internal(set) var typeName: String
        /// The number of elements.
        public internal(set) var count: Int
    }

    /// How often an operation occurs in a program.
    public struct OperationCount: Hashable, Sendable {
        /// The operation's name: `batch_matmul`.
        public internal(set) var operationName: String
        /// The number of times.
        public internal(set) var count: Int
    }
}
