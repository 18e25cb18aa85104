import Foundation
import Testing

@testable import EngineCommand

@Suite struct VerifyTests {
    private func withSuite(_ body: (CaseSuite) async throws -> Void) async throws {
        try await withTemporaryFolder { try await body(CaseSuite(folder: $0)) }
    }

    @Test func passesWhatFits() async throws {
        try await withSuite { suite in
            try suite.add("one", asset: "described", [rectifier()])
            try suite.add("group/two", asset: "described", [rectifier(error: 1e-4)])
            let result = await suite.verify("--unit", "cpu")
            #expect(result.out == "2 passed, 0 failed\n")
            #expect(result.status == 0)
        }
    }

    @Test func printsALineForACaseThatFails() async throws {
        try await withSuite { suite in
            try suite.add("good", asset: "described", [rectifier()])
            try suite.add("group/bad", asset: "described", [rectifier(error: 0.5)])
            let result = await suite.verify()
            #expect(result.status == 1)
            let lines = result.out.split(separator: "\n")
            #expect(lines.count == 2)
            #expect(
                lines[0].hasPrefix(
                    "FAIL group/bad: output y: max abs error 0.5, max rel error 0.2, PSNR 21 dB, unit cpu"))
            #expect(lines[0].contains("1 of 6 beyond rtol 0.0001 atol 1e-05, first at [1, 0]: 2.0, expected 2.5"))
            #expect(lines[1] == "1 passed, 1 failed")
        }
    }

    @Test func carriesStatesFromCallToCall() async throws {
        try await withSuite { suite in
            let first = [
                ("state_count", try integers([5])), ("expected_twice", try integers([12])),
                ("expected_state_count", try integers([6])),
            ]
            let second = [("expected_twice", try integers([14])), ("expected_state_count", try integers([7]))]
            try suite.add("right", asset: "counter", [first, second])
            try suite.add("wrong", asset: "counter", [first, first])
            try suite.add("from zero", asset: "counter", [[("expected_twice", try integers([2]))]])
            let result = await suite.verify()
            #expect(result.lastLine == "2 passed, 1 failed")
            #expect(result.out.contains("FAIL wrong: output twice"))
            #expect(result.out.contains("(call 1,"))
            #expect(result.out.contains("1 more outputs failed"))
        }
    }

    @Test func takesReferencesByOrderAndByName() async throws {
        try await withSuite { suite in
            let x = ("input_x", try floats([0], [1]))
            let values: [Float] = [0, -0.0, 1.5, -2.25, .infinity, .nan]
            let wide = try floats(values, [6])
            let half = try NumPyArray.of(values.map { Float16($0) }, .float(2), shape: [6])
            try suite.add("order", asset: "constants_float", [[x, ("expected_0", half), ("expected_2", wide)]])
            try suite.add(
                "named order", asset: "constants_float", [[x, ("expected_0", wide), ("expected_1", half)]],
                meta: #"{"outputs": ["float32", "float16"]}"#)
            try suite.add("beyond", asset: "constants_float", [[x, ("expected_4", wide)]])
            try suite.add("unknown", asset: "constants_float", [[x, ("expected_float8", wide)]])
            let result = await suite.verify()
            #expect(result.lastLine == "2 passed, 2 failed")
            #expect(result.out.contains("FAIL beyond: expected_4: there are 4 outputs"))
            #expect(result.out.contains("FAIL unknown: expected_float8: the function has no output or state"))
        }
    }

    @Test func comparesBrainFloatsAsBitsAndAsNumbers() async throws {
        try await withSuite { suite in
            let x = ("input_x", try floats([0], [1]))
            let values: [Float] = [0, -0.0, 1.5, -2.25, .infinity, .nan]
            let bits = values.map { UInt16(truncatingIfNeeded: $0.bitPattern >> 16) }
            try suite.add(
                "as numbers", asset: "constants_float", [[x, ("expected_bfloat16", try floats(values, [6]))]])
            for (name, type) in [("as integers", NumPyType.uint(2)), ("as raw bytes", .raw(2))] {
                try suite.add(
                    name, asset: "constants_float",
                    [[x, ("expected_bfloat16", try NumPyArray.of(bits, type, shape: [6]))]])
            }
            try suite.add(
                "of another output", asset: "constants_float",
                [[x, ("expected_float32", try NumPyArray.of(bits, .raw(2), shape: [6]))]])
            try suite.add(
                "of another output, said so", asset: "constants_float",
                [[x, ("expected_float32", try NumPyArray.of(bits, .raw(2), shape: [6]))]],
                meta: #"{"dtypes": {"float32": "bfloat16"}}"#)
            let result = await suite.verify()
            #expect(result.lastLine == "4 passed, 1 failed")
            #expect(result.out.contains("FAIL of another output: expected_float32: |V2 can't be compared with Float32"))
        }
    }

    @Test func putsTheCommandLineAboveTheCaseAndTheCaseAboveTheType() async throws {
        try await withSuite { suite in
            try suite.add("case", asset: "described", [rectifier(error: 0.01)], meta: #"{"rtol": 0.01}"#)
            #expect(await suite.verify().status == 0)
            #expect(await suite.verify("--rtol", "0.001").status == 1)
            #expect(await suite.verify("--rtol", "0", "--atol", "0.02").status == 0)
            try suite.write(#"{"rtol": 0.001}"#, to: "case/meta.json")
            #expect(await suite.verify().status == 1)
            #expect(await suite.verify("--rtol", "0.01").status == 0)
        }
    }

    @Test func wantsTheErrorThatIsExpected() async throws {
        try await withSuite { suite in
            let expectsError = #"{"expect": "error"}"#
            let wide = [("input_x", try NumPyArray.of([0.0], .float(8), shape: [1]))]
            try suite.add("does not load", asset: "metal", [], meta: expectsError)
            try suite.add("wrong shape", asset: "described", [[("input_x", try floats([1], [1]))]], meta: expectsError)
            try suite.add("wrong type", asset: "constants_float", [wide], meta: expectsError)
            try suite.add("no input", asset: "described", [[]], meta: expectsError)
            try suite.add("runs", asset: "described", [rectifier()], meta: expectsError)
            try suite.add("no model", asset: nil, [], meta: expectsError)
            let result = await suite.verify()
            #expect(result.lastLine == "4 passed, 2 failed")
            #expect(result.out.contains("FAIL runs: an error is expected, but it runs, unit cpu"))
            #expect(result.out.contains("FAIL no model:"))
        }
    }

    @Test func letsNoBrokenCaseStopTheRest() async throws {
        try await withSuite { suite in
            try suite.add("a good", asset: "described", [rectifier()])
            try suite.add("b no model", asset: nil, [rectifier()])
            try suite.add("c no arrays", asset: "described", [rectifier()])
            try suite.write("this is no archive", to: "c no arrays/case_0.npz")
            try suite.add("d meta", asset: "described", [rectifier()], meta: "{\"rtol\": \"much\"}")
            try suite.add("e gap", asset: "described", [rectifier(), rectifier(), rectifier()])
            try FileManager.default.removeItem(at: suite.folder.appendingPathComponent("e gap/case_1.npz"))
            try suite.add(
                "f shape", asset: "described",
                [
                    [
                        ("input_x", try floats([1, 1, 1, 1, 1, 1], [2, 3])),
                        ("expected_y", try floats([1, 1, 1, 1, 1, 1], [3, 2])),
                    ]
                ])
            try suite.add("g function", asset: "described", [rectifier()], meta: #"{"function": "other"}"#)
            try suite.add("h good", asset: "described", [rectifier()])
            let result = await suite.verify("--jobs", "3")
            #expect(result.lastLine == "2 passed, 6 failed")
            #expect(result.status == 1)
            let lines = result.out.split(separator: "\n").map(String.init)
            #expect(lines.count == 7)
            // In the order of the folders, whoever was done first.
            #expect(lines.dropLast() == lines.dropLast().sorted())
            #expect(lines[1].contains("no archive ends here"))
            #expect(lines[2].contains("meta.json: 'rtol'"))
            #expect(lines[3].contains("without a gap"))
            #expect(lines[4].contains("the shape is [2, 3], expected is [3, 2]"))
            #expect(lines[5].contains("no function 'other'"))
        }
    }

    @Test func fallsBackAndSaysSo() async throws {
        try await withSuite { suite in
            try suite.add("case", asset: "described", [rectifier()])
            guard !ComputeUnit.gpu.isAvailable else { return }
            let result = await suite.verify("--unit", "gpu")
            #expect(result.status == 0)
            #expect(result.error.contains("no gpu"))
            let placed = await suite.verify("--unit", "gpu", "--placed-only")
            #expect(placed.status == 1)
            #expect(placed.out.contains("FAIL case: not on gpu: relu"))
            #expect(await suite.verify("--unit", "cpu", "--placed-only").status == 0)
        }
    }

    @Test func writesEveryResultAsJSON() async throws {
        try await withSuite { suite in
            try suite.add("good", asset: "described", [rectifier()])
            try suite.add("bad", asset: "described", [rectifier(error: 0.5)])
            let path = suite.folder.appendingPathComponent("report.json").path
            _ = await suite.verify("--json", path)
            let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
            let report = try #require(object as? [String: Any])
            #expect(report["passed"] as? Int == 1 && report["failed"] as? Int == 1)
            let cases = try #require(report["cases"] as? [[String: Any]])
            #expect(cases.map { $0["name"] as? String } == ["bad", "good"])
            let outputs = try #require(cases[0]["outputs"] as? [[String: Any]])
            #expect(outputs[0]["max_abs"] as? Double == 0.5)
            #expect(cases[0]["unit"] as? String == "cpu")
        }
    }

    @Test func failsWhereThereIsNoCase() async throws {
        try await withSuite { suite in
            let result = await suite.verify()
            #expect(result.status == 1)
            #expect(result.error.contains("there is no case below"))
        }
        #expect(await Transcript("verify", "/nowhere").status == 1)
        #expect(await Transcript("verify").status == 2)
        #expect(await Transcript("verify", ".", "--unit", "tpu").status == 2)
    }

    @Test func survivesLinksThatGoRound() async throws {
        try await withSuite { suite in
            try suite.add("case", asset: "described", [rectifier()])
            try FileManager.default.createSymbolicLink(
                atPath: suite.folder.appendingPathComponent("round").path, withDestinationPath: suite.folder.path)
            #expect(await suite.verify().out == "1 passed, 0 failed\n")
        }
    }
}
