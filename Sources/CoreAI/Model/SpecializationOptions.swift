/// How a model is prepared for the units of this machine.
public struct SpecializationOptions: Hashable, Sendable {
    /// All units are allowed and none is preferred.
    public static let `default` = SpecializationOptions(allowed: [.cpu, .gpu, .neuralEngine], preferred: nil)

    /// Everything runs on the CPU; no other unit is touched.
    public static let cpuOnly = SpecializationOptions(allowed: [.cpu], preferred: .cpu)

    /// The units that may run parts of the model. The CPU is always among them.
    public let allowedComputeUnitKinds: Set<ComputeUnitKind>

    /// The unit that runs as much of the model as it can; nil leaves the choice to the engine.
    public let preferredComputeUnitKind: ComputeUnitKind?

    /// Whether the shapes of inputs change often. Kernels that take sizes at run time are then preferred to kernels
    /// that are made for one size.
    public var expectFrequentReshapes = false

    /// Whether ops are joined into patterns that one kernel computes: off, each runs by itself, to compare with.
    package var fusesPatterns = true

    /// Options that place as much as possible on `preferredComputeUnitKind`; the rest falls back to the other units.
    public init(preferredComputeUnitKind: ComputeUnitKind) {
        self.init(allowed: [.cpu, .gpu, .neuralEngine], preferred: preferredComputeUnitKind)
    }

    private init(allowed: Set<ComputeUnitKind>, preferred: ComputeUnitKind?) {
        allowedComputeUnitKinds = allowed
        preferredComputeUnitKind = preferred
    }
}
