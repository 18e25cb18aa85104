internal import EngineAsset
internal import EngineGraph
public import Foundation

/// A model asset as it is on disk, not specialized for any device.
///
/// Use it to look into a model, to read or change what it says about itself, and to check that a URL is a model at
/// all. It can't run: load an ``AIModel`` for that.
public struct AIModelAsset {
    /// The folder that holds the asset.
    public let url: URL

    /// What the asset says about itself.
    public private(set) var metadata: Metadata

    /// Whether `url` is a model asset: a file URL with a known extension whose folder holds a program, or what a
    /// compiler made of one.
    public static func isValid(at url: URL) -> Bool {
        guard url.isFileURL, knownExtensions.contains(url.pathExtension) else { return false }
        let folder = AssetFolder(path: url.fileSystemPath)
        return folder.holds(AssetFolder.programName) || !folder.derivedArtifacts.isEmpty
    }

    /// Opens the asset in the folder at `url`.
    ///
    /// - Throws: ``AssetError`` where the metadata is corrupted or of a version that this engine does not read; the
    ///   system's error where the folder can't be read.
    public init(contentsOf url: URL) throws {
        let folder = try Self.folder(url)
        self.url = url
        metadata = try MetadataFile(in: folder).metadata()
    }

    /// What the asset's program holds, or nil where the asset has no program.
    ///
    /// The signatures of the functions are always there; the numbers of constants and operations are counted only if
    /// `includingStatistics` says so. O(*n*) in the number of operations either way.
    public func summary(includingStatistics: Bool) throws -> Summary? {
        let folder = try Self.folder(url)
        guard folder.hasEntry(AssetFolder.programName) else { return nil }
        do {
            return Summary(try AssetReader.readProgram(in: folder), includingStatistics: includingStatistics)
        } catch {
            throw error.publicError
        }
    }

    /// Changes what the asset says about itself, on disk and here.
    ///
    /// `updates` gets what the disk holds now. The file is replaced in one step, and everything in it that `updates`
    /// does not change stays as it is. If `updates` throws, nothing changes.
    public mutating func updateMetadata(_ updates: (inout Metadata) throws -> Void) throws {
        let folder = try Self.folder(url)
        metadata = try folder.locked {
            var file = try MetadataFile(in: folder)
            let old = try file.metadata()
            var new = old
            try updates(&new)
            try file.apply(new, over: old)
            try folder.replace(AssetFolder.metadataName, with: file.bytes)
            return new
        }
    }

    /// Removes what compilers made of the program and left in the asset; the program and everything else stays.
    ///
    /// - Throws: an error, before anything is removed, if the asset would be left without any program.
    public mutating func removeDerivedArtifacts() throws {
        let folder = try Self.folder(url)
        let artifacts = folder.derivedArtifacts
        guard !artifacts.isEmpty else { return }
        guard folder.holds(AssetFolder.programName) else {
            throw EngineError.system(
                operation: "removing the derived artifacts of", path: folder.path,
                reason: "the asset has no program to derive them from again")
        }
        for name in artifacts {
            try FileManager.default.removeItem(atPath: folder.path(of: name))
        }
    }

    private static let knownExtensions: Set<String> = ["aimodel", "aimodelc"]

    private static func folder(_ url: URL) throws -> AssetFolder {
        guard url.isFileURL else {
            throw EngineError.system(
                operation: "opening the asset", path: url.absoluteString, reason: "it is no file URL")
        }
        let folder = AssetFolder(path: url.fileSystemPath)
        try folder.check()
        return folder
    }
}

extension AssetFolder {
    /// The names of what compilers made of the program, in order.
    var derivedArtifacts: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { name in
            AssetFolder.derivedExtensions.contains { name.hasSuffix("." + $0) && name.utf8.count > $0.utf8.count + 1 }
        }.sorted()
    }
}

extension URL {
    /// The path for the system's calls, without escapes.
    var fileSystemPath: String { path(percentEncoded: false) }
}
