import CZlib

/// Raw deflate, as archives use it.
enum Inflate {
    /// Deflate can't pack tighter than this many bytes into one.
    static let maximumRatio = 1032
    private static let chunkByteCount = 1 << 20

    /// Unpacks `packed` into exactly `byteCount` bytes.
    ///
    /// Memory follows what is really there: a size that is declared but not delivered is never allocated.
    static func unpack(_ packed: [UInt8], byteCount: Int) throws(CommandError) -> [UInt8] {
        guard byteCount / maximumRatio <= packed.count else {
            throw .failure("\(byteCount) bytes are declared, more than \(packed.count) packed ones can hold")
        }
        var stream = z_stream()
        guard
            inflateInit2_(&stream, -MAX_WBITS, zlibVersion(), Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw .failure("zlib can't start") }
        defer { inflateEnd(&stream) }

        var result: [UInt8] = []
        result.reserveCapacity(min(byteCount, 16 * chunkByteCount))
        var chunk = [UInt8](repeating: 0, count: min(chunkByteCount, byteCount + 1))
        var used = 0
        while true {
            let (status, taken, given) = step(&stream, packed[used...], &chunk)
            used += taken
            guard given <= byteCount - result.count else { throw .failure("more is packed than the declared size") }
            result.append(contentsOf: chunk[..<given])
            if status == Z_STREAM_END { break }
            guard status == Z_OK, taken + given > 0 else { throw .failure("the packed data is corrupt") }
        }
        guard result.count == byteCount else {
            throw .failure("\(byteCount) bytes are declared, \(result.count) are packed")
        }
        return result
    }

    private static func step(
        _ stream: inout z_stream, _ input: ArraySlice<UInt8>, _ output: inout [UInt8]
    ) -> (status: Int32, taken: Int, given: Int) {
        input.withUnsafeBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                let available = min(source.count, Int(UInt32.max))
                // zlib does not write to its input.
                stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                stream.avail_in = UInt32(available)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                let status = inflate(&stream, Z_NO_FLUSH)
                return (status, available - Int(stream.avail_in), target.count - Int(stream.avail_out))
            }
        }
    }
}

/// The checksum of archives.
enum Checksum {
    static func crc32(of bytes: ArraySlice<UInt8>, continuing start: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return start }
            return UInt32(truncatingIfNeeded: crc32_z(UInt(start), base, buffer.count))
        }
    }
}
