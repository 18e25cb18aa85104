extension InferenceValue {
    /// A value that its owner lends to a function for reading.
    ///
    /// It has no members: put it into ``InferenceFunction/Inputs``.
    public struct View: ~Escapable {
        enum Content {
            case ndArray(BorrowedTensor)
        }

        let content: Content

        @_lifetime(immortal)
        init(_ content: Content) {
            self.content = content
        }
    }

    /// A value that its owner lends to a function for writing.
    ///
    /// It has no members: put it into ``InferenceFunction/MutableViews``.
    public struct MutableView: ~Copyable, ~Escapable {
        enum Content {
            case ndArray(MutableTensor)
        }

        let content: Content

        @_lifetime(immortal)
        init(_ content: Content) {
            self.content = content
        }
    }

    /// A value that can be lent to a function as an input.
    public protocol ViewRepresentable: ~Copyable {
        /// Lends the value for reading.
        @_lifetime(borrow self)
        func view() -> InferenceValue.View
    }

    /// A value that can be lent to a function as a state or an output.
    public protocol MutableViewRepresentable: ~Copyable {
        /// Lends the value for writing.
        @_lifetime(&self)
        mutating func mutableView() -> InferenceValue.MutableView
    }
}

extension InferenceValue {
    /// Values lent for writing, by name.
    public struct NamedMutableViews: ~Escapable, ~Copyable {
        private var contents: [String: InferenceValue.MutableView.Content?] = [:]

        /// Takes over what a collection of mutable views holds.
        @_lifetime(copy views)
        package init(_ views: consuming InferenceFunction.MutableViews) {
            for (name, content) in views.contents {
                contents[name] = .some(content)
            }
        }

        /// Takes the view of a value out of the collection.
        ///
        /// Each view can be taken once, so that nobody shares it: taking it again stops the program.
        ///
        /// - Returns: The view; nil where no value has this name.
        @_lifetime(copy self)
        public mutating func take(_ valueName: String) -> InferenceValue.MutableView? {
            guard let place = contents[valueName] else { return nil }
            guard let content = place else {
                fatalError("NamedMutableViews: the view of '\(valueName)' was taken already")
            }
            contents[valueName] = .some(nil)
            return unsafe _overrideLifetime(InferenceValue.MutableView(content), copying: self)
        }
    }
}
