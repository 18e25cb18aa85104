extension InferenceFunction {
    /// Memory for a function's states, or for its outputs, lent for the time of a run.
    ///
    /// ```swift
    /// var states = InferenceFunction.MutableViews()
    /// states.insert(&keyCache, for: "key_cache")
    /// let outputs = try await function.run(inputs: inputs, states: consume states)
    /// ```
    ///
    /// The collection can't outlive the values in it. Inserting under a name again replaces the view.
    public struct MutableViews: ~Copyable, ~Escapable {
        private(set) var contents = NamedValues<InferenceValue.MutableView.Content>()

        /// Creates an empty collection.
        @_lifetime(immortal)
        public init() {}

        /// Adds a value that the function writes to.
        ///
        /// - Parameters:
        ///   - value: An array, or another value that can be lent.
        ///   - name: The name of the state or output.
        @_lifetime(self: copy self, &value)
        public mutating func insert(
            _ value: inout some InferenceValue.MutableViewRepresentable & ~Copyable, for name: String
        ) {
            contents[name] = value.mutableView().content
        }

        /// Adds an array that the function writes to.
        ///
        /// Nothing else can use the array until the collection, or the run that took it, is gone; that is checked
        /// while the program runs, and a breach stops it. So that arrays in properties of classes, in two fields of
        /// one structure and in dictionaries work, whose borrows the compiler can't follow.
        ///
        /// - Parameters:
        ///   - value: The array. Its memory is copied first if it is shared with a copy of the array.
        ///   - name: The name of the state or output.
        @_lifetime(self: copy self)
        public mutating func insert(_ value: inout NDArray, for name: String) {
            contents[name] = .ndArray(value.lendMutably())
        }

        /// Adds a view of memory that the function writes to.
        ///
        /// - Parameters:
        ///   - mutableRawView: The view.
        ///   - name: The name of the state or output.
        @_lifetime(self: copy self, copy mutableRawView)
        public mutating func insert(_ mutableRawView: consuming NDArray.MutableRawView, for name: String) {
            contents[name] = .ndArray(mutableRawView.mutableTensor)
        }

        /// Adds a view of elements that the function writes to.
        ///
        /// - Parameters:
        ///   - mutableView: The view. Its elements must be of a type that is a scalar type; otherwise the program
        ///     stops.
        ///   - name: The name of the state or output.
        @_lifetime(self: copy self, copy mutableView)
        public mutating func insert<Element>(_ mutableView: consuming NDArray.MutableView<Element>, for name: String)
        where Element: BitwiseCopyable {
            contents[name] = .ndArray(mutableView.mutableRawView.mutableTensor)
        }
    }
}

extension InferenceFunction.MutableViews {
    /// The names in the collection, in the order of insertion.
    package var names: [String] { contents.names }

    /// The array under a name, which stays in the collection; nil where there is none.
    package borrowing func tensor(_ name: String) -> MutableTensor? {
        guard case .ndArray(let tensor) = contents[name] else { return nil }
        return tensor
    }

    /// Takes the array under a name out of the collection; nil where there is none.
    ///
    /// The array's memory is given back with the last copy of the result.
    @_lifetime(self: copy self)
    package mutating func take(_ name: String) -> MutableTensor? {
        guard case .ndArray(let tensor) = contents[name] else { return nil }
        contents[name] = nil
        return tensor
    }
}
