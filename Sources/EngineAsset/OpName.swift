internal import EngineGraph

/// What an op's name on disk stands for.
enum OpName {
    /// An op of the graph.
    case op(OpKind)
    /// An op that this engine does not know: it runs by its decomposition, if it carries one.
    case unknown(String)
    /// The end of a region.
    case terminator(Terminator)
    /// A function.
    case graph
    /// The asset itself.
    case asset
    /// Says nothing about what the program computes.
    case ignored(String)

    enum Terminator: String {
        case output = "dataflow.output_v1"
        case yield = "dataflow.yield_v1"
        case condition = "controlflow.condition_v1"
    }

    init(_ name: String) {
        if let terminator = Terminator(rawValue: name) {
            self = .terminator(terminator)
        } else if name == "dataflow.graph_v1" {
            self = .graph
        } else if name == "serialization.asset" {
            self = .asset
        } else if name.hasPrefix("debuginfo.") || name == "execution.target_spec_v1" {
            self = .ignored(name)
        } else if let kind = Self.known[name] {
            self = .op(kind)
        } else {
            self = .unknown(name)
        }
    }

    /// The ops whose regions are bodies of their own that say how two elements combine.
    static let combining: Set<OpKind> = [.reduce, .reduceIndex, .scatterND]

    /// The ops that carry a decomposition.
    static let decomposed: Set<OpKind> = [
        .relu, .sigmoid, .silu, .softmax, .sort, .tile, .quantize, .dequantize, .all, .any, .argmax, .reduceMax,
        .reduceMean, .reduceMin, .reduceProduct, .reduceSum, .broadcastingAdd, .broadcastingSub, .broadcastingMul,
        .broadcastingDivide, .broadcastingFloorDivide, .broadcastingModulo, .broadcastingPow, .broadcastingMaximum,
        .broadcastingMinimum, .broadcastingEqual, .broadcastingNotEqual, .broadcastingGreater,
        .broadcastingLogicalAnd, .broadcastingLogicalOr, .broadcastingLogicalXor, .broadcastingBitwiseAnd,
        .broadcastingBitwiseOr, .broadcastingBitwiseXor, .broadcastingWhere, .broadcastingBatchMatmul,
        .symmetricQuantizationStatistics, .asymmetricQuantizationStatistics,
    ]

    /// The groups of the ops that are neither primitive nor decomposed.
    private static let groups: [String: [OpKind]] = [
        "controlflow": [.if, .while],
        "dataflow": [.invoke, .isolatedGroup, .createToken, .joinToken, .readHandle, .writeHandle],
        "execution": [.delegate],
        "ax": [.copyWithConstraints, .copyDiscardingConstraints],
        "metal": [.metalKernel],
    ]

    /// The ops whose second version is the one that the engine knows; the first differs.
    private static let secondVersions: Set<OpKind> = [
        .getShape, .reshape, .blockwiseShiftScale, .tile, .quantize, .dequantize,
    ]

    private static let known: [String: OpKind] = {
        var known: [String: OpKind] = [:]
        var grouped: Set<OpKind> = []
        for (group, kinds) in groups {
            for kind in kinds { known["\(group).\(kind.rawValue)_v1"] = kind }
            grouped.formUnion(kinds)
        }
        known["execution.delegate_v2"] = .delegate
        for kind in OpKind.allCases where !grouped.contains(kind) && kind != .named && !kind.rawValue.contains(".") {
            let group = decomposed.contains(kind) ? "" : "primitive."
            known["\(group)\(kind.rawValue)_v\(secondVersions.contains(kind) ? 2 : 1)"] = kind
        }
        return known
    }()
}
