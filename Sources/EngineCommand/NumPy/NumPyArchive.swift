/// The arrays of a `.npz` file, each read when it is asked for.
struct NumPyArchive {
    private let reader: ZipReader
    private let path: String
    private let entries: [String: ZipEntry]
    /// The arrays' names, in the order of the file.
    let names: [String]

    init(_ path: String) throws(CommandError) {
        self.path = path
        reader = try ZipReader(path)
        var entries: [String: ZipEntry] = [:]
        var names: [String] = []
        for entry in reader.entries where entry.name.hasSuffix(".npy") {
            let name = String(entry.name.dropLast(4))
            guard entries.updateValue(entry, forKey: name) == nil else {
                throw .failure("\(path): two arrays are called '\(name)'")
            }
            names.append(name)
        }
        self.entries = entries
        self.names = names
    }

    /// The array called `name`.
    func array(_ name: String) throws(CommandError) -> NumPyArray {
        guard let entry = entries[name] else {
            let known = names.isEmpty ? "it holds none" : "it holds " + names.joined(separator: ", ")
            throw .failure("\(path) has no array '\(name)'", hint: known)
        }
        let bytes = try reader.read(entry)
        do {
            return try NumPyFile.decode(bytes)
        } catch {
            throw error.about("\(path): array '\(name)'")
        }
    }

    static func write(_ arrays: [(name: String, array: NumPyArray)], to path: String) throws(CommandError) {
        var writer = try ZipWriter(path)
        for (name, array) in arrays {
            let header = NumPyHeader.bytes(type: array.type, shape: array.shape)
            try writer.add(name + ".npy", [header[...], array.bytes])
        }
        try writer.commit()
    }
}
