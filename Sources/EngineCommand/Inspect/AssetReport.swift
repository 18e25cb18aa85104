import CoreAI
import EngineAsset
import EngineGraph
import Foundation

/// What `engine inspect` tells about an asset.
struct AssetReport: Encodable {
    struct Value: Encodable {
        var name: String
        var type: String
    }

    struct Function: Encodable {
        var name: String
        var inputs: [Value]
        var states: [Value]
        var outputs: [Value]
        var memory: Memory?
    }

    /// What a call of a function takes on the CPU.
    struct Memory: Encodable {
        /// Working memory, intermediate values and outputs, in bytes; nil where it is not known.
        var peakBytes: Int?
        var weightBytes: Int?
        /// Why it is not known, or not all of it.
        var remark: String?
    }

    struct Count: Encodable {
        var name: String
        var count: Int
    }

    struct Statistics: Encodable {
        var operationDistribution: [Count]
        var storageTypes: [Count]
        var computeTypes: [String]
    }

    var path: String
    var functions: [Function]
    var assetVersion: String?
    var producer: String?
    /// The date of the op set that the program needs, such as 20260409.
    var programVersion: Int?
    var programByteCount: Int
    var author: String?
    var license: String?
    var description: String?
    var creationDate: String?
    var metadata: [String: MetadataValue]
    var statistics: Statistics?
    /// Whether the program's hash was checked, and is right.
    var isHashVerified: Bool?

    init(_ path: String, program: Program, includingStatistics: Bool) throws {
        let url = URL(fileURLWithPath: path)
        let metadata = try AIModelAsset(contentsOf: url).metadata
        let summary = AIModelAsset.Summary(program, includingStatistics: includingStatistics)
        self.path = path
        functions = summary.functions.map { function in
            Function(
                name: function.name, inputs: function.inputs.map { Value(name: $0.name, type: $0.typeName) },
                states: function.states.map { Value(name: $0.name, type: $0.typeName) },
                outputs: function.outputs.map { Value(name: $0.name, type: $0.typeName) })
        }
        let versions = Versions(in: AssetFolder(path: path))
        assetVersion = versions.assetVersion
        producer = versions.producer
        programVersion = program.version
        let file = url.appendingPathComponent(AssetFolder.programName)
        programByteCount = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        author = Self.text(metadata.author)
        license = Self.text(metadata.license)
        description = Self.text(metadata.description)
        creationDate = metadata.creationDate?.formatted(.iso8601)
        self.metadata = metadata.creatorDefinedMetadata.mapValues(MetadataValue.init)
        if includingStatistics {
            statistics = Statistics(
                operationDistribution: summary.operationDistribution.map {
                    Count(name: $0.operationName, count: $0.count)
                },
                storageTypes: summary.storageTypes.map { Count(name: $0.typeName, count: $0.count) },
                computeTypes: summary.computeTypes)
        }
    }

    private static func text(_ text: String) -> String? { text.isEmpty ? nil : text }
}

/// The two fields of the metadata that the API does not show.
private struct Versions: Decodable {
    var assetVersion: String?
    var producer: String?

    init(in folder: AssetFolder) {
        guard let bytes = try? folder.contents(of: AssetFolder.metadataName, limit: 1 << 24),
            let decoded = try? JSONDecoder().decode(Versions.self, from: Data(bytes))
        else { return }
        self = decoded
    }
}

/// A value that the asset's creator defined, for JSON.
struct MetadataValue: Encodable {
    let value: AIModelAsset.Metadata.CreatorDefinedValue

    init(_ value: AIModelAsset.Metadata.CreatorDefinedValue) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .array(let values): try container.encode(values.map(MetadataValue.init))
        case .dictionary(let values): try container.encode(values.mapValues(MetadataValue.init))
        }
    }
}

extension AssetReport {
    /// The report for a person.
    func lines(_ style: Style) -> [String] {
        var lines = [style.bold(printable(URL(fileURLWithPath: path).lastPathComponent))]
        func add(_ title: String, _ text: String?) {
            guard let text else { return }
            lines.append("  \(padded(printable(title), 12)) \(printable(text))")
        }
        add("producer", producer)
        add("version", versionText)
        add("program", ByteCount.text(programByteCount))
        add("author", author)
        add("license", license)
        add("description", description)
        add("created", creationDate)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { add(key, value.value.description) }
        if isHashVerified == true { lines.append("  \(padded("hash", 12)) \(style.green("matches the program"))") }

        let groups = functions.map { [("input", $0.inputs), ("state", $0.states), ("output", $0.outputs)] }
        let width = groups.joined().flatMap { $0.1.map(\.name.count) }.max() ?? 0
        for (function, groups) in zip(functions, groups) {
            lines += ["", "function \(style.bold(printable(function.name)))"]
            if let memory = function.memory { lines.append("  \(padded("memory", 7)) \(printable(memory.text))") }
            for (kind, values) in groups {
                lines += values.map { "  \(padded(kind, 7)) \(padded(printable($0.name), min(width, 40)))  \($0.type)" }
            }
        }
        if functions.isEmpty { lines += ["", "no functions"] }
        if let statistics { lines += statistics.lines(style) }
        return lines
    }

    private var versionText: String? {
        let parts = [assetVersion.map { "asset \($0)" }, programVersion.map { "program \($0)" }].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

extension AssetReport {
    /// Adds what a call of each function takes. A function that can't be loaded is told of, and is no error here.
    mutating func addMemory() async {
        guard let model = try? await AIModel(contentsOf: URL(fileURLWithPath: path), options: .cpuOnly) else { return }
        for index in functions.indices {
            do {
                guard let function = try model.loadFunction(named: functions[index].name) else { continue }
                let placement = try function.placement()
                let isPlanned = !placement.parts.isEmpty || placement.unbound.isEmpty
                functions[index].memory = Memory(
                    peakBytes: isPlanned ? placement.memory.peakByteCount : nil,
                    weightBytes: placement.memory.weightByteCount, remark: placement.unbound.first?.reason)
            } catch {
                functions[index].memory = Memory(remark: CommandError(describing: error).message)
            }
        }
    }
}

extension AssetReport.Memory {
    fileprivate var text: String {
        let weights = weightBytes.map { ", weights \(ByteCount.short($0))" } ?? ""
        guard let peakBytes else { return "peak not known\(weights): \(remark ?? "no reason is known")" }
        let peak = "peak of a call \(remark == nil ? "" : "at least ")\(ByteCount.short(peakBytes))\(weights)"
        return remark.map { "\(peak): \($0)" } ?? peak
    }
}

extension AssetReport.Statistics {
    fileprivate func lines(_ style: Style) -> [String] {
        var lines = ["", style.bold("operations") + " (decompositions included)"]
        lines += operationDistribution.map { "  \(leftPadded(String($0.count), 9))  \(printable($0.name))" }
        lines += ["", style.bold("stored elements")]
        lines += storageTypes.map { "  \(leftPadded(String($0.count), 12))  \($0.name)" }
        lines += ["", style.bold("compute types"), "  " + computeTypes.joined(separator: ", ")]
        return lines
    }
}

/// Sizes for a person.
enum ByteCount {
    static func text(_ count: Int) -> String {
        count < 1024 ? short(count) : "\(short(count)) (\(count) bytes)"
    }

    /// Without the exact number.
    static func short(_ count: Int) -> String {
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        var value = Double(count)
        var unit = 0
        while value >= 1024, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        return unit == 0 ? "\(count) bytes" : String(format: "%.1f %@", value, units[unit])
    }
}
