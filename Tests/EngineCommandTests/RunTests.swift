import EngineGraph
import Foundation
import Testing

@testable import EngineCommand

@Suite struct RunTests {
    @Test func savesWhatItComputes() async throws {
        try await withTemporaryFolder { folder in
            let input = folder.appendingPathComponent("x.npy").path
            let output = folder.appendingPathComponent("y.npz").path
            try NumPyFile.write(floats([-1, 0, 1, 2, -3, 4], [2, 3]), to: input)
            let result = await Transcript("run", assetFixture("described"), "--input", "x=\(input)", "--output", output)
            #expect(result.status == 0)
            #expect(result.out == "y  Float32 2 × 3\n[[0 0 1]\n [2 0 4]]\n")
            let saved = try NumPyArchive(output).array("y")
            #expect(saved.type == .float(4) && saved.shape == [2, 3])
            #expect(saved.numbers(asStored: .float32) == .reals([0, 0, 1, 2, 0, 4]))
        }
    }

    @Test func takesArraysOfArchives() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("in.npz").path
            let other = try floats([9, 9, 9, 9, 9, 9], [2, 3])
            try NumPyArchive.write([("other", other), ("x", try floats([1, 2, 3, 4, 5, 6], [2, 3]))], to: path)
            #expect(await Transcript("run", assetFixture("described"), "--input", "x=\(path)").out.contains("[[1 2 3]"))
            let named = await Transcript("run", assetFixture("described"), "--input", "x=\(path):other")
            #expect(named.out.contains("[[9 9 9]"))
            let missing = await Transcript("run", assetFixture("described"), "--input", "x=\(path):none")
            #expect(missing.status == 1 && missing.error.contains("no array 'none'"))
        }
    }

    @Test func convertsWhatLosesNothing() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("count.npy").path
            try NumPyFile.write(.of([Int64(40)], .int(8), shape: [1]), to: path)
            let result = await Transcript("run", assetFixture("counter"), "--state", "count=\(path)", "--repeat", "2")
            #expect(result.error.contains("state 'count': int64 taken as int32"))
            #expect(result.out.contains("twice  Int32 1\n[84]\nstate_count  Int32 1\n[42]"))
            #expect(result.out.contains("first call"))
            try NumPyFile.write(.of([Int64(1) << 40], .int(8), shape: [1]), to: path)
            let tooLarge = await Transcript("run", assetFixture("counter"), "--state", "count=\(path)")
            #expect(tooLarge.status == 1 && tooLarge.error.contains("don't all fit Int32"))
            try NumPyFile.write(.of([1.5], .float(8), shape: [1]), to: path)
            #expect(await Transcript("run", assetFixture("counter"), "--state", "count=\(path)").status == 1)
        }
    }

    @Test func makesTheSameNumbersFromTheSameSeed() async {
        func run(_ seed: String) async -> String {
            await Transcript("run", assetFixture("described"), "--random", "--seed", seed).out
        }
        #expect(await run("1") == run("1"))
        #expect(await run("1") != run("2"))
    }

    @Test func savesEveryTypeAsNumPyHasIt() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("out.npz").path
            let expected = [
                "constants_float": ["float16": "<f2", "bfloat16": "<u2", "float32": "<f4", "float64": "<f8"],
                "constants_sub_byte": ["int2": "|i1", "uint2": "|u1", "int4": "|i1", "uint4": "|u1"],
                "constants_small_float": ["float8_e4m3fn": "|u1", "float4_e2m1fn": "|u1"],
                "constants_integer": ["int64": "<i8", "bool": "|b1", "uint16": "<u2"],
            ]
            for (asset, types) in expected {
                let result = await Transcript("run", assetFixture(asset), "--random", "--output", path)
                #expect(result.status == 0, "\(asset): \(result.error)")
                let archive = try NumPyArchive(path)
                for (name, type) in types { #expect(try archive.array(name).type.descriptor == type) }
            }
            // The bits of a float of 4 bits: 0.5 is code 1.
            _ = await Transcript("run", assetFixture("constants_small_float"), "--random", "--output", path)
            let codes = try NumPyArchive(path).array("float4_e2m1fn")
            #expect(codes.bytes.allSatisfy { $0 < 16 })
        }
    }

    @Test func asksForWhatIsNotGiven() async {
        let missing = await Transcript("run", assetFixture("described"))
        #expect(missing.status == 2)
        #expect(missing.error.contains("input 'x' is not given") && missing.error.contains("--input x=FILE.npy"))
        let dynamic = await Transcript("run", assetFixture("dynamic"), "--random")
        #expect(dynamic.status == 2 && dynamic.error.contains("add --shape x=1x1x4"))
        let wrong = await Transcript("run", assetFixture("dynamic"), "--random", "--shape", "x=1x1x5")
        #expect(wrong.status == 2 && wrong.error.contains("x' is ?x?x4"))
        let huge = await Transcript("run", assetFixture("dynamic"), "--random", "--shape", "x=4294967296x4294967296x4")
        #expect(huge.status == 1 && huge.error.contains("more than this machine's memory"))
        let unknown = await Transcript("run", assetFixture("described"), "--input", "z=a.npy")
        #expect(unknown.status == 2 && unknown.error.contains("no input 'z'") && unknown.error.contains("it has x"))
        let function = await Transcript("run", assetFixture("described"), "--function", "f", "--random")
        #expect(function.status == 1 && function.error.contains("it has main"))
        #expect(await Transcript("run", assetFixture("described"), "--seed", "1").status == 2)
        #expect(await Transcript("run", assetFixture("described"), "--random", "--repeat", "0").status == 2)
    }

    @Test func runsDynamicShapes() async {
        let result = await Transcript("run", assetFixture("dynamic"), "--random", "--shape", "x=2x3x4")
        #expect(result.status == 0, "\(result.error)")
        #expect(result.out.hasPrefix("y  Float32 2 × 3 × 3\n"))
    }
}
