import CoreAI
import EngineGraph
import EngineRuntime
import Foundation

/// Replays one case through the public API.
enum CaseRunner {
    /// Runs the case; whatever happens in it is in the result.
    static func run(_ request: CaseRequest) async -> CaseResult {
        let clock = ContinuousClock()
        let start = clock.now
        var result = CaseResult(name: request.name, passed: false)
        do {
            let folder = try CaseFolder(request.path)
            if folder.meta.expect == .error {
                try await expectError(folder, request, &result)
            } else {
                try await replay(folder, request, &result)
            }
        } catch {
            result.passed = false
            result.error = CommandError(describing: error).description
        }
        result.seconds = (clock.now - start).seconds
        return result
    }

    private static func replay(_ folder: CaseFolder, _ request: CaseRequest, _ result: inout CaseResult) async throws {
        guard !folder.calls.isEmpty else { throw CommandError.failure("there is no case_0.npz") }
        let session = try await ModelSession(
            folder.model.path, functionName: folder.meta.function, unit: request.unit,
            fusesPatterns: request.fusesPatterns)
        result.function = session.descriptor.name
        let traits = ProgramTraits(session.program)
        result.unit = request.unit.computing.rawValue
        var states: [String: NDArray] = [:]
        let observer = RunObserver()
        for (index, url) in folder.calls.enumerated() {
            let call = try CaseCall(url, isFirst: index == 0, session)
            if index == 0 { states = try call.initialStates(session) }
            let outputs = try await RunObserver.$current.withValue(observer) {
                try await session.call(call.inputs, states: &states)
            }
            let comparer = CaseComparer(
                request: request, folder: folder, traits: traits, outputNames: session.descriptor.outputNames)
            result.outputs += try comparer.compare(call, number: index, outputs, states)
        }
        result.passed = result.outputs.allSatisfy(\.passed)
        let placement = session.function.placement(observed: observer)
        if !placement.computingUnits.isEmpty { result.unit = placement.computingUnits.joined(separator: " and ") }
        let misplaced = placement.misplaced(from: request.unit.rawValue)
        if result.passed, request.placedOnly, !misplaced.isEmpty {
            result.passed = false
            result.error = "not on \(request.unit.rawValue): \(Self.text(misplaced, unit: request.unit))"
        }
    }

    /// The operations of patterns, with the reasons of a unit not to run them; each once.
    private static func text(_ patterns: [PlacementReport.Pattern], unit: ComputeUnit) -> String {
        var texts: [String] = []
        for pattern in patterns {
            let names = pattern.operations.map(\.name).joined(separator: " + ")
            let reason = pattern.declined.first { $0.unit == unit.rawValue }?.reason
            let text = reason.map { "\(names) (\($0))" } ?? names
            if !texts.contains(text) { texts.append(text) }
        }
        let shown = texts.prefix(8).joined(separator: ", ")
        return texts.count > 8 ? "\(shown) and \(texts.count - 8) more" : shown
    }

    /// Loading or running must throw; what is wrong with the case's own files does not count.
    private static func expectError(
        _ folder: CaseFolder, _ request: CaseRequest, _ result: inout CaseResult
    ) async throws {
        guard FileManager.default.fileExists(atPath: folder.model.path) else {
            throw CommandError.failure("\(folder.model.path): there is no such asset")
        }
        var session: ModelSession
        do {
            session = try await ModelSession(
                folder.model.path, functionName: folder.meta.function, unit: request.unit,
                fusesPatterns: request.fusesPatterns)
        } catch {
            result.passed = true
            return
        }
        result.function = session.descriptor.name
        result.unit = request.unit.computing.rawValue
        var states: [String: NDArray] = [:]
        for (index, url) in folder.calls.enumerated() {
            let call = try CaseCall(url, isFirst: index == 0, session)
            if index == 0 { states = try call.initialStates(session) }
            do {
                _ = try await session.call(call.inputs, states: &states)
            } catch {
                result.passed = true
                return
            }
        }
        result.error = folder.calls.isEmpty ? "an error is expected, but it loads" : "an error is expected, but it runs"
    }
}

/// The arrays of one call.
struct CaseCall {
    private let archive: NumPyArchive
    let inputs: [String: NDArray]
    private let stateArrays: [String: NDArray]

    init(_ url: URL, isFirst: Bool, _ session: ModelSession) throws(CommandError) {
        archive = try NumPyArchive(url.path)
        inputs = try Self.arrays(archive, "input_", session, isState: false)
        stateArrays = isFirst ? try Self.arrays(archive, "state_", session, isState: true) : [:]
    }

    /// The states before the first call: as recorded, else zeros where the shape is fixed.
    func initialStates(_ session: ModelSession) throws(CommandError) -> [String: NDArray] {
        var states = stateArrays
        for name in session.descriptor.stateNames where states[name] == nil {
            guard let descriptor = session.arrayDescriptor(name, isState: true), !descriptor.hasDynamicShape else {
                throw .failure("the case has no state_\(name)")
            }
            states[name] = try .zeros(descriptor.shape, descriptor.scalarType)
        }
        return states
    }

    /// The names of the references: what follows `expected_`.
    var expectedNames: [String] { archive.names.filter { $0.hasPrefix("expected_") }.map { String($0.dropFirst(9)) } }

    func expected(_ name: String) throws(CommandError) -> NumPyArray { try archive.array("expected_" + name) }

    private static func arrays(
        _ archive: NumPyArchive, _ prefix: String, _ session: ModelSession, isState: Bool
    ) throws(CommandError) -> [String: NDArray] {
        var result: [String: NDArray] = [:]
        for arrayName in archive.names where arrayName.hasPrefix(prefix) {
            let name = String(arrayName.dropFirst(prefix.count))
            let expected = session.arrayDescriptor(name, isState: isState)?.scalarType
            let array = try archive.array(arrayName)
            do {
                result[name] = try NDArray(array, expected: expected)
            } catch {
                throw error.about(arrayName)
            }
        }
        return result
    }
}
