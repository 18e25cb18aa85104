import EngineGraph
import Foundation
import Testing

@testable import EngineCommand

@Suite struct ArchiveTests {
    @Test func readsWhatItWrites() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("a.npz").path
            let floats = try NumPyArray.of([1.5, -2, 3, 4] as [Float], .float(4), shape: [2, 2])
            let scalar = try NumPyArray.of([UInt8(1)], .bool, shape: [])
            let empty = try NumPyArray(type: .int(8), shape: [0, 5], bytes: [])
            try NumPyArchive.write([("x", floats), ("größe/y", scalar), ("empty", empty)], to: path)
            let archive = try NumPyArchive(path)
            #expect(archive.names == ["x", "größe/y", "empty"])
            #expect(try archive.array("x").numbers(asStored: .float32) == .reals([1.5, -2, 3, 4]))
            #expect(try archive.array("größe/y").numbers(asStored: .bool) == .integers([1]))
            #expect(try archive.array("empty").shape == [0, 5])
            // Nothing is left of the file that was renamed.
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.npz"])
        }
    }

    @Test func replacesAFileOnlyWhenTheNewOneIsWhole() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("a.npz").path
            let one = try NumPyArray.of([Int32(1)], .int(4), shape: [1])
            try NumPyArchive.write([("x", one)], to: path)
            var writer: ZipWriter? = try ZipWriter(path)
            try writer?.add("half.npy", [[1, 2, 3]])
            writer = nil
            #expect(try NumPyArchive(path).names == ["x"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.npz"])
        }
    }

    @Test func saysWhereItCannotWrite() {
        #expect { try AtomicFile("/nowhere/at/all.npz") } throws: { "\($0)".contains("/nowhere/at/all.npz") }
    }

    @Test func survivesEveryCut() async throws {
        let bytes = try contents("zip64.npz")
        try await withTemporaryFolder { folder in
            for count in 0..<bytes.count {
                let path = folder.appendingPathComponent("cut.npz").path
                try Data(bytes[..<count]).write(to: URL(fileURLWithPath: path))
                #expect(throws: CommandError.self) { try NumPyArchive(path).array("x") }
            }
        }
    }

    @Test func survivesEveryChangedByte() async throws {
        let bytes = try contents("zip64.npz")
        let right = try NumPyArchive(numPyFixture("zip64.npz")).array("x").bytes
        try await withTemporaryFolder { folder in
            for position in bytes.indices {
                for value in [0, 0x7F, 0xFF] as [UInt8] where bytes[position] != value {
                    var changed = bytes
                    changed[position] = value
                    let path = folder.appendingPathComponent("changed.npz").path
                    try Data(changed).write(to: URL(fileURLWithPath: path))
                    // An error, or the right contents where the byte means nothing: never wrong contents.
                    if let array = try? NumPyArchive(path).array("x") { #expect(array.bytes == right) }
                }
            }
        }
    }

    @Test func refusesSizesThatCannotBe() throws {
        let packed: [UInt8] = [0x03, 0x00]
        #expect(try Inflate.unpack(packed, byteCount: 0) == [])
        #expect { try Inflate.unpack(packed, byteCount: 1 << 40) } throws: { "\($0)".contains("declared") }
        #expect { try Inflate.unpack(packed, byteCount: 5) } throws: { "\($0)".contains("0 are packed") }
        #expect { try Inflate.unpack([0xFF, 0xFF], byteCount: 5) } throws: { "\($0)".contains("corrupt") }
        #expect { try Inflate.unpack([], byteCount: 5) } throws: { "\($0)".contains("corrupt") }
    }

    @Test func refusesMoreThanTheDeclaredSize() throws {
        let file = try FileReader(numPyFixture("deflated.npz"))
        let entry = try #require(try ZipDirectory.read(file).first { $0.name == "large.npy" })
        let header = LittleEndianBytes(try file.read(offset: entry.headerOffset, count: 30))
        let offset = entry.headerOffset + 30 + header.uint16(26) + header.uint16(28)
        let packed = try file.read(offset: offset, count: entry.compressedByteCount)
        #expect(try Inflate.unpack(packed, byteCount: entry.byteCount).count == entry.byteCount)
        #expect { try Inflate.unpack(packed, byteCount: entry.byteCount - 1) } throws: {
            "\($0)".contains("more is packed")
        }
    }

    private func contents(_ name: String) throws -> [UInt8] {
        let file = try FileReader(numPyFixture(name))
        return try file.read(offset: 0, count: file.byteCount)
    }
}
