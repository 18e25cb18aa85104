public import Foundation

extension AIModelAsset {
    /// What a model asset says about itself: who made it, under which terms, when, and whatever else its creator
    /// wanted to keep with it.
    public struct Metadata: Sendable {
        /// Who made the model; empty where the asset does not say.
        public var author: String = ""
        /// The terms under which the model may be used; empty where the asset does not say.
        public var license: String = ""
        /// What the model does; empty where the asset does not say.
        public var description: String = ""
        /// When the asset was made, to the second.
        public var creationDate: Date?
        /// What the creator added, by key.
        public var creatorDefinedMetadata: [String: CreatorDefinedValue] = [:]

        /// Creates metadata that says nothing.
        public init() {}

        /// The creator's text for a key; nil where there is none. Setting nil removes the key.
        public subscript(key: String, type: String.Type = String.self) -> String? {
            get { if case .string(let value)? = creatorDefinedMetadata[key] { value } else { nil } }
            set { creatorDefinedMetadata[key] = newValue.map { .string($0) } }
        }

        /// The creator's integer for a key; nil where there is none. Setting nil removes the key.
        public subscript(key: String, type: Int.Type = Int.self) -> Int? {
            get { if case .integer(let value)? = creatorDefinedMetadata[key] { value } else { nil } }
            set { creatorDefinedMetadata[key] = newValue.map { .integer($0) } }
        }

        /// The creator's number for a key, also where it is stored as an integer; nil where there is none. Setting
        /// nil removes the key.
        public subscript(key: String, type: Double.Type = Double.self) -> Double? {
            get {
                switch creatorDefinedMetadata[key] {
                case .number(let value): value
                case .integer(let value): Double(value)
                default: nil
                }
            }
            set { creatorDefinedMetadata[key] = newValue.map { .number($0) } }
        }

        /// The creator's truth value for a key; nil where there is none. Setting nil removes the key.
        public subscript(key: String, type: Bool.Type = Bool.self) -> Bool? {
            get { if case .bool(let value)? = creatorDefinedMetadata[key] { value } else { nil } }
            set { creatorDefinedMetadata[key] = newValue.map { .bool($0) } }
        }

        /// The creator's list for a key; nil where there is none. Setting nil removes the key.
        public subscript(
            key: String, type: [CreatorDefinedValue].Type = [CreatorDefinedValue].self
        ) -> [CreatorDefinedValue]? {
            get { if case .array(let value)? = creatorDefinedMetadata[key] { value } else { nil } }
            set { creatorDefinedMetadata[key] = newValue.map { .array($0) } }
        }

        /// The creator's dictionary for a key; nil where there is none. Setting nil removes the key.
        public subscript(
            key: String, type: [String: CreatorDefinedValue].Type = [String: CreatorDefinedValue].self
        ) -> [String: CreatorDefinedValue]? {
            get { if case .dictionary(let value)? = creatorDefinedMetadata[key] { value } else { nil } }
            set { creatorDefinedMetadata[key] = newValue.map { .dictionary($0) } }
        }
    }
}
