package import EngineGraph

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An asset's folder on disk: opens its files by their fixed names, and nothing that a link in it points to.
package struct AssetFolder: Sendable {
    package static let programName = "main.mlirb"
    package static let hashName = "main.hash"
    package static let metadataName = "metadata.json"
    /// What a compiler makes of a program has one of these extensions; the second is this engine's own.
    package static let derivedExtensions: Set<String> = ["odix", "specialized"]

    package let path: String

    package init(path: String) { self.path = path }

    package func path(of name: String) -> String { path + (path.hasSuffix("/") ? "" : "/") + name }

    /// Whether the folder holds a regular file `name`.
    package func holds(_ name: String) -> Bool {
        var status = stat()
        guard unsafe lstat(path(of: name), &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether the folder holds anything called `name`.
    package func hasEntry(_ name: String) -> Bool {
        var status = stat()
        return unsafe lstat(path(of: name), &status) == 0
    }

    /// Maps the file `name`, which must not be empty.
    package func map(_ name: String) throws(EngineError) -> MappedFile {
        let (descriptor, byteCount) = try open(name)
        defer { close(descriptor) }
        guard byteCount > 0 else {
            throw EngineError.malformedAsset(file: name, offset: 0, reason: "the file is empty")
        }
        return try MappedFile(descriptor: descriptor, byteCount: byteCount, path: path(of: name))
    }

    /// The contents of the file `name`, which may have at most `limit` bytes.
    package func contents(of name: String, limit: Int) throws(EngineError) -> [UInt8] {
        let (descriptor, byteCount) = try open(name)
        defer { close(descriptor) }
        guard byteCount <= limit else {
            throw EngineError.malformedAsset(
                file: name, offset: nil, reason: "the file has \(byteCount) bytes; at most \(limit) are read")
        }
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var filled = 0
        while filled < byteCount {
            let start = filled
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress.map { unsafe $0 + start }, byteCount - start)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let reason = count == 0 ? "the file shrank" : systemReason(errno)
                throw EngineError.system(operation: "reading", path: path(of: name), reason: reason)
            }
            filled += count
        }
        return bytes
    }

    /// Checks that the folder can be opened.
    package func check() throws(EngineError) { close(try openFolder()) }

    /// A descriptor of the folder itself, which the caller closes.
    func openFolder() throws(EngineError) -> CInt {
        let folder = Self.systemOpen(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            throw EngineError.system(operation: "opening the asset", path: path, reason: systemReason(errno))
        }
        return folder
    }

    /// A descriptor of the regular file `name` and its size.
    private func open(_ name: String) throws(EngineError) -> (descriptor: CInt, byteCount: Int) {
        let folder = try openFolder()
        defer { close(folder) }
        // Not following links keeps an asset from naming files outside of it; not blocking, a pipe from hanging us.
        let descriptor = unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            let reason =
                errno == ELOOP
                ? "it is a symbolic link; an asset's files must lie in its own folder" : systemReason(errno)
            throw EngineError.system(operation: "opening", path: path(of: name), reason: reason)
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw EngineError.system(
                operation: "opening", path: path(of: name), reason: "it is not a regular file")
        }
        return (descriptor, Int(status.st_size))
    }

    /// `open`, by a name that this type's own function does not hide.
    private static func systemOpen(_ path: String, _ flags: CInt) -> CInt {
        #if canImport(Glibc)
            unsafe Glibc.open(path, flags)
        #elseif canImport(Musl)
            unsafe Musl.open(path, flags)
        #else
            unsafe Darwin.open(path, flags)
        #endif
    }
}
