import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A regular file, read piece by piece at given places.
final class FileReader {
    let path: String
    let byteCount: Int
    private let descriptor: Int32

    init(_ path: String) throws(CommandError) {
        // Without the flag, opening a pipe would wait for its writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .failure("\(path): \(systemMessage())") }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .failure("\(path): this is no regular file")
        }
        self.path = path
        self.descriptor = descriptor
        self.byteCount = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// The `count` bytes from `offset` on; an error where the file has not as many.
    func read(offset: Int, count: Int) throws(CommandError) -> [UInt8] {
        guard offset >= 0, count >= 0, offset <= byteCount, count <= byteCount - offset else {
            throw .failure("\(path): bytes \(offset) to \(offset &+ count) lie outside the file (\(byteCount) bytes)")
        }
        var problem: String?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let done = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
                if done < 0, errno == EINTR { continue }
                if done <= 0 {
                    problem = done < 0 ? systemMessage() : "the file has become shorter"
                    return
                }
                filled += done
            }
        }
        if let problem { throw .failure("\(path): \(problem)") }
        return bytes
    }
}

/// What the last failed system call says.
func systemMessage() -> String { String(cString: strerror(errno)) }

/// The system's `write`, under a name that methods called `write` don't hide.
func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
