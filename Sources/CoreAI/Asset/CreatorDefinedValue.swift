extension AIModelAsset.Metadata {
    /// A value that a model's creator keeps with it, as JSON knows them.
    public enum CreatorDefinedValue: Hashable, Sendable {
        /// A text.
        case string(String)
        /// A whole number.
        case integer(Int)
        /// A number with a fraction.
        case number(Double)
        /// A truth value.
        case bool(Bool)
        /// A list.
        case array([AIModelAsset.Metadata.CreatorDefinedValue])
        /// Values by key.
        case dictionary([String: AIModelAsset.Metadata.CreatorDefinedValue])

        /// Creates a text.
        public init(_ string: String) { self = .string(string) }

        /// Creates a whole number.
        public init(_ value: Int) { self = .integer(value) }

        /// Creates a number.
        public init(_ value: Double) { self = .number(value) }

        /// Creates a truth value.
        public init(_ value: Bool) { self = .bool(value) }

        /// Creates a list.
        public init(_ array: [AIModelAsset.Metadata.CreatorDefinedValue]) { self = .array(array) }

        /// Creates a dictionary.
        public init(_ dictionary: [String: AIModelAsset.Metadata.CreatorDefinedValue]) {
            self = .dictionary(dictionary)
        }
    }
}

extension AIModelAsset.Metadata.CreatorDefinedValue: CustomStringConvertible {
    /// The value as a person reads it: a text as it is, a dictionary in the order of its keys.
    public var description: String {
        switch self {
        case .string(let value): value
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .bool(let value): String(value)
        case .array(let elements): "[" + elements.map(\.description).joined(separator: ", ") + "]"
        case .dictionary(let entries) where entries.isEmpty: "[:]"
        case .dictionary(let entries):
            "["
                + entries.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
                + "]"
        }
    }
}

extension AIModelAsset.Metadata.CreatorDefinedValue: ExpressibleByStringLiteral {
    /// Creates a text from a literal.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension AIModelAsset.Metadata.CreatorDefinedValue: ExpressibleByIntegerLiteral {
    /// Creates a whole number from a literal.
    public init(integerLiteral value: Int) { self = .integer(value) }
}

extension AIModelAsset.Metadata.CreatorDefinedValue: ExpressibleByFloatLiteral {
    /// Creates a number from a literal.
    public init(floatLiteral value: Double) { self = .number(value) }
}

extension AIModelAsset.Metadata.CreatorDefinedValue: ExpressibleByBooleanLiteral {
    /// Creates a truth value from a literal.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension AIModelAsset.Metadata.CreatorDefinedValue: ExpressibleByArrayLiteral {
    /// Creates a list from a literal.
    public init(arrayLiteral elements: AIModelAsset.Metadata.CreatorDefinedValue...) { self = .array(elements) }
}

extension AIModelAsset.Metadata.CreatorDefinedValue: ExpressibleByDictionaryLiteral {
    /// Creates a dictionary from a literal; of two values for one key the last one counts.
    public init(dictionaryLiteral elements: (String, AIModelAsset.Metadata.CreatorDefinedValue)...) {
        self = .dictionary(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}
