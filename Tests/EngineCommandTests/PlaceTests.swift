import CPUDelegate
import CoreAI
import EngineDelegation
import EngineGraph
import Foundation
import TestDelegate
import Testing

@testable import EngineCommand

/// What a command line printed with a fake graphics processor there that takes `ops`, or all.
func withGPU(_ ops: Set<OpKind>? = nil, _ arguments: String...) async -> Transcript {
    var options = TestOptions()
    options.id = .gpu
    options.ops = ops
    let gpu = TestDelegate(computing: CPUDelegate.shared, options)
    return await EngineUnits.$substitutes.withValue([.gpu: gpu]) { await Transcript(arguments) }
}

@Suite struct PlaceTests {
    @Test func printsATable() async {
        let result = await withGPU(nil, "place", assetFixture("debug_info"), "--unit", "gpu")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.out.contains("function main  1 computing pattern: 1 on gpu"))
        #expect(result.out.contains("= broadcasting_mul scale.py:6, relu scale.py:7, broadcasting_add scale.py:7"))
        #expect(result.out.contains("(1) cpu: gpu is preferred, and takes it"))
        #expect(result.out.contains("copied to gpu"))
        #expect(result.out.contains("peak memory of a call: 72 bytes"))
    }

    @Test func saysWhyAnOpFellBack() async {
        let result = await withGPU([.softmax], "place", assetFixture("linear_relu"), "--unit", "gpu", "--runs", "0")
        #expect(result.status == 0)
        #expect(result.out.contains("gpu: gpu does not take engine.matmul"))
        let strict = await withGPU([.softmax], "place", assetFixture("linear_relu"), "--unit", "gpu", "--strict")
        #expect(strict.status == 1 && strict.error.contains("gpu does not take engine.matmul"))
    }

    @Test func printsJSON() async throws {
        let result = await withGPU(nil, "place", assetFixture("functions"), "--unit", "gpu", "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any])
        let functions = try #require(object["functions"] as? [[String: Any]])
        #expect(functions.count > 1)
        for function in functions {
            let patterns = try #require(function["patterns"] as? [[String: Any]])
            #expect(!patterns.isEmpty)
            #expect(patterns.allSatisfy { $0["unit"] as? String == "gpu" && $0["measured_seconds"] != nil })
        }
    }

    @Test func keepsToTheBudget() async {
        let asset = assetFixture("linear_relu")
        #expect(await Transcript("place", asset, "--memory-budget", "1K").status == 0)
        let result = await Transcript("place", asset, "--memory-budget", "23")
        #expect(result.status == 1 && result.error.contains("a call takes 24 bytes, the budget is 23"))
        #expect(await Transcript("place", asset, "--memory-budget", "much").status == 2)
        #expect(await Transcript("place", asset, "--json", "--html").status == 2)
        #expect(await Transcript("place", asset, "--shape", "z=1").status == 2)
        #expect(await Transcript("place", asset, "--function", "other").status == 1)
    }

    @Test func takesDynamicSizesAndBranches() async {
        let dynamic = await Transcript("place", assetFixture("dynamic"))
        #expect(dynamic.status == 0 && dynamic.out.contains("tensor<1x1x4xf32>"))
        let shaped = await Transcript("place", assetFixture("dynamic"), "--shape", "x=2x3x4")
        #expect(shaped.out.contains("tensor<2x3x4xf32>"))
        let branches = await Transcript("place", assetFixture("cond"))
        #expect(branches.out.contains("in if 3 then:") && branches.out.contains("in if 3 else:"))
    }

    @Test func writesAPageThatNeedsNothingElse() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("page.html").path
            let result = await withGPU(
                Set(OpKind.allCases).subtracting([.scatterND]), "place", assetFixture("states"), "--unit", "gpu",
                "--html", "--output", path)
            #expect(result.status == 0 && result.out.isEmpty)
            let page = try String(contentsOfFile: path, encoding: .utf8)
            #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
            #expect(!page.contains("http") && !page.contains("src="))
            #expect(page.components(separatedBy: "data-id=").count - 1 == 16)
            #expect(page.contains("class=\"node unit-gpu\"") && page.contains("class=\"node unit-cpu\""))
        }
    }

    @Test func spellsOutMarkup() {
        #expect(HTML.text("<b a='1'>&\"") == "&lt;b a=&#39;1&#39;&gt;&amp;&quot;")
    }

    @Test func verifiesWhatRanWhere() async throws {
        try await withTemporaryFolder { folder in
            let suite = CaseSuite(folder: folder)
            try suite.add("case", asset: "described", [rectifier()])
            let good = await withGPU(
                nil, "verify", folder.path, "--unit", "gpu", "--placed-only", "--json", folder.path + "/r")
            #expect(good.status == 0, "\(good.out)")
            let text = try String(contentsOfFile: folder.path + "/r", encoding: .utf8)
            #expect(text.contains("\"unit\" : \"gpu\""))
            let bad = await withGPU([.softmax], "verify", folder.path, "--unit", "gpu", "--placed-only")
            #expect(bad.status == 1)
            #expect(bad.out.contains("FAIL case: not on gpu: relu (gpu does not take relu), unit cpu"))
            #expect(await withGPU([.softmax], "verify", folder.path, "--unit", "gpu").status == 0)
        }
    }

    @Test func tracesARun() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("trace.json").path
            let result = await withGPU(
                nil, "run", assetFixture("described"), "--unit", "gpu", "--random", "--trace", path)
            #expect(result.status == 0)
            let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
            let events = try #require((object as? [String: Any])?["traceEvents"] as? [[String: Any]])
            let categories = Set(events.compactMap { $0["cat"] as? String })
            #expect(categories.isSuperset(of: ["load", "specialize", "call", "part", "copy", "wait"]))
        }
    }
}

@Suite struct GraphLayoutTests {
    /// Every edge goes down, no two nodes overlap, all is within the picture.
    @Test func placesWhatIsRandom() {
        var state: UInt64 = 3
        func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for count in [0, 1, 2, 7, 60] {
            let nodes = (0..<count).map { GraphLayout.Node(width: $0 % 3 == 0 ? 176 : 90, height: 40) }
            let edges = (1..<max(count, 2)).flatMap { to in
                (0..<2).map { _ in (from: below(to), to: to) }
            }.filter { $0.to < count }
            let layout = GraphLayout(nodes, edges: edges)
            #expect(layout.centers.count == count)
            for edge in layout.edges {
                #expect(layout.layers[edge.from] < layout.layers[edge.to])
                #expect(layout.centers[edge.from].y < layout.centers[edge.to].y)
                #expect(edge.points.first?.x == layout.centers[edge.from].x)
                #expect(edge.points.last?.x == layout.centers[edge.to].x)
            }
            for first in nodes.indices {
                let center = layout.centers[first]
                #expect(
                    center.x - nodes[first].width / 2 >= -1e-6
                        && center.x + nodes[first].width / 2 <= layout.width + 1e-6)
                for second in nodes.indices where second > first && layout.layers[first] == layout.layers[second] {
                    let distance = abs(center.x - layout.centers[second].x)
                    #expect(distance + 1e-6 >= (nodes[first].width + nodes[second].width) / 2)
                }
            }
        }
    }

    @Test func drawsAChainAsALine() {
        let nodes = [GraphLayout.Node](repeating: .init(width: 100, height: 40), count: 500)
        let layout = GraphLayout(nodes, edges: (1..<500).map { ($0 - 1, $0) })
        #expect(Set(layout.centers.map(\.x)) == [50])
        #expect(layout.layers == Array(0..<500))
    }
}
