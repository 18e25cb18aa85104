/// The bytes of a constant, as they lie in the asset's map or in memory that the compiler made.
///
/// `@unchecked Sendable`: the bytes are never written once the constant exists, and `owner` only keeps them alive.
@safe package final class Constant: @unchecked Sendable {
    /// The first byte. May be unaligned: a resource of an asset can start anywhere.
    package let pointer: UnsafeRawPointer
    package let byteCount: Int
    /// Whether the bytes are one element that stands for all.
    package let isSplat: Bool
    private let owner: AnyObject?

    package init(pointer: UnsafeRawPointer, byteCount: Int, isSplat: Bool, owner: AnyObject?) {
        unsafe self.pointer = unsafe pointer
        self.byteCount = byteCount
        self.isSplat = isSplat
        self.owner = owner
    }

    /// A constant with a copy of `bytes`.
    package convenience init(bytes: [UInt8], isSplat: Bool = false) {
        let box = ByteBox(bytes)
        unsafe self.init(pointer: box.pointer, byteCount: bytes.count, isSplat: isSplat, owner: box)
    }

    /// What keeps the bytes alive, for a buffer that shares them.
    package var storage: AnyObject? { owner }
}

@safe private final class ByteBox {
    let pointer: UnsafeRawPointer

    init(_ bytes: [UInt8]) {
        // 64: a cache line, and enough for any vector load.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 1), alignment: 64)
        unsafe bytes.withUnsafeBytes { source in
            if let base = source.baseAddress { unsafe memory.copyMemory(from: base, byteCount: source.count) }
        }
        unsafe pointer = UnsafeRawPointer(memory)
    }

    deinit { unsafe pointer.deallocate() }
}
