import Foundation

/// A recorded case on disk: a model, the arrays of its calls, and what meta.json says.
struct CaseFolder: Sendable {
    struct Meta: Decodable, Sendable {
        enum Expectation: String, Decodable, Sendable {
            case run
            case error
        }

        var model: String?
        var function: String?
        var rtol: Double?
        var atol: Double?
        var outputs: [String]?
        /// What raw integers stand for, by an array's or an output's name.
        var dtypes: [String: String]?
        var expect: Expectation?
    }

    let url: URL
    let meta: Meta
    /// The files of the calls, in order.
    let calls: [URL]

    init(_ path: String) throws(CommandError) {
        url = URL(fileURLWithPath: path)
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw .failure("the folder can't be read: \(CommandError(describing: error).message)")
        }
        meta = names.contains("meta.json") ? try Self.meta(url.appendingPathComponent("meta.json")) : Meta()
        let numbers = names.compactMap(Self.callNumber).sorted()
        guard numbers == Array(0..<numbers.count) else {
            throw .failure("the calls are not numbered from 0 on without a gap: \(numbers)")
        }
        let folder = url
        calls = numbers.map { folder.appendingPathComponent("case_\($0).npz") }
    }

    var model: URL { url.appendingPathComponent(meta.model ?? "model.aimodel") }

    private static func meta(_ url: URL) throws(CommandError) -> Meta {
        do {
            return try JSONDecoder().decode(Meta.self, from: Data(contentsOf: url))
        } catch let error as DecodingError {
            throw .failure("meta.json: \(error.place)")
        } catch {
            throw .failure("meta.json: \(CommandError(describing: error).message)")
        }
    }

    private static func callNumber(_ name: String) -> Int? {
        guard name.hasPrefix("case_"), name.hasSuffix(".npz") else { return nil }
        return Int(name.dropFirst(5).dropLast(4))
    }

    /// The cases below the folders, in order: their names and paths.
    static func find(below folders: [String]) throws(CommandError) -> [(name: String, path: String)] {
        var found: [(name: String, path: String)] = []
        for folder in folders {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
                throw .failure("\(folder): there is no such folder")
            }
            // Several folders may hold cases of the same name.
            let root = folders.count == 1 ? "" : folder
            try search(folder, name: root, fallbackName: folder, ancestors: [], &found)
        }
        return found
    }

    private static func search(
        _ path: String, name: String, fallbackName: String, ancestors: [String],
        _ found: inout [(name: String, path: String)]
    ) throws(CommandError) {
        // A link to a folder above would never end.
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard !ancestors.contains(real), ancestors.count < 64 else { return }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path).sorted() else {
            throw .failure("\(path): the folder can't be read")
        }
        if names.contains("case_0.npz") || names.contains("meta.json") {
            found.append((name.isEmpty ? URL(fileURLWithPath: fallbackName).lastPathComponent : name, path))
        }
        for child in names where !child.hasSuffix(".aimodel") && !child.hasSuffix(".aimodelc") {
            let childPath = path + (path.hasSuffix("/") ? "" : "/") + child
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: childPath, isDirectory: &isFolder), isFolder.boolValue else {
                continue
            }
            let childName = name.isEmpty ? child : name + (name.hasSuffix("/") ? "" : "/") + child
            try search(childPath, name: childName, fallbackName: child, ancestors: ancestors + [real], &found)
        }
    }
}

extension DecodingError {
    /// Where the fault is and what it is, in a line.
    var place: String {
        let context: Context
        switch self {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .keyNotFound(_, let found),
            .dataCorrupted(let found):
            context = found
        @unknown default: return String(describing: self)
        }
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return path.isEmpty ? context.debugDescription : "'\(path)': \(context.debugDescription)"
    }
}
