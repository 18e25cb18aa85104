package import EngineGraph

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension AssetFolder {
    /// Runs `body` while no other process or thread that asks does the same on this folder.
    package func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let folder = try openFolder()
        // Closing the folder gives the lock back.
        defer { close(folder) }
        while flock(folder, LOCK_EX) != 0 {
            guard errno == EINTR else {
                throw EngineError.system(operation: "locking", path: path, reason: systemReason(errno))
            }
        }
        return try body()
    }

    /// Replaces the file `name` in one step: whoever reads it sees the old contents or the new ones, also after a
    /// power failure.
    package func replace(_ name: String, with bytes: [UInt8]) throws(EngineError) {
        let folder = try openFolder()
        defer { close(folder) }
        let temporary = ".\(name).\(getpid()).\(UInt64.random(in: .min ... .max))"
        let descriptor = unsafe openat(
            folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o644))
        guard descriptor >= 0 else {
            throw EngineError.system(operation: "writing", path: path(of: name), reason: systemReason(errno))
        }
        var failure = Self.write(bytes, to: descriptor)
        if failure == nil, fsync(descriptor) != 0 { failure = errno }
        if close(descriptor) != 0, failure == nil { failure = errno }
        if failure == nil, unsafe renameat(folder, temporary, folder, name) != 0 { failure = errno }
        if let failure {
            unsafe unlinkat(folder, temporary, 0)
            throw EngineError.system(operation: "writing", path: path(of: name), reason: systemReason(failure))
        }
        // The new name has to reach the disk too; a file system that can't do that has no better way.
        _ = fsync(folder)
    }

    /// Writes all of `bytes`; answers the system's error number where it fails.
    private static func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt? {
        var written = 0
        while written < bytes.count {
            let start = written
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe systemWrite(descriptor, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            written += count
        }
        return nil
    }

    private static func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.write(descriptor, bytes, count)
        #elseif canImport(Musl)
            unsafe Musl.write(descriptor, bytes, count)
        #else
            unsafe Darwin.write(descriptor, bytes, count)
        #endif
    }
}
