extension InferenceFunction {
    /// The values of a function's inputs, lent without a copy.
    ///
    /// ```swift
    /// var inputs = InferenceFunction.Inputs()
    /// inputs.insert(image, for: "image")
    /// inputs.insert(tokens.view(as: Int32.self).slice(at: [0..<length]), for: "tokens")
    /// ```
    ///
    /// The collection can't outlive the values in it. Inserting under a name again replaces the value.
    public struct Inputs: ~Escapable {
        private(set) var contents = NamedValues<InferenceValue.View.Content>()

        /// Creates an empty collection.
        @_lifetime(immortal)
        public init() {}

        /// Adds a value.
        ///
        /// - Parameters:
        ///   - value: An array, or another value that can be lent.
        ///   - inputName: The input's name.
        @_lifetime(self: copy self, borrow value)
        public mutating func insert(
            _ value: borrowing some InferenceValue.ViewRepresentable & ~Copyable, for inputName: String
        ) {
            contents[inputName] = value.view().content
        }

        /// Adds an array.
        ///
        /// The collection shares the array's memory, as a copy of the array does: it need not outlive the collection,
        /// and writing to it afterwards leaves the input as it was. So that arrays in properties of classes work too,
        /// whose borrows the compiler can't follow.
        ///
        /// - Parameters:
        ///   - value: The array.
        ///   - inputName: The input's name.
        @_lifetime(self: copy self)
        public mutating func insert(_ value: NDArray, for inputName: String) {
            contents[inputName] = .ndArray(value.borrowedTensor)
        }

        /// Adds a view of memory.
        ///
        /// - Parameters:
        ///   - rawView: The view.
        ///   - inputName: The input's name.
        @_lifetime(self: copy self, copy rawView)
        public mutating func insert(_ rawView: consuming NDArray.RawView, for inputName: String) {
            contents[inputName] = .ndArray(rawView.borrowedTensor)
        }

        /// Adds a view of elements.
        ///
        /// - Parameters:
        ///   - view: The view. Its elements must be of a type that is a scalar type; otherwise the program stops.
        ///   - inputName: The input's name.
        @_lifetime(self: copy self, copy view)
        public mutating func insert<Element>(_ view: consuming NDArray.View<Element>, for inputName: String)
        where Element: BitwiseCopyable {
            contents[inputName] = .ndArray(view.rawView.borrowedTensor)
        }
    }
}

extension InferenceFunction.Inputs {
    /// The names in the collection, in the order of insertion.
    package var names: [String] { contents.names }

    /// The array under a name; nil where there is none.
    package func tensor(_ name: String) -> BorrowedTensor? {
        guard case .ndArray(let tensor) = contents[name] else { return nil }
        return tensor
    }
}
