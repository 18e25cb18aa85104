package import EngineGraph
internal import Foundation

extension AIModelAsset.Summary {
    package init(_ program: Program, includingStatistics: Bool) {
        functions = program.functions.map { AIModelAsset.FunctionDescriptor($0) }
        guard includingStatistics else { return }
        var statistics = ProgramStatistics()
        for graph in program.graphs { statistics.count(graph) }
        storageTypes = statistics.elements.map { StorageType(typeName: $0, count: $1) }
            .sorted { $0.count != $1.count ? $0.count > $1.count : $0.typeName < $1.typeName }
        computeTypes = statistics.types.sorted()
        operationDistribution = statistics.operations.map { OperationCount(operationName: $0, count: $1) }
            .sorted { $0.count != $1.count ? $0.count > $1.count : $0.operationName < $1.operationName }
    }
}

extension AIModelAsset.FunctionDescriptor {
    init(_ graph: Graph) {
        name = graph.name
        inputs = []
        states = []
        outputs = []
        for (name, value) in zip(graph.signature.argumentNames, graph.body.arguments) {
            switch graph[type: value] {
            case .handle(let type): states.append(.init(name: name, typeName: ValueType.tensor(type).typeName))
            case let type: inputs.append(.init(name: name, typeName: type.typeName))
            }
        }
        for (name, value) in zip(graph.signature.resultNames, graph.body.results) where graph[type: value] != .token {
            outputs.append(.init(name: name, typeName: graph[type: value].typeName))
        }
    }
}

extension ValueType {
    /// The type as a summary shows it: `NDArray (Float32, 2 × ?)`, `Image (8 × 6, 32BGRA)`.
    var typeName: String {
        switch self {
        case .tensor(let type), .handle(let type):
            let extents = type.shape.map { $0 == TensorType.dynamic ? "?" : String($0) }.joined(separator: " × ")
            return "NDArray (\(type.elementType.displayName)\(extents.isEmpty ? "" : ", " + extents))"
        case .image(let type): return "Image (\(type.width) × \(type.height), \(type.formatName))"
        case .token: return "Token"
        }
    }
}

/// Counts what a program holds, its decompositions included.
private struct ProgramStatistics {
    private(set) var elements: [String: Int] = [:]
    private(set) var types: Set<String> = []
    private(set) var operations: [String: Int] = [:]
    private var constants: Set<ObjectIdentifier> = []

    mutating func count(_ graph: Graph) { count(graph.body, in: graph) }

    private mutating func count(_ values: [Value], _ graph: Graph) {
        for value in values {
            switch graph[type: value] {
            case .tensor(let type), .handle(let type): types.insert(type.elementType.displayName)
            case .image: types.insert("image")
            case .token: break
            }
        }
    }

    private mutating func count(_ region: Region, in graph: Graph) {
        // An argument that nothing reads is not computed with.
        count(region.results, graph)
        for op in region.ops {
            // A constant does not compute, and a cast computes with the type that it makes.
            if op.kind != .cast { count(op.operands, graph) }
            if op.kind != .constant { count(op.results, graph) }
            operations[Self.name(op), default: 0] += 1
            if case .constant(let constant) = op.attributes, let result = op.results.first {
                count(constant, graph[type: result])
            }
            // The program spells out a loop's condition as an operation.
            if op.kind == .while { operations["condition", default: 0] += 1 }
            for region in op.regions { count(region, in: graph) }
            for body in op.bodies { count(body) }
        }
    }

    private mutating func count(_ constant: Constant, _ type: ValueType) {
        guard constants.insert(ObjectIdentifier(constant)).inserted else { return }
        guard let tensor = type.tensor, let count = tensor.elementCount, count > 0 else { return }
        let name = tensor.elementType.displayName
        elements[name] = (elements[name] ?? 0).addingReportingOverflow(count).partialValue
    }

    /// The op's name without its group and version.
    private static func name(_ op: Op) -> String {
        guard case .name(let name) = op.attributes else { return op.kind.rawValue }
        var base = name.split(separator: ".").last.map { String($0) } ?? name
        if let version = base.range(of: "_v", options: .backwards), Int(base[version.upperBound...]) != nil {
            base.removeSubrange(version.lowerBound...)
        }
        return base
    }
}
