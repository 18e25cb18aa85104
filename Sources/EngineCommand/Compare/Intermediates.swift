import EngineGraph
import Foundation

/// A folder of a source model's intermediate values: `*.aimodelintermediates`, as coreai-torch writes it.
struct Intermediates {
    private struct Node: Decodable {
        let node_name: String
        let data_file: String
        let shape: [Int]?
    }

    private struct Source: Decodable {
        let id: Int
        let identifiers: [String]
    }

    private struct Mapping: Decodable {
        let source_level: String
        let source_op_id: Int
        let source_output: Int
        let target_level: String
        let target_op_id: Int
        let target_output: Int
    }

    private struct Mappings: Decodable {
        let sources: [String: [String: Source]]?
        let outputs: [Mapping]?
    }

    private struct Metadata: Decodable {
        let inputs: [String: Node]
        let outputs: [String: Node]
        let intermediates: [String: Node]
        let mappings: Mappings?
    }

    private let folder: URL
    private let metadata: Metadata
    private let nodes: [String: Node]
    /// The node that each result of an op is, by the op's identity in the asset.
    private let nodesByOp: [Identity: String]

    private struct Identity: Hashable {
        let op: Int
        let output: Int
    }

    init(_ path: String) throws(CommandError) {
        folder = URL(fileURLWithPath: path)
        let decoded: Metadata
        do {
            decoded = try JSONDecoder().decode(
                Metadata.self, from: Data(contentsOf: folder.appendingPathComponent("metadata.json")))
        } catch let error as DecodingError {
            throw .failure("\(path)/metadata.json: \(error.place)")
        } catch {
            throw .failure(
                "\(path): there is no metadata.json that can be read",
                hint: "--reference takes cpu, or a folder that coreai-torch's save_intermediates wrote")
        }
        metadata = decoded
        nodes = decoded.intermediates.merging(decoded.inputs) { first, _ in first }
            .merging(decoded.outputs) { first, _ in first }
        var nodesByOp: [Identity: String] = [:]
        for mapping in decoded.mappings?.outputs ?? [] where mapping.target_level == "coreai" {
            guard
                let source = decoded.mappings?.sources?[mapping.source_level]?["\(mapping.source_op_id)"],
                let name = source.identifiers.last
            else { continue }
            nodesByOp[Identity(op: mapping.target_op_id, output: mapping.target_output)] = name
        }
        self.nodesByOp = nodesByOp
    }

    /// Whether the folder says which op each value belongs to.
    var hasMappings: Bool { !nodesByOp.isEmpty }

    /// The node that result `output` of an op is, where the values of it are there.
    func node(of metadata: [String: String], output: Int) -> String? {
        guard let text = metadata["op_id.coreai"], let op = Int(text),
            let name = nodesByOp[Identity(op: op, output: output)], nodes[name] != nil
        else { return nil }
        return name
    }

    /// The values of a node.
    func array(_ name: String) throws(CommandError) -> NumPyArray {
        guard let node = nodes[name] else { throw .failure("\(folder.path): there is no value '\(name)'") }
        // The name comes from a file: it must not lead out of the folder.
        let parts = node.data_file.split(separator: "/")
        guard !node.data_file.hasPrefix("/"), !parts.contains("..") else {
            throw .failure("\(folder.path): '\(node.data_file)' is outside of the folder")
        }
        return try NumPyFile.read(folder.appendingPathComponent(node.data_file).path)
    }

    /// The names of the inputs in the folder, in the order in which they were saved.
    var inputNames: [String] { Self.names(metadata.inputs) }

    /// The names of the outputs in the folder, in the order in which they were saved.
    var outputNames: [String] { Self.names(metadata.outputs) }

    private static func names(_ nodes: [String: Node]) -> [String] {
        // The files are numbered: NAME_0012.npy.
        func number(_ node: Node) -> Int {
            node.data_file.split(whereSeparator: { !$0.isNumber }).last.flatMap { Int($0) } ?? 0
        }
        return nodes.values.sorted { (number($0), $0.node_name) < (number($1), $1.node_name) }.map(\.node_name)
    }
}
