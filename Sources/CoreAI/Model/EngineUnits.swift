package import CPUDelegate
package import EngineCompiler
package import EngineDelegation
package import EngineGraph

/// The units of this machine: the only place that names delegates.
package enum EngineUnits {
    /// Units that stand in for this machine's: a test runs with them as current.
    @TaskLocal package static var substitutes: [ComputeUnitKind: any Delegate] = [:]

    /// The processor, which runs everything.
    package static var cpu: CPUDelegate { .shared }

    /// A unit's engine, or why there is none.
    package enum Presence: Sendable {
        case present(any Delegate)
        case absent(reason: String)
    }

    /// Whether this machine has a unit of a kind that the engine can use.
    package static func presence(of kind: ComputeUnitKind) -> Presence {
        if let substitute = substitutes[kind] { return .present(substitute) }
        switch kind {
        case .cpu: return .present(cpu)
        case .gpu, .neuralEngine: return .absent(reason: "this build of the engine has no delegate for it")
        }
    }

    /// What `options` allow, the preferred unit first.
    package static func choice(for options: SpecializationOptions, isStrict: Bool) throws(EngineError) -> UnitChoice {
        let preferred = options.preferredComputeUnitKind
        // The CPU takes everything: where it is preferred, nothing is left for others.
        guard preferred != .cpu else { return .cpuOnly }
        var units: [any Delegate] = []
        for kind in preferenceOrder(preferred) where options.allowedComputeUnitKinds.contains(kind) {
            switch presence(of: kind) {
            case .present(let delegate): units.append(delegate)
            case .absent(let reason):
                guard isStrict, kind == preferred else { continue }
                throw .misplaced(unit: kind.engineName, ops: ["all: " + reason])
            }
        }
        let hasPreferred = preferred.map { if case .present = presence(of: $0) { true } else { false } } ?? false
        return UnitChoice(units: units, isPreferred: hasPreferred, isStrict: isStrict && hasPreferred)
    }

    private static func preferenceOrder(_ preferred: ComputeUnitKind?) -> [ComputeUnitKind] {
        let others: [ComputeUnitKind] = [.gpu, .neuralEngine].filter { $0 != preferred }
        return preferred.map { [$0] + others } ?? others
    }
}

extension ComputeUnitKind {
    /// The unit's name in reports and on the command line.
    package var engineName: String {
        switch self {
        case .cpu: DelegateID.cpu.name
        case .gpu: DelegateID.gpu.name
        case .neuralEngine: DelegateID.accelerator.name
        }
    }

    static let all: [ComputeUnitKind] = [.cpu, .gpu, .neuralEngine]
}
