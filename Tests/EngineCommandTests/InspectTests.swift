import Foundation
import Testing

@testable import EngineCommand

@Suite struct InspectTests {
    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func showsFunctionsStatesAndMetadata() async {
        let result = await Transcript("inspect", assetFixture("states"))
        #expect(result.status == 0)
        #expect(result.out.contains("function main"))
        #expect(result.out.contains("input   position  NDArray (Int32, 1)"))
        #expect(result.out.contains("state   keys      NDArray (Float32, 1 × 2 × 8 × 4)"))
        #expect(result.out.contains("output  sum       NDArray (Float32, 1 × 2 × 4)"))
        #expect(result.out.contains("producer     coreai-core"))
        #expect(!result.out.contains("operations"))
    }

    @Test func agreesWithTheConvertersSummary() async throws {
        let text = try Data(contentsOf: repository.appendingPathComponent("Tests/Fixtures/assets/summaries.json"))
        let summaries = try #require(try JSONSerialization.jsonObject(with: text) as? [String: [String: Any]])
        #expect(summaries.count > 20)
        for (name, summary) in summaries {
            let report = try json(await Transcript("inspect", assetFixture(name), "--stats", "--json").out)
            let statistics = try #require(report["statistics"] as? [String: Any])
            let counts = try #require(statistics["operation_distribution"] as? [[String: Any]])
            let found = counts.map { [$0["name"] as? String ?? "", "\($0["count"] as? Int ?? -1)"] }
            let expected = try #require(summary["operationDistribution"] as? [[Any]])
            #expect(found == expected.map { $0.map { "\($0)" } }, "\(name)")
            #expect(statistics["compute_types"] as? [String] == summary["computeTypes"] as? [String], "\(name)")

            let functions = try #require(report["functions"] as? [[String: Any]])
            let signatures = try #require(summary["functions"] as? [String: [String: [[String]]]])
            #expect(Set(functions.compactMap { $0["name"] as? String }) == Set(signatures.keys), "\(name)")
            for function in functions {
                let signature = signatures[function["name"] as? String ?? ""]
                for kind in ["inputs", "states", "outputs"] {
                    let values = try #require(function[kind] as? [[String: String]])
                    #expect(values.map { [$0["name"] ?? "", $0["type"] ?? ""] } == signature?[kind], "\(name)")
                }
            }
        }
    }

    @Test func tellsMetadataAsJSON() async throws {
        let report = try json(await Transcript("inspect", assetFixture("described"), "--json").out)
        let metadata = try #require(report["metadata"] as? [String: Any])
        #expect(metadata["count"] as? Int == 3)
        #expect(metadata["labels"] as? [String] == ["zero", "one"])
        #expect(metadata["sure"] as? Bool == true)
        #expect(report["license"] as? String == "CC0-1.0")
        #expect(report["asset_version"] as? String == "2.0")
    }

    @Test func printsTheProgram() async {
        let short = await Transcript("inspect", assetFixture("debug_info"), "--ir")
        #expect(short.out.hasPrefix("program"))
        #expect(short.out.contains("graph @main"))
        let long = await Transcript("inspect", assetFixture("debug_info"), "--decompositions", "--locations")
        #expect(long.out.count > short.out.count)
        #expect(long.out.contains("loc("))
        #expect(await Transcript("inspect", assetFixture("debug_info"), "--ir", "--json").status == 2)
    }

    @Test func checksTheHashWhereItIsAsked() async throws {
        let good = await Transcript("inspect", assetFixture("counter"), "--verify-hash")
        #expect(good.out.contains("matches the program"))
        try await withTemporaryFolder { folder in
            let asset = folder.appendingPathComponent("changed.aimodel")
            try FileManager.default.copyItem(atPath: assetFixture("counter"), toPath: asset.path)
            try Data(repeating: 0, count: 32).write(to: asset.appendingPathComponent("main.hash"))
            #expect(await Transcript("inspect", asset.path).status == 0)
            let bad = await Transcript("inspect", asset.path, "--verify-hash")
            #expect(bad.status == 1)
            #expect(bad.error.contains("SHA-256"))
        }
    }

    @Test func spellsControlCharactersOut() async throws {
        try await withTemporaryFolder { folder in
            let asset = folder.appendingPathComponent("odd.aimodel")
            try FileManager.default.copyItem(atPath: assetFixture("counter"), toPath: asset.path)
            let metadata = #"{"assetVersion": "2.0", "author": "a\u001b[31mred\nline", "description": "größe"}"#
            try Data(metadata.utf8).write(to: asset.appendingPathComponent("metadata.json"))
            let result = await Transcript("inspect", asset.path)
            #expect(result.out.contains("author       a\\u{1b}[31mred line\n"))
            #expect(result.out.contains("description  größe\n"))
        }
    }

    @Test func saysWhatIsMissing() async {
        let result = await Transcript("inspect", "/nowhere.aimodel")
        #expect(result.status == 1)
        #expect(result.error.contains("/nowhere.aimodel"))
        #expect(await Transcript("inspect").status == 2)
    }
}
