import Foundation
import Testing

@testable import EngineCommand

@Suite struct MeasureTests {
    @Test func benchTellsEverythingAsJSON() async throws {
        let result = await Transcript("bench", assetFixture("counter"), "--unit", "cpu", "--iterations", "20", "--json")
        #expect(result.status == 0)
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: Any])
        #expect(report["runs"] as? Int == 20)
        #expect(report["unit"] as? String == "cpu")
        let latency = try #require(report["latency_ms"] as? [String: Double])
        #expect(Set(latency.keys) == ["min", "p50", "p90", "p99", "mean"])
        #expect(latency["min"]! > 0 && latency["min"]! <= latency["p50"]! && latency["p50"]! <= latency["p99"]!)
        for key in ["throughput_per_s", "load_ms", "specialize_ms", "peak_bytes"] {
            #expect(try #require(report[key] as? Double) > 0)
        }
    }

    @Test func benchStopsInTime() async {
        let start = ContinuousClock.now
        let result = await Transcript("bench", assetFixture("counter"), "--seconds", "0.05")
        #expect(result.out.contains("p50"))
        #expect((ContinuousClock.now - start).seconds < 20)
    }

    @Test func percentilesAreNearestRanks() throws {
        let latency = try #require(Latency((1...100).map(Double.init).shuffled()))
        #expect(latency.min == 1 && latency.p50 == 50 && latency.p90 == 90 && latency.p99 == 99)
        #expect(latency.mean == 50.5)
        #expect(try #require(Latency([7])).p99 == 7)
        #expect(Latency([]) == nil)
    }

    @Test func devicesTellsWhyUnitsAreAbsent() async throws {
        let result = await Transcript("devices", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(result.out.utf8)) as? [String: [[String: Any]]]
        let units = try #require(object?["units"])
        #expect(units.map { $0["unit"] as? String } == ["cpu", "gpu", "accelerator"])
        for unit in units where unit["available"] as? Bool == false { #expect(unit["reason"] is String) }
        let cpu = try #require(units[0]["properties"] as? [String: String])
        #expect(cpu["blas"]?.contains("OpenBLAS") == true)
        #expect(["AVX-512", "AVX2", "portable"].contains(cpu["vectors"]))
    }

    @Test(arguments: ["inspect", "run", "verify", "bench", "devices", "demo"])
    func everySubcommandExplainsItself(name: String) async {
        let help = await Transcript("help", name)
        #expect(help.status == 0)
        #expect(help.out.contains("usage: engine \(name)") && help.out.contains("example"))
        #expect(await Transcript(name, "--help").out == help.out)
        #expect(help.out.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }
}
