extension BorrowedTensor {
    /// Copies the elements to dense row-major memory, which must have room for them all.
    package func copyElements(to destination: UnsafeMutableRawPointer) {
        let width = scalarType.bitWidth
        var done = 0
        layout.forEachRun { offset, count, stride in
            if width < 8 {
                unsafe PackedBits.copy(
                    from: start, firstBit: bitOffset + offset * width, stride: stride * width,
                    to: destination, firstBit: done * width, stride: width, count: count, width: width)
            } else {
                unsafe StridedBytes.copy(
                    from: start + offset * (width / 8), stride: stride * (width / 8),
                    to: destination + done * (width / 8), stride: width / 8, count: count, width: width / 8)
            }
            done += count
        }
    }
}

extension MutableTensor {
    /// Replaces the elements by those that lie in dense row-major memory.
    package func copyElements(from source: UnsafeRawPointer) {
        let width = scalarType.bitWidth
        var done = 0
        layout.forEachRun { offset, count, stride in
            if width < 8 {
                unsafe PackedBits.copy(
                    from: source, firstBit: done * width, stride: width,
                    to: start, firstBit: bitOffset + offset * width, stride: stride * width, count: count, width: width)
            } else {
                unsafe StridedBytes.copy(
                    from: source + done * (width / 8), stride: width / 8,
                    to: start + offset * (width / 8), stride: stride * (width / 8), count: count, width: width / 8)
            }
            done += count
        }
    }
}

/// Copies of evenly spaced elements of whole bytes. Strides are in bytes.
private enum StridedBytes {
    static func copy(
        from source: UnsafeRawPointer, stride sourceStride: Int,
        to destination: UnsafeMutableRawPointer, stride destinationStride: Int, count: Int, width: Int
    ) {
        if sourceStride == width, destinationStride == width {
            unsafe destination.copyMemory(from: source, byteCount: count * width)
            return
        }
        func each<Word: BitwiseCopyable>(_: Word.Type) {
            for index in 0..<count {
                let word = unsafe source.loadUnaligned(fromByteOffset: index * sourceStride, as: Word.self)
                unsafe destination.storeBytes(of: word, toByteOffset: index * destinationStride, as: Word.self)
            }
        }
        switch width {
        case 1: each(UInt8.self)
        case 2: each(UInt16.self)
        case 4: each(UInt32.self)
        case 8: each(UInt64.self)
        default: each(UInt128.self)
        }
    }
}

/// Copies of evenly spaced elements that are narrower than a byte. Positions and strides are in bits.
private enum PackedBits {
    static func copy(
        from source: UnsafeRawPointer, firstBit sourceBit: Int, stride sourceStride: Int,
        to destination: UnsafeMutableRawPointer, firstBit destinationBit: Int, stride destinationStride: Int,
        count: Int, width: Int
    ) {
        var done = 0
        if sourceStride == width, destinationStride == width, sourceBit & 7 == 0, destinationBit & 7 == 0 {
            // Whole bytes first; the last few elements share their byte with others.
            let bytes = count * width / 8
            unsafe (destination + destinationBit >> 3).copyMemory(from: source + sourceBit >> 3, byteCount: bytes)
            done = bytes * 8 / width
        }
        for index in done..<count {
            let element = unsafe read(source, at: sourceBit + index * sourceStride, width: width)
            unsafe write(element, destination, at: destinationBit + index * destinationStride, width: width)
        }
    }

    private static func read(_ base: UnsafeRawPointer, at bit: Int, width: Int) -> UInt8 {
        let byte = bit >> 3
        let shift = bit & 7
        var bits = unsafe UInt16(base.load(fromByteOffset: byte, as: UInt8.self)) >> UInt16(shift)
        if shift + width > 8 {
            bits |= unsafe UInt16(base.load(fromByteOffset: byte + 1, as: UInt8.self)) << UInt16(8 - shift)
        }
        return UInt8(truncatingIfNeeded: bits) & mask(width)
    }

    private static func write(_ element: UInt8, _ base: UnsafeMutableRawPointer, at bit: Int, width: Int) {
        let byte = bit >> 3
        let shift = bit & 7
        let bits = UInt16(element) << UInt16(shift)
        let kept = ~(UInt16(mask(width)) << UInt16(shift))
        let low = unsafe UInt8(truncatingIfNeeded: kept) & base.load(fromByteOffset: byte, as: UInt8.self)
        unsafe base.storeBytes(of: low | UInt8(truncatingIfNeeded: bits), toByteOffset: byte, as: UInt8.self)
        guard shift + width > 8 else { return }
        let high = unsafe UInt8(truncatingIfNeeded: kept >> 8) & base.load(fromByteOffset: byte + 1, as: UInt8.self)
        unsafe base.storeBytes(of: high | UInt8(truncatingIfNeeded: bits >> 8), toByteOffset: byte + 1, as: UInt8.self)
    }

    private static func mask(_ width: Int) -> UInt8 { UInt8(truncatingIfNeeded: (1 << width) - 1) }
}
