internal import EngineAsset
internal import EngineGraph
internal import Foundation

/// An asset's `metadata.json`: read as ``AIModelAsset/Metadata``, and changed without touching what it does not know.
struct MetadataFile {
    private static let byteLimit = 16 << 20
    private static let assetVersion = "2.0"
    /// The part of a version that has to be the same.
    private static let majorVersion = "2"

    private enum Key {
        static let assetVersion = "assetVersion"
        static let author = "author"
        static let license = "license"
        static let description = "description"
        static let creationDate = "creationDate"
        static let creatorDefined = "creatorDefinedMetadata"
    }

    private var root: JSON

    /// Reads the file of the asset in `folder`; an asset without one says nothing about itself.
    init(in folder: AssetFolder) throws {
        guard folder.hasEntry(AssetFolder.metadataName) else {
            root = .object([JSON.Member(Key.assetVersion, .string(Self.assetVersion))])
            return
        }
        let bytes = try folder.contents(of: AssetFolder.metadataName, limit: Self.byteLimit)
        do {
            root = try JSON(parsing: bytes, file: AssetFolder.metadataName)
        } catch {
            throw Self.corrupted(error.description)
        }
        guard case .object = root else { throw Self.corrupted("it holds no JSON object") }
        guard let version = root[Key.assetVersion]?.string else {
            throw Self.corrupted("it lacks the text '\(Key.assetVersion)'")
        }
        guard version.prefix(while: { $0 != "." }) == Self.majorVersion else {
            throw AssetError(
                kind: .unsupportedVersion(version),
                debugMessage: "the asset's format has version \(version); this engine reads \(Self.majorVersion).x")
        }
    }

    var bytes: [UInt8] { Array((root.text + "\n").utf8) }

    private static func corrupted(_ reason: String) -> AssetError {
        AssetError(kind: .corruptedMetadata, debugMessage: reason)
    }

    // MARK: Reading

    func metadata() throws -> AIModelAsset.Metadata {
        var metadata = AIModelAsset.Metadata()
        metadata.author = root[Key.author]?.string ?? ""
        metadata.license = root[Key.license]?.string ?? ""
        metadata.description = root[Key.description]?.string ?? ""
        metadata.creationDate = root[Key.creationDate]?.string.flatMap(AssetDate.date)
        if case .object(let members)? = root[Key.creatorDefined] {
            for member in members {
                metadata.creatorDefinedMetadata[member.key] = try Self.value(member.value, member.key)
            }
        }
        return metadata
    }

    private static func value(
        _ json: JSON, _ path: String
    ) throws -> AIModelAsset.Metadata.CreatorDefinedValue {
        switch json {
        case .null: throw corrupted("\(Key.creatorDefined).\(path) is null")
        case .bool(let value): return .bool(value)
        case .string(let value): return .string(value)
        case .number(let text):
            if let value = Int(text) { return .integer(value) }
            guard let value = Double(text), value.isFinite else {
                throw corrupted("\(Key.creatorDefined).\(path) is a number out of range: \(text)")
            }
            return .number(value)
        case .array(let elements):
            return .array(try elements.enumerated().map { try value($0.element, "\(path)[\($0.offset)]") })
        case .object(let members):
            var entries: [String: AIModelAsset.Metadata.CreatorDefinedValue] = [:]
            for member in members { entries[member.key] = try value(member.value, "\(path).\(member.key)") }
            return .dictionary(entries)
        }
    }

    // MARK: Changing

    /// Writes into the file what `new` says differently from `old`.
    mutating func apply(_ new: AIModelAsset.Metadata, over old: AIModelAsset.Metadata) throws {
        if new.author != old.author { root.set(Key.author, .string(new.author)) }
        if new.license != old.license { root.set(Key.license, .string(new.license)) }
        if new.description != old.description { root.set(Key.description, .string(new.description)) }
        if new.creationDate != old.creationDate {
            root.set(Key.creationDate, new.creationDate.map { .string(AssetDate.text($0)) })
        }
        guard new.creatorDefinedMetadata != old.creatorDefinedMetadata else { return }
        guard !new.creatorDefinedMetadata.isEmpty else { return root.set(Key.creatorDefined, nil) }
        var entries = root[Key.creatorDefined] ?? .object([])
        if case .object = entries {} else { entries = .object([]) }
        for key in old.creatorDefinedMetadata.keys where new.creatorDefinedMetadata[key] == nil {
            entries.set(key, nil)
        }
        for (key, value) in new.creatorDefinedMetadata.sorted(by: { $0.key < $1.key })
        where value != old.creatorDefinedMetadata[key] {
            entries.set(key, try Self.json(value, key))
        }
        root.set(Key.creatorDefined, entries)
    }

    private static func json(_ value: AIModelAsset.Metadata.CreatorDefinedValue, _ path: String) throws -> JSON {
        switch value {
        case .string(let value): return .string(value)
        case .integer(let value): return JSON(value)
        case .bool(let value): return .bool(value)
        case .number(let number):
            guard let json = JSON(number) else {
                throw corrupted("\(Key.creatorDefined).\(path) would be \(number), which JSON can't hold")
            }
            return json
        case .array(let elements):
            return .array(try elements.enumerated().map { try json($0.element, "\(path)[\($0.offset)]") })
        case .dictionary(let entries):
            return .object(
                try entries.sorted { $0.key < $1.key }.map {
                    JSON.Member($0.key, try json($0.value, "\(path).\($0.key)"))
                })
        }
    }
}
