import EngineDelegation

extension NDArrayStorage {
    /// New memory with the same elements in the same places.
    func copy(_ layout: ArrayLayout, bitWidth: Int) -> NDArrayStorage {
        let source = readable
        let firstByte = (bitOffset + layout.reach.lowerBound * bitWidth) / 8
        let endByte = (bitOffset + layout.reach.upperBound * bitWidth + 7) / 8
        let buffer = Self.allocate(endByte - firstByte, isZeroed: false)
        unsafe buffer.pointer.copyMemory(from: source.pointer + firstByte, byteCount: endByte - firstByte)
        return NDArrayStorage(buffer, bitOffset: bitOffset - firstByte * 8)
    }
}

extension NDArray {
    /// Makes the memory this array's own. Stops the program while it is lent.
    mutating func prepareForWriting() {
        storage.requireNotLent()
        guard !isKnownUniquelyReferenced(&storage) || !storage.isWritable else { return }
        storage = storage.copy(layout, bitWidth: scalarType.bitWidth)
    }
}
