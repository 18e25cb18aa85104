internal import EngineGraph
public import Foundation

/// What is wrong with a model asset.
public struct AssetError: Error, LocalizedError {
    /// The kind of fault.
    public var kind: Kind
    /// What exactly was found, for a log.
    public var debugMessage: String?

    /// Creates an error of a kind, with a message for a log.
    public init(kind: Kind, debugMessage: String?) {
        self.kind = kind
        self.debugMessage = debugMessage
    }

    /// What is wrong and what to do about it.
    public var errorDescription: String? {
        let text = kind.text
        guard let debugMessage, !debugMessage.isEmpty else { return text }
        return text + " (" + debugMessage + ")"
    }
}

extension AssetError {
    /// A kind of fault of a model asset.
    public enum Kind: Sendable {
        /// The asset was written in a version, named here, that this engine does not read.
        case unsupportedVersion(String)
        /// An input or output has a type, named here, that the API can't express.
        case invalidFeatureType(String)
        /// The metadata can't be read.
        case corruptedMetadata
        /// A function, an input or an output has a name that can't be used.
        case invalidName
        /// Two functions, inputs or outputs have the same name.
        case duplicateName

        fileprivate var text: String {
            switch self {
            case .unsupportedVersion(let version):
                "The model asset has version “\(version)”, which this engine does not read: convert the model with an "
                    + "older converter, or update the engine."
            case .invalidFeatureType(let type):
                "The model asset uses the type “\(type)” for an input or output, which can't be passed: convert the "
                    + "model with another type there."
            case .corruptedMetadata:
                "The model asset's metadata.json is corrupted: restore it, or convert the model again."
            case .invalidName:
                "The model asset names a function, input or output with a name that can't be used: convert the model "
                    + "with proper names."
            case .duplicateName:
                "The model asset gives two functions, inputs or outputs the same name: convert the model with a name "
                    + "of its own for each."
            }
        }
    }
}

extension EngineError {
    /// The error to throw out of the API: the documented one where there is one for the cause.
    var publicError: any Error {
        if case .unsupportedVersion(let found, _) = self {
            return AssetError(kind: .unsupportedVersion(found), debugMessage: description)
        }
        return self
    }
}

/// What a person sees when an error of the engine comes out of the API.
extension EngineError: LocalizedError {
    package var errorDescription: String? { description }
}
