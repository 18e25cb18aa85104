internal import EngineGraph

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A file, mapped read-only for as long as this object lives.
///
/// `@unchecked Sendable`: nothing writes through the pointer, and the map ends with the last reference.
@safe package final class MappedFile: @unchecked Sendable {
    /// The first byte.
    package let pointer: UnsafeRawPointer
    package let byteCount: Int

    /// Maps the whole of an open file; `path` is for errors. The descriptor may be closed afterwards.
    init(descriptor: CInt, byteCount: Int, path: String) throws(EngineError) {
        let address = unsafe mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw EngineError.system(operation: "mapping", path: path, reason: systemReason(errno))
        }
        unsafe pointer = UnsafeRawPointer(address)
        self.byteCount = byteCount
    }

    deinit { unsafe munmap(UnsafeMutableRawPointer(mutating: pointer), byteCount) }

    var reader: ByteReader { unsafe ByteReader(base: pointer, count: byteCount) }
}

/// What the system says about an error number.
func systemReason(_ number: CInt) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
}
