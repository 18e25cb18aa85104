import CoreAI
import Foundation
import Testing

@Suite struct ExecutionTraceTests {
    /// A run on a fake unit, recorded.
    private func recorded() async throws -> ExecutionTrace {
        let trace = ExecutionTrace()
        let gpu = fakeGPU()
        let x = NDArray(scalars: [Float](repeating: 1, count: 8), shape: [2, 4])
        try await EngineUnits.$substitutes.withValue([.gpu: gpu]) {
            try await trace.record {
                let options = SpecializationOptions(preferredComputeUnitKind: .gpu)
                let model = try await AIModel(contentsOf: AssetFixtures.url("linear_relu"), options: options)
                let function = try #require(try model.loadFunction(named: "main"))
                _ = try await function.run(inputs: ["x": x])
            }
        }
        return trace
    }

    @Test func recordsEveryPhaseOnItsTrack() async throws {
        let events = try await recorded().events
        #expect(Set(events.map(\.kind)) == ["load", "specialize", "setup", "call", "part", "copy", "wait"])
        let part = try #require(events.first { $0.kind == "part" })
        #expect(part.track == "gpu")
        #expect(events.filter { $0.kind == "copy" }.map(\.track) == ["gpu", "gpu"])
        let call = try #require(events.first { $0.kind == "call" })
        #expect(call.track == "host")
        #expect(call.start <= part.start && part.start + part.duration <= call.start + call.duration)
        // One thing at a time on a device.
        let device = events.filter { $0.track == "gpu" }
        for (first, second) in zip(device, device.dropFirst()) {
            #expect(first.start + first.duration <= second.start + 1e-9)
        }
    }

    @Test func writesTheFormatOfTraceViewers() async throws {
        let data = try await recorded().chromeTrace()
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let events = try #require(object["traceEvents"] as? [[String: Any]])
        let names = events.filter { $0["name"] as? String == "thread_name" }.compactMap { event in
            (event["args"] as? [String: String])?["name"]
        }
        #expect(names == ["host", "gpu"])
        let spans = events.filter { $0["ph"] as? String == "X" }
        #expect(spans.count >= 8)
        for span in spans {
            #expect((span["ts"] as? Double ?? -1) >= 0 && (span["dur"] as? Double ?? -1) >= 0)
            #expect((span["tid"] as? Int ?? 0) > 0)
        }
    }

    @Test func recordsNothingOutside() async throws {
        let trace = ExecutionTrace()
        trace.record {}
        let model = try await AIModel(contentsOf: AssetFixtures.url("linear_relu"), options: .cpuOnly)
        _ = try model.loadFunction(named: "main")
        #expect(trace.events.isEmpty)
    }
}
