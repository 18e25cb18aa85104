/// A kind of compute unit that can run parts of a model.
public enum ComputeUnitKind: Hashable, Sendable {
    /// The processor. Every operation runs there.
    case cpu
    /// A graphics processor.
    case gpu
    /// A neural accelerator.
    case neuralEngine
}

extension ComputeUnitKind {
    /// The kinds of unit that this machine has and this build of the engine can use.
    public static var availableKinds: Set<ComputeUnitKind> {
        Set(all.filter { if case .present = EngineUnits.presence(of: $0) { true } else { false } })
    }

    /// The accelerator of a machine that is not Apple's: the same unit as ``neuralEngine``.
    public static var accelerator: ComputeUnitKind { .neuralEngine }
}
