/// Where the parts of a model run, and why.
///
/// The unit of placement is the pattern: one operation of the model, or several that one kernel computes. Fallback from
/// the preferred unit is silent to a caller; the report is where it shows.
///
/// ```swift
/// let report = try model.placementReport()
/// for pattern in report.functions.flatMap(\.patterns) where pattern.unit != "gpu" {
///     print(pattern.name, pattern.operations.compactMap(\.source), pattern.declined)
/// }
/// ```
///
/// Reports are not a part of Apple's API. Their coded form keeps its keys; new ones may join.
public struct PlacementReport: Codable, Hashable, Sendable {
    /// The functions of the model, in the order of the asset.
    public var functions: [Function]

    /// Makes a report of functions' reports.
    public init(functions: [Function]) { self.functions = functions }
}

extension PlacementReport {
    /// Where one function runs.
    public struct Function: Codable, Hashable, Sendable {
        /// The name of the function.
        public var name: String
        /// The unit that the model's options prefer: `cpu`, `gpu` or `accelerator`; nil where they leave it open.
        public var preferredUnit: String?
        /// Every kind of unit, and whether it can be used.
        public var units: [Unit]
        /// How the inputs and states get to where they are read.
        public var arguments: [Argument]
        /// The patterns, in the order of the program. A pattern in a loop is here once.
        public var patterns: [Pattern]
        /// The stretches of patterns that run on one unit without a stop, in the order in which they start.
        public var parts: [Part]
        /// The operations that only a run binds, and why; empty where everything is placed.
        public var unbound: [Unbound]
        /// What a call takes, as far as it is bound.
        public var memory: Memory
        /// How many calls were measured; 0 for a report that only estimates.
        public var measuredRunCount: Int
        /// Why the function, or a part of it, ran on the CPU in spite of the report, where it did.
        public var fallbacks: [String]
    }

    /// A kind of compute unit.
    public struct Unit: Codable, Hashable, Sendable {
        /// `cpu`, `gpu` or `accelerator`.
        public var name: String
        /// Whether patterns may be placed on it.
        public var isUsable: Bool
        /// Why not, where they may not.
        public var reason: String?
    }

    /// An operation of the model.
    public struct Operation: Codable, Hashable, Sendable {
        /// The operation's name in the program.
        public var name: String
        /// The line of the source model that it comes from: `model.py:12`.
        public var source: String?
        /// The whole path of that line's file.
        public var file: String?
    }

    /// Why a unit does not run a pattern.
    public struct Decline: Codable, Hashable, Sendable {
        /// The unit's name.
        public var unit: String
        /// Its reason.
        public var reason: String
    }

    /// What a time was measured of.
    public enum Measurement: String, Codable, Hashable, Sendable {
        /// Of the pattern's own kernel.
        case kernel
        /// Of the whole part; this is the pattern's share by its estimate.
        case part
    }

    /// Operations that are placed together.
    public struct Pattern: Codable, Hashable, Sendable {
        /// The pattern's number in the function.
        public var id: Int
        /// The operation that the pattern is, or what its operations were joined to.
        public var name: String
        /// The operations of the model that it computes.
        public var operations: [Operation]
        /// The region that it is in: empty for the function itself, else as in `while 12 body`.
        public var region: String
        /// The unit that runs it.
        public var unit: String
        /// Every other unit, and why it is not that one.
        public var declined: [Decline]
        /// The seconds that the cost model expects.
        public var estimatedSeconds: Double
        /// The least seconds that it took; nil where nothing was measured.
        public var measuredSeconds: Double?
        /// What was measured.
        public var measurement: Measurement?
        /// The bytes that come to it from other units and go from it to them.
        public var crossingByteCount: Int
        /// Whether it computes nothing: a view, a state, shape arithmetic.
        public var isBookkeeping: Bool
        /// The index of its part in the function's parts.
        public var part: Int
        /// The types of its results.
        public var results: [String]
        /// The patterns that it reads from.
        public var sources: [Int]
        /// The inputs and states of the function that it reads.
        public var reads: [String]
        /// The outputs and states of the function that it gives.
        public var gives: [String]
    }

    /// Patterns that one unit runs without a stop.
    public struct Part: Codable, Hashable, Sendable {
        /// The unit that runs it.
        public var unit: String
        /// The ids of its patterns.
        public var patterns: [Int]
        /// The working memory of one run, in bytes.
        public var workspaceByteCount: Int
        /// The sum of what its patterns are expected to take.
        public var estimatedSeconds: Double
        /// The least seconds that it took; nil where nothing was measured.
        public var measuredSeconds: Double?
    }

    /// An input or a state, and what happens to it on its way.
    public struct Argument: Codable, Hashable, Sendable {
        /// The argument's name.
        public var name: String
        /// Whether it is a state.
        public var isState: Bool
        /// Its scalar type and shape.
        public var type: String
        /// The strides, in elements, that are taken without a copy for the layout; nil where the shape is dynamic.
        public var preferredStrides: [Int]?
        /// The strides that the array of a measured call had.
        public var givenStrides: [Int]?
        /// Whether that array was copied because of its layout.
        public var isCopiedForLayout: Bool
        /// The bytes of it, where the shape is known.
        public var byteCount: Int?
        /// The units whose memory it is copied to.
        public var copiedTo: [String]
    }

    /// Operations that only a run binds.
    public struct Unbound: Codable, Hashable, Sendable {
        /// The region that they are in.
        public var region: String
        /// The operations.
        public var operations: [Operation]
        /// Why a run has to bind them.
        public var reason: String
    }

    /// The memory of one call, in bytes.
    public struct Memory: Codable, Hashable, Sendable {
        /// All that the engine takes for one call at its peak: what a budget is held against.
        public var peakByteCount: Int
        /// Of it, the working memory of all parts.
        public var workspaceByteCount: Int
        /// Of it, results and values between parts in host memory.
        public var hostByteCount: Int
        /// Of it, the buffers of the units beside the CPU.
        public var deviceByteCount: Int
        /// The weights, which are loaded once and shared by all calls: not a part of the peak.
        public var weightByteCount: Int
        /// Whether all of the function was bound, so that the peak is that of every call.
        public var isComplete: Bool
    }
}

extension PlacementReport.Function {
    /// The patterns that compute something and don't run on `unit`.
    public func misplaced(from unit: String) -> [PlacementReport.Pattern] {
        patterns.filter { !$0.isBookkeeping && $0.unit != unit }
    }

    /// The units that compute something, in the order of their names.
    public var computingUnits: [String] { Set(patterns.filter { !$0.isBookkeeping }.map(\.unit)).sorted() }
}
