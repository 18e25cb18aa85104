import Foundation
import Synchronization
import Testing

@testable import EngineCommand

/// Workers that crash, hang and talk nonsense: shell scripts in the place of the engine.
@Suite struct WorkerTests {
    private func results(
        _ script: String, count: Int, jobs: Int = 1, timeLimit: Double = 60
    ) async throws -> [CaseResult] {
        try await withTemporaryFolder { folder in
            let program = folder.appendingPathComponent("worker")
            try Data("#!/bin/sh\n\(script)\n".utf8).write(to: program)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
            return await run(program.path, count: count, jobs: jobs, timeLimit: timeLimit)
        }
    }

    private func run(_ executable: String, count: Int, jobs: Int, timeLimit: Double) async -> [CaseResult] {
        let requests = (0..<count).map {
            CaseRequest(name: "case \($0)", path: "/nowhere", unit: .cpu, rtol: nil, atol: nil, placedOnly: false)
        }
        let pool = CasePool(requests, executable: executable, jobs: jobs, timeLimit: timeLimit) { _, _ in }
        await pool.run()
        return pool.results
    }

    @Test func reportsCrashesAndGoesOn() async throws {
        let results = try await results("read line; echo 'Fatal error: so it is' >&2; kill -SEGV $$", count: 4, jobs: 2)
        #expect(results.map(\.name) == ["case 0", "case 1", "case 2", "case 3"])
        for result in results {
            #expect(!result.passed)
            #expect(result.error?.hasPrefix("crashed (signal 11, ") == true)
            #expect(result.error?.hasSuffix(": Fatal error: so it is") == true)
        }
    }

    @Test func startsANewWorkerAfterACrash() async throws {
        // Answers its first request, dies at the second.
        let answer = #"{"name":"answered","passed":true,"outputs":[],"seconds":0}"#
        let results = try await results("read line; echo '\(answer)'; read line; exit 3", count: 4)
        #expect(results.map(\.passed) == [true, false, true, false])
        #expect(results[1].error == "crashed (exit status 3)")
    }

    @Test func endsWorkersThatHang() async throws {
        let start = ContinuousClock.now
        let results = try await results("exec sleep 1000", count: 2, jobs: 2, timeLimit: 0.3)
        #expect(results.map(\.error) == ["did not end within 0.3 s", "did not end within 0.3 s"])
        #expect((ContinuousClock.now - start).seconds < 900)
    }

    @Test func reportsAnswersThatAreNone() async throws {
        let results = try await results("read line; echo nonsense; read line", count: 1)
        #expect(results[0].error == "its answer can't be read")
    }

    @Test func reportsAWorkerThatCannotStart() async {
        let results = await run("/nowhere/engine", count: 2, jobs: 1, timeLimit: 60)
        #expect(results.count == 2)
        #expect(results.allSatisfy { $0.error?.contains("a worker can't start") == true })
    }
}
