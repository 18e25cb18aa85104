import Foundation

/// Genuine assets, and copies of them that a test may change.
enum AssetFixtures {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/assets")

    static let names: [String] = {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return entries.filter { $0.hasSuffix(".aimodel") }.map { String($0.dropLast(8)) }.sorted()
    }()

    static func url(_ name: String) -> URL { folder.appending(path: name + ".aimodel") }

    /// Runs `body` with a folder of its own that is removed afterwards.
    static func withTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "asset-tests-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// Runs `body` with a copy of the asset `name`.
    static func withCopy<Result>(of name: String, _ body: (URL) throws -> Result) throws -> Result {
        try withTemporaryFolder { folder in
            let copy = folder.appending(path: name + ".aimodel")
            try FileManager.default.copyItem(at: url(name), to: copy)
            return try body(copy)
        }
    }
}
