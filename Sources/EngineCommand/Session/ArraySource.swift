import CoreAI
import EngineGraph
import Foundation

/// Where a call's arrays come from: files, made-up numbers, zeros.
struct ArraySource {
    static let options = [
        OptionSpec(
            "--input", "NAME=FILE", isRepeatable: true,
            help:
                "an input from a .npy file, or from a .npz file: FILE.npz takes the array of the input's name, or the "
                + "only one, FILE.npz:ARRAY the one called ARRAY"),
        OptionSpec("--state", "NAME=FILE", isRepeatable: true, help: "a state's first value; zeros, if not given"),
        OptionSpec("--shape", "NAME=2x3", isRepeatable: true, help: "the shape of an input or state that has no file"),
    ]

    private let inputFiles: [(key: String, value: String)]
    private let stateFiles: [(key: String, value: String)]
    private let shapes: [(key: String, value: [Int])]
    /// What a dynamic size is where no shape is given; nil where one has to be.
    private let openExtent: Int?

    init(_ arguments: ParsedArguments, openExtent: Int? = nil) throws(CommandError) {
        self.openExtent = openExtent
        inputFiles = try arguments.pairs("--input")
        stateFiles = try arguments.pairs("--state")
        var shapes: [(key: String, value: [Int])] = []
        for (name, text) in try arguments.pairs("--shape") { shapes.append((name, try Self.shape(text))) }
        self.shapes = shapes
    }

    /// Reads `2x3`; `scalar` or nothing is a single number.
    static func shape(_ text: String) throws(CommandError) -> [Int] {
        if text.isEmpty || text == "scalar" { return [] }
        var shape: [Int] = []
        for part in text.split(separator: "x", omittingEmptySubsequences: false) {
            guard let extent = Int(part), extent >= 0 else {
                throw .usage("option '--shape' takes NAME=2x3, not '\(text)'")
            }
            shape.append(extent)
        }
        return shape
    }

    /// The inputs for a call of `session`. Those without a file are taken from `known`; the others are random if there is a `seed`, else an error.
    /// `remark` hears of numbers that were converted.
    func inputs(
        for session: ModelSession, seed: UInt64?, known: [String: NDArray] = [:], remark: (String) -> Void
    ) throws(CommandError) -> [String: NDArray] {
        var random = RandomArrays(seed: seed ?? 0)
        var result = try files(inputFiles, session.descriptor.inputNames, session, isState: false, remark)
        try checkShapes(session)
        result.merge(known) { first, _ in first }
        for name in session.descriptor.inputNames where result[name] == nil {
            guard seed != nil else {
                throw .usage(
                    "input '\(name)' is not given", hint: "add --input \(name)=FILE.npy, or --random to make numbers up"
                )
            }
            let (type, shape) = try self.type(of: name, session, isState: false)
            result[name] = try random.array(shape, type)
        }
        return result
    }

    /// The states before the first call.
    func states(for session: ModelSession, remark: (String) -> Void) throws(CommandError) -> [String: NDArray] {
        var result = try files(stateFiles, session.descriptor.stateNames, session, isState: true, remark)
        for name in session.descriptor.stateNames where result[name] == nil {
            let (type, shape) = try self.type(of: name, session, isState: true)
            result[name] = try .zeros(shape, type)
        }
        return result
    }

    /// Refuses names that no function of `model` among `functions` has as an input or a state.
    func checkNames(_ model: AIModel, _ functions: [String]) throws(CommandError) {
        let descriptors = functions.compactMap { model.functionDescriptor(for: $0) }
        let inputs = descriptors.flatMap(\.inputNames)
        let states = descriptors.flatMap(\.stateNames)
        let wanted = inputFiles.map { ($0.key, inputs) } + stateFiles.map { ($0.key, states) }
        for (name, known) in wanted + shapes.map({ ($0.key, inputs + states) }) where !known.contains(name) {
            throw .usage(
                "there is no input or state '\(name)'", hint: "there is \((inputs + states).joined(separator: ", "))")
        }
    }

    /// The same for one function of several: names of the others are left out.
    func narrowed(to descriptor: InferenceFunctionDescriptor) -> ArraySource {
        let (inputs, states) = (descriptor.inputNames, descriptor.stateNames)
        return ArraySource(
            inputFiles: inputFiles.filter { inputs.contains($0.key) },
            stateFiles: stateFiles.filter { states.contains($0.key) },
            shapes: shapes.filter { (inputs + states).contains($0.key) }, openExtent: openExtent)
    }

    private init(
        inputFiles: [(key: String, value: String)], stateFiles: [(key: String, value: String)],
        shapes: [(key: String, value: [Int])], openExtent: Int?
    ) {
        self.inputFiles = inputFiles
        self.stateFiles = stateFiles
        self.shapes = shapes
        self.openExtent = openExtent
    }

    private func files(
        _ files: [(key: String, value: String)], _ names: [String], _ session: ModelSession, isState: Bool,
        _ remark: (String) -> Void
    ) throws(CommandError) -> [String: NDArray] {
        let kind = isState ? "state" : "input"
        var result: [String: NDArray] = [:]
        for (name, path) in files {
            guard names.contains(name) else {
                let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
                throw .usage("function '\(session.descriptor.name)' has no \(kind) '\(name)'", hint: known)
            }
            let expected = session.arrayDescriptor(name, isState: isState)?.scalarType
            do {
                let array = try Self.read(path, name)
                let converted = try expected.flatMap { type throws(CommandError) in
                    try array.converted(to: type.elementType)
                }
                if let converted { remark("\(kind) '\(name)': \(array.type.name) taken as \(converted.type.name)") }
                result[name] = try NDArray(converted ?? array, expected: expected)
            } catch {
                throw error.about("\(kind) '\(name)'")
            }
        }
        return result
    }

    /// The array in `path`: `a.npy`, `a.npz` or `a.npz:array`.
    private static func read(_ path: String, _ name: String) throws(CommandError) -> NumPyArray {
        if path.hasSuffix(".npz") {
            let archive = try NumPyArchive(path)
            return try archive.array(archive.names.count == 1 ? archive.names[0] : name)
        }
        if let range = path.range(of: ".npz:", options: .backwards) {
            let archive = try NumPyArchive(String(path[..<range.upperBound].dropLast()))
            return try archive.array(String(path[range.upperBound...]))
        }
        return try NumPyFile.read(path)
    }

    private func checkShapes(_ session: ModelSession) throws(CommandError) {
        let known = session.descriptor.inputNames + session.descriptor.stateNames
        for (name, _) in shapes where !known.contains(name) {
            throw .usage(
                "function '\(session.descriptor.name)' has no input or state '\(name)'",
                hint: "it has \(known.joined(separator: ", "))")
        }
        for (name, _) in shapes where (inputFiles + stateFiles).contains(where: { $0.key == name }) {
            throw .usage("'\(name)' has a file already: leave --shape out for it")
        }
    }

    /// The scalar type and shape of an argument that is made up.
    private func type(
        of name: String, _ session: ModelSession, isState: Bool
    ) throws(CommandError) -> (NDArray.ScalarType, [Int]) {
        let kind = isState ? "state" : "input"
        guard let descriptor = session.arrayDescriptor(name, isState: isState) else {
            throw .failure("\(kind) '\(name)' is an image, which can't be made up")
        }
        let declared = descriptor.shape.map { $0 < 0 ? "?" : String($0) }.joined(separator: "x")
        guard let given = shapes.first(where: { $0.key == name })?.value else {
            guard !descriptor.hasDynamicShape else {
                if let openExtent {
                    return (descriptor.scalarType, descriptor.shape.map { $0 < 0 ? openExtent : $0 })
                }
                throw .usage(
                    "\(kind) '\(name)' has no fixed shape: \(declared)",
                    hint: "add --shape \(name)=\(declared.replacing("?", with: "1"))")
            }
            return (descriptor.scalarType, descriptor.shape)
        }
        let fits =
            given.count == descriptor.rank
            && zip(given, descriptor.shape).allSatisfy { $0 == $1 || ($1 < 0 && $0 >= 0) }
        guard fits else {
            throw .usage("\(kind) '\(name)' is \(declared.isEmpty ? "a scalar" : declared): the shape does not fit")
        }
        return (descriptor.scalarType, given)
    }
}
