/// Everything that can go wrong inside the engine: a case per cause, with the name of what was wrong, what was
/// expected, and what was given.
package enum EngineError: Error, Sendable, Equatable {
    /// The asset's program does not decode; `offset` is a position in `file`, where one is known.
    case malformedAsset(file: String, offset: Int?, reason: String)
    /// The program was written in a version that this engine does not know.
    case unsupportedVersion(found: String, supported: String)
    /// The graph breaks a rule of the dialect.
    case invalidGraph(function: String, op: String, reason: String)
    /// No delegate runs this op, for the reason given.
    case unsupportedOp(op: String, reason: String)
    /// A caller's argument does not fit the function.
    case invalidArgument(function: String, argument: String, expected: String, given: String)
    /// A function's input, state or output was not given.
    case missingArgument(function: String, argument: String, kind: String)
    /// A value met at run time that the op cannot take: an index out of range, a shape that does not match.
    case invalidValue(op: String, reason: String)
    /// Memory ran out, or a limit that the host set was reached.
    case outOfMemory(unit: String, byteCount: Int)
    /// A call would take more memory than the host allows it.
    case overBudget(function: String, byteCount: Int, budget: Int)
    /// Everything was to run on one unit, and these ops don't: each with its place in the source and the reason.
    case misplaced(unit: String, ops: [String])
    /// A device is gone or failed.
    case deviceFailure(unit: String, reason: String)
    /// The task that called was cancelled.
    case cancelled
    /// A file or the system refused.
    case system(operation: String, path: String, reason: String)
}

extension EngineError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformedAsset(let file, let offset, let reason):
            if let offset {
                "\(file) is malformed at byte \(offset): \(reason)"
            } else {
                "\(file) is malformed: \(reason)"
            }
        case .unsupportedVersion(let found, let supported):
            "the program's version is \(found); this engine reads \(supported)"
        case .invalidGraph(let function, let op, let reason): "function '\(function)', op \(op): \(reason)"
        case .unsupportedOp(let op, let reason): "op \(op) can't run: \(reason)"
        case .invalidArgument(let function, let argument, let expected, let given):
            "function '\(function)', argument '\(argument)': expected \(expected), given \(given)"
        case .missingArgument(let function, let argument, let kind):
            "function '\(function)': \(kind) '\(argument)' was not given"
        case .invalidValue(let op, let reason): "op \(op): \(reason)"
        case .outOfMemory(let unit, let byteCount): "out of memory on \(unit): \(byteCount) bytes asked for"
        case .overBudget(let function, let byteCount, let budget):
            "function '\(function)': a call takes \(byteCount) bytes, the budget is \(budget); raise it, or pass smaller shapes"
        case .misplaced(let unit, let ops):
            "not everything runs on \(unit), as was required: \(ops.joined(separator: "; "))"
        case .deviceFailure(let unit, let reason): "\(unit) failed: \(reason)"
        case .cancelled: "cancelled"
        case .system(let operation, let path, let reason): "\(operation) '\(path)': \(reason)"
        }
    }
}
