import CoreAI
import Foundation
import Testing

@Suite struct AssetFolderTests {
    private static func make(_ folder: URL, _ name: String, files: [String]) throws -> URL {
        let url = folder.appending(path: name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for file in files { try Data("x".utf8).write(to: url.appending(path: file)) }
        return url
    }

    @Test func validityIsThatOfTheFolder() throws {
        for name in AssetFixtures.names { #expect(AIModelAsset.isValid(at: AssetFixtures.url(name)), "\(name)") }
        try AssetFixtures.withTemporaryFolder { folder in
            func isValid(_ name: String, _ files: [String]) throws -> Bool {
                AIModelAsset.isValid(at: try Self.make(folder, name, files: files))
            }
            #expect(try isValid("a.aimodel", ["main.mlirb"]))
            #expect(try isValid("b.aimodelc", ["main.mlirb"]))
            #expect(try isValid("c.aimodelc", ["main.specialized"]))
            #expect(try isValid("d.aimodel", ["gpu.odix"]))
            #expect(try !isValid("e.aimodel", []))
            #expect(try !isValid("f.aimodel", ["metadata.json", "odix", ".odix"]))
            #expect(try !isValid("g.mlpackage", ["main.mlirb"]))
            #expect(try !isValid("plain", ["main.mlirb"]))
            #expect(!AIModelAsset.isValid(at: folder.appending(path: "missing.aimodel")))
            let file = folder.appending(path: "file.aimodel")
            try Data().write(to: file)
            #expect(!AIModelAsset.isValid(at: file))
        }
        #expect(!AIModelAsset.isValid(at: URL(string: "https://example.com/a.aimodel")!))
    }

    @Test func pathsWithOddCharactersWork() throws {
        try AssetFixtures.withTemporaryFolder { folder in
            let url = folder.appending(path: "ä b%20c#d.aimodel")
            try FileManager.default.copyItem(at: AssetFixtures.url("linear_relu"), to: url)
            #expect(AIModelAsset.isValid(at: url))
            var asset = try AIModelAsset(contentsOf: url)
            try asset.updateMetadata { $0.author = "somebody" }
            #expect(try AIModelAsset(contentsOf: url).metadata.author == "somebody")
            #expect(try asset.summary(includingStatistics: false)?.functions.count == 1)
        }
    }

    @Test func whatIsNoFolderIsAnErrorThatNamesIt() throws {
        let missing = URL(filePath: "/missing/model.aimodel")
        let error = #expect(throws: (any Error).self) { try AIModelAsset(contentsOf: missing) }
        #expect(error?.localizedDescription.contains("/missing/model.aimodel") == true)
        #expect(throws: (any Error).self) {
            try AIModelAsset(contentsOf: URL(string: "https://example.com/a.aimodel")!)
        }
    }

    @Test func onlyDerivedArtifactsAreRemoved() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            let kept = ["main.debuginfo", "main.hash", "main.mlirb", "metadata.json", "notes.txt", "odix"]
            for file in ["a.odix", "cpu.specialized", "main.debuginfo", "notes.txt", "odix"] {
                try Data("x".utf8).write(to: url.appending(path: file))
            }
            let folder = url.appending(path: "gpu.odix")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("x".utf8).write(to: folder.appending(path: "part"))
            var asset = try AIModelAsset(contentsOf: url)
            try asset.removeDerivedArtifacts()
            #expect(try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() == kept)
            try asset.removeDerivedArtifacts()
        }
    }

    @Test func removingALinkLeavesWhatItPointsTo() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            let outside = url.deletingLastPathComponent().appending(path: "outside")
            try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
            try Data("x".utf8).write(to: outside.appending(path: "precious"))
            try FileManager.default.createSymbolicLink(
                at: url.appending(path: "a.odix"), withDestinationURL: outside)
            var asset = try AIModelAsset(contentsOf: url)
            try asset.removeDerivedArtifacts()
            #expect(FileManager.default.fileExists(atPath: outside.appending(path: "precious").path))
            #expect(try !FileManager.default.contentsOfDirectory(atPath: url.path).contains("a.odix"))
        }
    }

    @Test func theLastOfAnAssetIsNotRemoved() throws {
        try AssetFixtures.withTemporaryFolder { folder in
            let url = try Self.make(folder, "a.aimodelc", files: ["main.specialized"])
            var asset = try AIModelAsset(contentsOf: url)
            #expect(throws: (any Error).self) { try asset.removeDerivedArtifacts() }
            #expect(AIModelAsset.isValid(at: url))
        }
    }

    @Test func metadataBehindALinkIsNotRead() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            let file = url.appending(path: "metadata.json")
            let outside = url.deletingLastPathComponent().appending(path: "outside.json")
            try FileManager.default.moveItem(at: file, to: outside)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: outside)
            #expect(throws: (any Error).self) { try AIModelAsset(contentsOf: url) }
        }
    }

    @Test func errorsSayWhatToDo() {
        let kinds: [AssetError.Kind] = [
            .unsupportedVersion("9.1"), .invalidFeatureType("Token"), .corruptedMetadata, .invalidName,
            .duplicateName,
        ]
        for kind in kinds {
            let error = AssetError(kind: kind, debugMessage: "the details")
            #expect(error.localizedDescription.contains("the details"))
            #expect(AssetError(kind: kind, debugMessage: nil).localizedDescription.hasSuffix("."))
        }
        #expect(AssetError(kind: kinds[0], debugMessage: nil).localizedDescription.contains("9.1"))
        #expect(AssetError(kind: kinds[1], debugMessage: nil).localizedDescription.contains("Token"))
    }
}
