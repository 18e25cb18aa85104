import CoreAI
import Foundation
import Testing

/// The summaries of genuine assets, against those that coreai-core computes.
@Suite struct AssetSummaryTests {
    struct Expected: Decodable {
        struct Function: Decodable {
            var inputs: [[String]]
            var outputs: [[String]]
            var states: [[String]]
        }

        struct Count: Decodable, Equatable {
            var name: String
            var count: Int

            init(_ name: String, _ count: Int) {
                self.name = name
                self.count = count
            }

            init(from decoder: any Decoder) throws {
                var values = try decoder.unkeyedContainer()
                name = try values.decode(String.self)
                count = try values.decode(Int.self)
            }
        }

        var functions: [String: Function]
        var storageTypes: [Count]
        var computeTypes: [String]
        var operationDistribution: [Count]
    }

    static let expected: [String: Expected] = {
        let file = AssetFixtures.folder.appending(path: "summaries.json")
        guard let data = try? Data(contentsOf: file) else { return [:] }
        return (try? JSONDecoder().decode([String: Expected].self, from: data)) ?? [:]
    }()

    @Test func everyFixtureHasAnExpectation() {
        #expect(Set(Self.expected.keys) == Set(AssetFixtures.names))
        #expect(AssetFixtures.names.count >= 25)
    }

    @Test(arguments: AssetFixtures.names)
    func summaryIsThatOfTheConverter(_ name: String) throws {
        let expected = try #require(Self.expected[name])
        let asset = try AIModelAsset(contentsOf: AssetFixtures.url(name))
        let summary = try #require(try asset.summary(includingStatistics: true))

        #expect(Set(summary.functions.map(\.name)) == Set(expected.functions.keys))
        for function in summary.functions {
            let signature = try #require(expected.functions[function.name])
            #expect(function.inputs.map { [$0.name, $0.typeName] } == signature.inputs)
            #expect(function.outputs.map { [$0.name, $0.typeName] } == signature.outputs)
            #expect(function.states.map { [$0.name, $0.typeName] } == signature.states)
        }
        #expect(summary.storageTypes.map { Expected.Count($0.typeName, $0.count) } == expected.storageTypes)
        #expect(summary.computeTypes == expected.computeTypes)
        #expect(
            summary.operationDistribution.map { Expected.Count($0.operationName, $0.count) }
                == expected.operationDistribution)
    }

    @Test func withoutStatisticsOnlySignaturesAreThere() throws {
        let asset = try AIModelAsset(contentsOf: AssetFixtures.url("functions"))
        let summary = try #require(try asset.summary(includingStatistics: false))
        #expect(summary.functions.map(\.name) == ["encode", "score", "main"])
        #expect(summary.storageTypes.isEmpty)
        #expect(summary.computeTypes.isEmpty)
        #expect(summary.operationDistribution.isEmpty)
    }

    @Test func withoutAProgramThereIsNoSummary() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            try FileManager.default.removeItem(at: url.appending(path: "main.mlirb"))
            let asset = try AIModelAsset(contentsOf: url)
            #expect(try asset.summary(includingStatistics: true) == nil)
        }
    }

    @Test func aDamagedProgramIsAnErrorThatNamesTheFile() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            let program = url.appending(path: "main.mlirb")
            try Data(contentsOf: program).prefix(500).write(to: program)
            let asset = try AIModelAsset(contentsOf: url)
            let error = #expect(throws: (any Error).self) { try asset.summary(includingStatistics: true) }
            #expect(error?.localizedDescription.contains("main.mlirb is malformed") == true)
        }
    }

    @Test func aNewerProgramIsAnUnsupportedVersion() throws {
        try AssetFixtures.withCopy(of: "linear_relu") { url in
            let program = url.appending(path: "main.mlirb")
            var bytes = try Data(contentsOf: program)
            // The bytecode's version follows the magic number.
            bytes[4] = 7 << 1 | 1
            try bytes.write(to: program)
            let asset = try AIModelAsset(contentsOf: url)
            let error = #expect(throws: AssetError.self) { try asset.summary(includingStatistics: false) }
            guard case .unsupportedVersion(let version)? = error?.kind else {
                Issue.record("another kind: \(String(describing: error))")
                return
            }
            #expect(version == "bytecode version 7")
            #expect(error?.localizedDescription.contains("bytecode version 7") == true)
        }
    }
}
