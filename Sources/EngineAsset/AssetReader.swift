package import EngineGraph

/// Reads the program of an asset: a version-checked decoder of MLIR bytecode with the converter's dialect.
///
/// Whatever the bytes hold, reading ends in a program or an error. Constants stay in the map of the file.
package enum AssetReader {
    /// The newest date of an op set that this engine reads: the ninth of April 2026.
    package static let newestVersion = 20_260_409

    /// The program of the asset in the folder at `path`.
    package static func readProgram(at path: String) throws(EngineError) -> Program {
        try readProgram(in: AssetFolder(path: path))
    }

    package static func readProgram(in folder: AssetFolder) throws(EngineError) -> Program {
        let map = try folder.map(AssetFolder.programName)
        return try ProgramDecoder.program(BytecodeContainer(map.reader, owner: map))
    }

    /// The program in `bytes`, which must stay valid and unchanged while `owner` lives.
    @unsafe package static func readProgram(
        bytes: UnsafeRawBufferPointer, owner: AnyObject
    ) throws(EngineError) -> Program {
        guard let base = bytes.baseAddress else {
            throw EngineError.malformedAsset(file: AssetFolder.programName, offset: 0, reason: "the file is empty")
        }
        let reader = unsafe ByteReader(base: base, count: bytes.count)
        return try ProgramDecoder.program(BytecodeContainer(reader, owner: owner))
    }

    /// The program in a copy of `bytes`.
    package static func readProgram(bytes: [UInt8]) throws(EngineError) -> Program {
        let copy = ByteCopy(bytes)
        return try unsafe readProgram(bytes: copy.buffer, owner: copy)
    }
}

/// Bytes at an address that does not change.
@safe private final class ByteCopy {
    let buffer: UnsafeRawBufferPointer

    init(_ bytes: [UInt8]) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 64)
        unsafe memory.copyBytes(from: bytes)
        unsafe buffer = UnsafeRawBufferPointer(memory)
    }

    deinit { unsafe buffer.deallocate() }
}
