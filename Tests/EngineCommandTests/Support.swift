import EngineDelegation
import Foundation

@testable import EngineCommand

/// The folder of this repository.
let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// Files that NumPy wrote.
func numPyFixture(_ name: String) -> String {
    repository.appendingPathComponent("Tests/Fixtures/numpy/\(name)").path
}

/// The asset `name` among the fixtures.
func assetFixture(_ name: String) -> String {
    repository.appendingPathComponent("Tests/Fixtures/assets/\(name).aimodel").path
}

/// A folder that is there while `body` runs.
func withTemporaryFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("engine-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

/// What a command line printed, and its exit status.
struct Transcript {
    var status: Int32
    var out: String
    var error: String

    /// Runs `engine` with `arguments` in this process.
    init(_ arguments: String...) async { await self.init(arguments) }

    init(_ arguments: [String]) async {
        let texts = Texts()
        let console = Console(
            out: { text in texts.out.withLock { $0 += text } }, error: { text in texts.error.withLock { $0 += text } })
        status = await EngineCommand.run(arguments, console)
        out = texts.out.withLock { $0 }
        error = texts.error.withLock { $0 }
    }

    private final class Texts: Sendable {
        let out = Locked("")
        let error = Locked("")
    }

    var lastLine: String { out.split(separator: "\n").last.map(String.init) ?? "" }
}

extension NumPyArray {
    /// A row-major array of `values`, as `type`'s little-endian bytes.
    static func of<T: BitwiseCopyable>(_ values: [T], _ type: NumPyType, shape: [Int]) throws -> NumPyArray {
        try NumPyArray(type: type, shape: shape, bytes: values.withUnsafeBytes { Array($0) }[...])
    }
}
