import EngineAsset
import EngineGraph
import Foundation
import Testing

/// What lies on disk: hashes, links, files that are no files, and very large ones.
@Suite struct FileTests {
    /// Runs `body` with a copy of the fixture `linear_relu`.
    private static func withCopy<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "asset-files-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = folder.appending(path: "model.aimodel")
        try FileManager.default.copyItem(at: URL(filePath: Fixtures.path("linear_relu")), to: copy)
        return try body(copy)
    }

    private func error(_ folder: URL) -> EngineError? {
        do throws(EngineError) {
            _ = try AssetReader.readProgram(at: folder.path)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Hash

    @Test(arguments: Fixtures.names)
    func theHashOfEveryFixtureIsRight(_ name: String) throws {
        try AssetHash.verify(AssetFolder(path: Fixtures.path(name)))
    }

    @Test func aChangedProgramDoesNotMatchItsHash() throws {
        try Self.withCopy { folder in
            let asset = AssetFolder(path: folder.path)
            let expected = AssetHash.hexadecimal(try asset.contents(of: AssetFolder.hashName, limit: 64))
            let program = folder.appending(path: "main.mlirb")
            var bytes = try Data(contentsOf: program)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: program)
            let found = AssetHash.hexadecimal(try AssetHash.ofProgram(in: asset))
            let error = #expect(throws: EngineError.self) { try AssetHash.verify(asset) }
            #expect(found != expected && found.count == 64)
            #expect(error?.description.contains(expected) == true)
            #expect(error?.description.contains(found) == true)
        }
    }

    @Test func aHashOfAnotherLengthIsAnError() throws {
        try Self.withCopy { folder in
            let file = folder.appending(path: "main.hash")
            for data in [Data(), Data(count: 31), Data(count: 33), Data(count: 100_000)] {
                try data.write(to: file)
                #expect(throws: EngineError.self) { try AssetHash.verify(AssetFolder(path: folder.path)) }
            }
            try FileManager.default.removeItem(at: file)
            #expect(throws: EngineError.self) { try AssetHash.verify(AssetFolder(path: folder.path)) }
        }
    }

    // MARK: Links and other things

    @Test func aProgramBehindALinkIsNotRead() throws {
        try Self.withCopy { folder in
            let program = folder.appending(path: "main.mlirb")
            let outside = folder.deletingLastPathComponent().appending(path: "outside.mlirb")
            try FileManager.default.moveItem(at: program, to: outside)
            try FileManager.default.createSymbolicLink(at: program, withDestinationURL: outside)
            #expect(error(folder)?.description.contains("symbolic link") == true)
            #expect(!AssetFolder(path: folder.path).holds(AssetFolder.programName))
        }
    }

    @Test func anAssetBehindALinkIsRead() throws {
        try Self.withCopy { folder in
            let link = folder.deletingLastPathComponent().appending(path: "link.aimodel")
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
            #expect(error(link) == nil)
        }
    }

    @Test(.timeLimit(.minutes(1))) func whatIsNoRegularFileIsNotRead() throws {
        try Self.withCopy { folder in
            let program = folder.appending(path: "main.mlirb")
            try FileManager.default.removeItem(at: program)
            #expect(error(folder)?.description.contains("main.mlirb") == true)

            try FileManager.default.createDirectory(at: program, withIntermediateDirectories: false)
            #expect(error(folder)?.description.contains("not a regular file") == true)
            try FileManager.default.removeItem(at: program)

            #expect(mkfifo(program.path, 0o600) == 0)
            #expect(error(folder)?.description.contains("not a regular file") == true)
            try FileManager.default.removeItem(at: program)

            try Data().write(to: program)
            #expect(error(folder)?.description.contains("empty") == true)
        }
        #expect(error(URL(filePath: "/missing.aimodel")) != nil)
    }

    // MARK: Size

    // A process of its own, so that no other test's memory is counted.
    @Test func aGigabyteIsMappedAndNotRead() async {
        await #expect(processExitsWith: .success) {
            try FileTests.withCopy { folder in
                let byteCount = 1 << 30
                try FileTests.writeSparseProgram(folder.appending(path: "main.mlirb"), byteCount: byteCount)

                let before = FileTests.privateMemory()
                var program = Program(graphs: [])
                var times: [Duration] = []
                for _ in 0..<3 {
                    times.append(
                        try ContinuousClock().measure { program = try AssetReader.readProgram(at: folder.path) })
                }
                let after = FileTests.privateMemory()
                #expect(times.min() ?? .seconds(1) < .milliseconds(50))
                if let before, let after { #expect(after - before < 20 << 20) }
                guard case .constant(let weights)? = program.graphs.first?.body.ops.first?.attributes else {
                    Issue.record("the constant is missing")
                    return
                }
                #expect(weights.byteCount == byteCount)
                #expect(UInt(bitPattern: weights.pointer) % 4096 == 0)
                #expect(weights.pointer.load(fromByteOffset: byteCount - 1, as: UInt8.self) == 0)
            }
        }
    }

    /// The memory that is this process's alone, in bytes; nil where the system does not say.
    private static func privateMemory() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("Private_Dirty:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
    }

    /// Writes a program with one constant, whose bytes are a hole in the file: nothing is stored for them.
    private static func writeSparseProgram(_ url: URL, byteCount: Int) throws {
        var writer = ProgramWriter()
        let type = writer.tensor([Int64(byteCount / 4)], 6)
        let attribute = writer.resource(byteCount: byteCount, alignment: 4096)
        let constant = writer.op(.init("primitive.constant_v1", properties: [UInt64(attribute)], results: [type]))
        let output = writer.op(.init("dataflow.output_v1", operands: [0]))
        let function = writer.function(writer.region(values: 1, [constant, output]))
        let (head, tail) = writer.parts([function])

        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(head))
        try file.seek(toOffset: UInt64(head.count + byteCount))
        try file.write(contentsOf: Data(tail))
        try file.close()
    }
}
