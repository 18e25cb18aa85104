internal import CCrypto
package import EngineGraph

/// The SHA-256 that an asset keeps beside its program.
package enum AssetHash {
    static let byteCount = 32
    /// How much is hashed at once: small enough to stay in the cache.
    private static let chunk = 1 << 20

    /// The hash of the program of the asset in `folder`.
    package static func ofProgram(in folder: AssetFolder) throws(EngineError) -> [UInt8] {
        let map = try folder.map(AssetFolder.programName)
        return try unsafe sha256(UnsafeRawBufferPointer(start: map.pointer, count: map.byteCount))
    }

    /// Checks the program against the hash that the asset keeps.
    package static func verify(_ folder: AssetFolder) throws(EngineError) {
        let expected = try folder.contents(of: AssetFolder.hashName, limit: byteCount * 4)
        guard expected.count == byteCount else {
            throw EngineError.malformedAsset(
                file: AssetFolder.hashName, offset: nil,
                reason: "a hash of \(byteCount) bytes is expected, \(expected.count) are there")
        }
        let found = try ofProgram(in: folder)
        guard found == expected else {
            throw EngineError.malformedAsset(
                file: AssetFolder.programName, offset: nil,
                reason: "its SHA-256 is \(hexadecimal(found)), but \(AssetFolder.hashName) says "
                    + "\(hexadecimal(expected)): the program was changed or damaged after it was written")
        }
    }

    /// SHA-256 of `bytes`.
    static func sha256(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> [UInt8] {
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        var succeeded = unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
        var position = 0
        while succeeded, position < bytes.count {
            let count = min(chunk, bytes.count - position)
            let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
            succeeded = unsafe EVP_DigestUpdate(context, part.baseAddress, count) == 1
            position += count
        }
        var digest = [UInt8](repeating: 0, count: byteCount)
        var length: CUnsignedInt = 0
        succeeded = unsafe succeeded && EVP_DigestFinal_ex(context, &digest, &length) == 1
        guard succeeded, length == byteCount else {
            throw EngineError.system(operation: "hashing", path: AssetFolder.programName, reason: "libcrypto failed")
        }
        return digest
    }

    /// `bytes` as a person reads them.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
