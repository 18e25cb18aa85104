import Foundation

/// The genuine assets that the tests read.
enum Fixtures {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/assets")

    static let names: [String] = {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return entries.filter { $0.hasSuffix(".aimodel") }.map { String($0.dropLast(8)) }.sorted()
    }()

    static func path(_ name: String) -> String { folder.appending(path: name + ".aimodel").path }

    static func program(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: path(name)).appending(path: "main.mlirb")))
    }
}
