/// A value that a function gave: an array or an image.
///
/// ```swift
/// guard let scores = outputs.remove("scores")?.ndArray else { … }
/// ```
public struct InferenceValue: ~Copyable {
    /// What the value is.
    public let kind: Kind
    /// Where the value lies until somebody takes it: a getter can't consume, so it empties the box.
    private let box: Box

    /// A value that is an array.
    package init(ndArray: consuming NDArray) {
        kind = .ndArray
        box = Box(.ndArray(ndArray))
    }

    private final class Box {
        enum Content {
            case ndArray(NDArray)
        }

        var content: Content?

        init(_ content: Content) {
            self.content = content
        }
    }
}

extension InferenceValue {
    /// Takes the array out of the value: the first read gives it away, and later ones are nil. Nil where the value is
    /// an image; ``kind`` tells without taking.
    public var ndArray: NDArray? {
        guard case .ndArray(let array) = box.content else { return nil }
        box.content = nil
        return array
    }
}

extension InferenceValue {
    /// What a value is.
    public enum Kind: Sendable, Hashable {
        /// An array.
        case ndArray
        /// An image.
        case image
    }

    /// What a function expects of a value, or tells about one.
    public enum Descriptor: Sendable {
        /// The value is an array.
        case ndArray(NDArrayDescriptor)
        /// The value is an image.
        case image(ImageDescriptor)
    }
}
