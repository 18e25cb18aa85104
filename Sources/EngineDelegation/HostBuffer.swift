package import EngineGraph
package import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Memory that the host can address: allocated here, or lent by an owner that is kept alive.
///
/// `@unchecked Sendable`: the pointer never changes; who writes to what it points at, and when, is ordered by fences
/// and by the exclusivity checks of the public API.
package final class HostBuffer: @unchecked Sendable {
    /// Enough for any vector unit's aligned loads, and a cache line.
    package static let alignment = 64

    /// The most bytes that one buffer may take: this machine's memory, unless a host app sets less. The system itself
    /// promises more than it has, and ends the process that takes it at its word.
    package static let byteLimit = Atomic<Int>(max(1, sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))))

    package let pointer: UnsafeMutableRawPointer
    package let byteCount: Int
    private let owner: AnyObject?
    private let isOwned: Bool

    /// Allocates `byteCount` zero bytes; an error where there is no memory for them.
    package convenience init(byteCount: Int) throws(EngineError) {
        try self.init(uninitializedByteCount: byteCount)
        memset(pointer, 0, max(byteCount, 1))
    }

    /// Allocates `byteCount` bytes of whatever was there before: for memory that is written in full before it is read.
    package init(uninitializedByteCount byteCount: Int) throws(EngineError) {
        guard byteCount >= 0, byteCount <= Self.byteLimit.load(ordering: .relaxed) else {
            throw .outOfMemory(unit: "host", byteCount: byteCount)
        }
        var memory: UnsafeMutableRawPointer?
        // Zero bytes still get an address: empty tensors have one.
        guard posix_memalign(&memory, Self.alignment, max(byteCount, 1)) == 0, let memory else {
            throw .outOfMemory(unit: "host", byteCount: byteCount)
        }
        self.pointer = memory
        self.byteCount = byteCount
        self.owner = nil
        self.isOwned = true
    }

    /// Wraps memory that `owner` keeps valid.
    package init(lending pointer: UnsafeMutableRawPointer, byteCount: Int, owner: AnyObject?) {
        self.pointer = pointer
        self.byteCount = byteCount
        self.owner = owner
        self.isOwned = false
    }

    deinit {
        if isOwned { free(pointer) }
    }
}
