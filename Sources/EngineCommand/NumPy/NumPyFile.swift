/// Reads and writes single arrays: `.npy`.
enum NumPyFile {
    /// Decodes the contents of a `.npy` file.
    static func decode(_ bytes: [UInt8]) throws(CommandError) -> NumPyArray {
        let header = try NumPyHeader(bytes[...])
        guard let byteCount = NumPyArray.byteCount(of: header.shape, header.type) else {
            throw .failure("the shape \(header.shape) is too large")
        }
        guard bytes.count - header.dataOffset >= byteCount else {
            throw .failure(
                "\(header.type.name) \(header.shape) takes \(byteCount) bytes, "
                    + "\(bytes.count - header.dataOffset) are there")
        }
        var data = bytes[header.dataOffset..<header.dataOffset + byteCount]
        if header.isBigEndian, header.type.swapWidth > 1 {
            data = NumPyArray.swapped(data, width: header.type.swapWidth)[...]
        }
        if header.isColumnMajor, header.shape.count > 1 {
            data = NumPyArray.rowMajor(columnMajor: data, shape: header.shape, width: header.type.byteCount)[...]
        }
        return try NumPyArray(type: header.type, shape: header.shape, bytes: data)
    }

    static func read(_ path: String) throws(CommandError) -> NumPyArray {
        let file = try FileReader(path)
        do {
            return try decode(try file.read(offset: 0, count: file.byteCount))
        } catch {
            throw error.about(path)
        }
    }

    static func write(_ array: NumPyArray, to path: String) throws(CommandError) {
        let file = try AtomicFile(path)
        try file.write(NumPyHeader.bytes(type: array.type, shape: array.shape)[...])
        try file.write(array.bytes)
        try file.commit()
    }
}
