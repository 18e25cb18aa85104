import CoreAI
import Foundation
import Testing

@Suite struct AssetMetadataTests {
    typealias Value = AIModelAsset.Metadata.CreatorDefinedValue

    @Test func everythingThatAConverterWritesIsRead() throws {
        let metadata = try AIModelAsset(contentsOf: AssetFixtures.url("described")).metadata
        #expect(metadata.author == "The fixtures' author")
        #expect(metadata.license == "CC0-1.0")
        #expect(metadata.description == "A rectifier, described in full: “quotes”, \\ and ünïcode.")
        #expect(metadata.creationDate == Date(timeIntervalSince1970: 1_767_225_600))
        #expect(
            metadata.creatorDefinedMetadata == [
                "labels": ["zero", "one"], "ratio": 0.5, "nested": ["list": [7, [2, 3]], "empty": [:]], "count": 3,
                "sure": true,
            ])
        #expect(metadata["count", Int.self] == 3)
        #expect(metadata["count", Double.self] == 3)
        #expect(metadata["ratio", Double.self] == 0.5)
        #expect(metadata["ratio", Int.self] == nil)
        #expect(metadata["sure", Bool.self] == true)
        #expect(metadata["sure", Int.self] == nil)
        #expect(metadata["labels", [Value].self] == ["zero", "one"])
        #expect(metadata["nested", [String: Value].self]?["empty"] == [:])
        #expect(metadata["missing", String.self] == nil)
    }

    @Test func changesReachTheDiskAndComeBack() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            let date = Date(timeIntervalSince1970: 951_782_399)  // 2000-02-28 23:59:59
            var asset = try AIModelAsset(contentsOf: url)
            try asset.updateMetadata { metadata in
                metadata.author = "Zoë \"q\"/\\ \u{1}\u{1F600}"
                metadata.license = "MIT"
                metadata.description = "line 1\nline 2"
                metadata.creationDate = date
                metadata["text"] = "value"
                metadata["count"] = 3
                metadata["whole"] = 2.0
                metadata["sure"] = false
                metadata["list"] = [1, 2.5, "x", false, [:]]
                metadata["tree"] = ["leaf": ["deeper": -1e300]]
            }
            let again = try AIModelAsset(contentsOf: url).metadata
            for metadata in [asset.metadata, again] {
                #expect(metadata.author == "Zoë \"q\"/\\ \u{1}\u{1F600}")
                #expect(metadata.license == "MIT")
                #expect(metadata.description == "line 1\nline 2")
                #expect(metadata.creationDate == date)
                #expect(
                    metadata.creatorDefinedMetadata == [
                        "text": "value", "count": .integer(3), "whole": .number(2), "sure": false,
                        "list": [1, 2.5, "x", false, [:]], "tree": ["leaf": ["deeper": -1e300]],
                    ])
            }
            try asset.updateMetadata { metadata in
                metadata["text", String.self] = nil
                metadata.creationDate = nil
            }
            let last = try AIModelAsset(contentsOf: url).metadata
            #expect(last["text", String.self] == nil)
            #expect(last["count", Int.self] == 3)
            #expect(last.creationDate == nil)
            let files = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
            #expect(files == ["main.hash", "main.mlirb", "metadata.json"])
        }
    }

    @Test func whatTheEngineDoesNotKnowStays() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            let file = url.appending(path: "metadata.json")
            let text = """
                {"later" : [1.50, {"a" : null}], "assetVersion" : "2.7", "creationDate" : "some day", "author" : 3,
                 "creatorDefinedMetadata" : {"old" : 1e2, "gone" : true}}
                """
            try Data(text.utf8).write(to: file)
            var asset = try AIModelAsset(contentsOf: url)
            #expect(asset.metadata.author == "")
            #expect(asset.metadata.creationDate == nil)
            try asset.updateMetadata { metadata in
                metadata.license = "Apache-2.0"
                metadata["gone", Bool.self] = nil
            }
            let written = try String(contentsOf: file, encoding: .utf8).filter { !$0.isWhitespace }
            #expect(
                written
                    == #"{"later":[1.50,{"a":null}],"assetVersion":"2.7","creationDate":"someday","author":3,"#
                    + #""creatorDefinedMetadata":{"old":1e2},"license":"Apache-2.0"}"#)
        }
    }

    @Test func aChangeByAnotherIsNotLost() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            var first = try AIModelAsset(contentsOf: url)
            var second = try AIModelAsset(contentsOf: url)
            try first.updateMetadata { $0.author = "first" }
            try second.updateMetadata { $0.license = "second" }
            #expect(second.metadata.author == "first")
            let metadata = try AIModelAsset(contentsOf: url).metadata
            #expect(metadata.author == "first")
            #expect(metadata.license == "second")
        }
    }

    @Test func aThrowingUpdateChangesNothing() throws {
        struct Refused: Error {}
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            let file = url.appending(path: "metadata.json")
            let before = try Data(contentsOf: file)
            var asset = try AIModelAsset(contentsOf: url)
            #expect(throws: Refused.self) {
                try asset.updateMetadata { metadata in
                    metadata.author = "nobody"
                    throw Refused()
                }
            }
            #expect(throws: AssetError.self) { try asset.updateMetadata { $0["bad"] = Double.infinity } }
            #expect(asset.metadata.author == "")
            #expect(asset.metadata["bad", Double.self] == nil)
            #expect(try Data(contentsOf: file) == before)
        }
    }

    @Test func anAssetWithoutMetadataGetsItsFile() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            try FileManager.default.removeItem(at: url.appending(path: "metadata.json"))
            var asset = try AIModelAsset(contentsOf: url)
            #expect(asset.metadata.author == "")
            #expect(asset.metadata.creatorDefinedMetadata.isEmpty)
            try asset.updateMetadata { $0.author = "somebody" }
            #expect(try AIModelAsset(contentsOf: url).metadata.author == "somebody")
        }
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"assetVersion": 2}"#,
        #"{"assetVersion": "2.0", "creatorDefinedMetadata": {"a": null}}"#,
        #"{"assetVersion": "2.0", "creatorDefinedMetadata": {"a": [1e400]}}"#, #"{"assetVersion": "2.0"} x"#,
        #"{"assetVersion": "2.0", "a": 01}"#, "{\"assetVersion\": \"2.0\", \"a\": \"\u{1}\"}",
        String(repeating: "[", count: 100_000),
    ])
    func corruptedMetadataIsSaidToBe(_ text: String) throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            try Data(text.utf8).write(to: url.appending(path: "metadata.json"))
            let error = #expect(throws: AssetError.self) { try AIModelAsset(contentsOf: url) }
            guard case .corruptedMetadata? = error?.kind else {
                Issue.record("another kind: \(String(describing: error))")
                return
            }
            #expect(error?.debugMessage?.isEmpty == false)
        }
    }

    @Test(arguments: ["1.0", "3.0", "20", ""])
    func anotherMajorVersionIsUnsupported(_ version: String) throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            try Data("{\"assetVersion\": \"\(version)\"}".utf8).write(to: url.appending(path: "metadata.json"))
            let error = #expect(throws: AssetError.self) { try AIModelAsset(contentsOf: url) }
            guard case .unsupportedVersion(let found)? = error?.kind else {
                Issue.record("another kind: \(String(describing: error))")
                return
            }
            #expect(found == version)
        }
    }

    @Test func hugeMetadataIsRefused() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            let file = try FileHandle(forWritingTo: url.appending(path: "metadata.json"))
            try file.truncate(atOffset: 1 << 30)
            try file.close()
            #expect(throws: (any Error).self) { try AIModelAsset(contentsOf: url) }
        }
    }

    @Test func valuesDescribeThemselves() {
        let value: Value = ["b": [1, 2.5, true], "a": "text", "c": [:]]
        #expect(value.description == "[a: text, b: [1, 2.5, true], c: [:]]")
        #expect(Value("x") == .string("x"))
        #expect(Value(1) == .integer(1))
        #expect(Value(1.0) == .number(1))
        #expect(Value(true) == .bool(true))
        #expect(Value([Value(1)]) == .array([1]))
        #expect(Value(["k": Value(1)]) == .dictionary(["k": 1]))
    }
}
