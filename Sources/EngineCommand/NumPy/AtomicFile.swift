import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file that is written beside its place and renamed into it: readers see the old one or the whole new one.
final class AtomicFile {
    private let path: String
    private let temporaryPath: String
    private var descriptor: Int32
    private(set) var byteCount = 0

    init(_ path: String) throws(CommandError) {
        self.path = path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw .failure("\(path): there is a folder of this name")
        }
        let url = URL(fileURLWithPath: path)
        let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
        let name = ".\(url.lastPathComponent).\(suffix).tmp"
        temporaryPath = url.deletingLastPathComponent().appendingPathComponent(name).path
        descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .failure("\(path): \(systemMessage())") }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(temporaryPath)
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(CommandError) {
        var problem: String?
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = systemWrite(descriptor, buffer.baseAddress! + done, buffer.count - done)
                if count < 0, errno == EINTR { continue }
                if count < 0 {
                    problem = systemMessage()
                    return
                }
                done += count
            }
        }
        if let problem { throw .failure("\(path): \(problem)") }
        byteCount += bytes.count
    }

    /// Puts the file in its place.
    func commit() throws(CommandError) {
        let result = close(descriptor)
        descriptor = -1
        guard result == 0, rename(temporaryPath, path) == 0 else {
            let message = systemMessage()
            unlink(temporaryPath)
            throw .failure("\(path): \(message)")
        }
    }
}
