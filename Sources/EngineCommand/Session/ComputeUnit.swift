import CoreAI

/// The units that `--unit` names.
enum ComputeUnit: String, CaseIterable, Codable, Sendable {
    case cpu
    case gpu
    case accelerator

    static let option = OptionSpec("--unit", "cpu|gpu|accelerator", help: "the unit to run on; cpu, if not given")

    static let fusionOption = OptionSpec(
        "--no-fusion", help: "run every operation by itself, to compare with fused patterns")

    init(_ arguments: ParsedArguments) throws(CommandError) {
        guard let name = arguments.value("--unit") else {
            self = .cpu
            return
        }
        guard let unit = ComputeUnit(rawValue: name) else {
            throw .usage("option '--unit' takes cpu, gpu or accelerator, not '\(name)'")
        }
        self = unit
    }

    /// The API's name of the unit.
    var kind: ComputeUnitKind {
        switch self {
        case .cpu: .cpu
        case .gpu: .gpu
        case .accelerator: .neuralEngine
        }
    }

    /// The CPU alone, or the other units with the usual fallback.
    var options: SpecializationOptions {
        self == .cpu ? .cpuOnly : SpecializationOptions(preferredComputeUnitKind: kind)
    }

    var isAvailable: Bool { ComputeUnitKind.availableKinds.contains(kind) }
}

extension ComputeUnit {
    /// The unit that computes where this one is asked for.
    var computing: ComputeUnit { isAvailable ? self : .cpu }

    /// What to say where the unit is not there.
    var absence: String { "this machine has no \(rawValue) that the engine can use: the CPU computes" }
}
