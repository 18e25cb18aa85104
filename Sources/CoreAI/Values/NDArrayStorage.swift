import EngineDelegation
import EngineGraph
import Synchronization

/// The memory of an array, shared by its copies until one of them is written to.
///
/// `@unchecked Sendable`: `buffer` is replaced only by the one array that holds the storage, inside a mutation of
/// that array.
final class NDArrayStorage: @unchecked Sendable {
    /// Writable only where nobody else holds it; `isKnownUniquelyReferenced` needs a variable.
    private var buffer: HostBuffer
    /// Where the first element begins, in bits from the buffer's start. Whole bytes, unless the elements are packed.
    let bitOffset: Int
    /// Memory that must not be written: a model's constant, a mapped file.
    private let isReadOnly: Bool
    /// Whether the memory is lent to a collection of mutable views: nobody else may touch it until it is given back.
    private let lent = Atomic<Bool>(false)

    init(_ buffer: HostBuffer, bitOffset: Int = 0, isReadOnly: Bool = false) {
        self.buffer = buffer
        self.bitOffset = bitOffset
        self.isReadOnly = isReadOnly
    }

    /// New memory for a layout: zeros, unless the caller writes to all of it before anybody reads.
    convenience init(_ layout: ArrayLayout, bitWidth: Int, isZeroed: Bool = true) {
        let buffer = Self.allocate(layout.byteCount(bitWidth: bitWidth), isZeroed: isZeroed)
        self.init(buffer, bitOffset: -layout.reach.lowerBound * bitWidth)
    }

    static func allocate(_ byteCount: Int, isZeroed: Bool) -> HostBuffer {
        do {
            return try isZeroed ? HostBuffer(byteCount: byteCount) : HostBuffer(uninitializedByteCount: byteCount)
        } catch {
            fatalError("NDArray: there is no memory for \(byteCount) bytes")
        }
    }

    /// The memory, for reading. Stops the program while it is lent.
    var readable: HostBuffer {
        requireNotLent()
        return buffer
    }

    /// The memory, whoever has it.
    var memory: HostBuffer { buffer }

    /// Whether an array that holds this storage alone may write to the memory without a copy.
    var isWritable: Bool { !isReadOnly && isKnownUniquelyReferenced(&buffer) }

    func requireNotLent() {
        guard !lent.load(ordering: .acquiring) else {
            fatalError("NDArray: the array is lent to MutableViews and can't be used until they are gone")
        }
    }

    fileprivate func lend() {
        guard !lent.exchange(true, ordering: .acquiringAndReleasing) else {
            fatalError("NDArray: the array is lent to MutableViews already")
        }
    }

    fileprivate func takeBack() {
        lent.store(false, ordering: .releasing)
    }
}

/// The right to write to an array's memory without holding the array; it ends with the last reference.
///
/// The compiler can't follow a borrow of a class's property, so exclusivity is checked here, at run time.
final class StorageLease: Sendable {
    private let storage: NDArrayStorage

    /// Takes the right. Stops the program where somebody has it.
    init(_ storage: NDArrayStorage) {
        storage.lend()
        self.storage = storage
    }

    deinit { storage.takeBack() }
}
