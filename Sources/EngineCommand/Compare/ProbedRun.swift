import CoreAI
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineRuntime

/// The ops of a function in program order, those of its regions among them.
struct ProbedOps {
    struct Entry {
        let op: Op
        /// The line of the source model that it comes from.
        let source: String?
        let metadata: [String: String]
    }

    private(set) var entries: [Entry] = []
    /// The op that defines each value.
    private(set) var definitions: [Value: Int] = [:]

    init(_ function: InferenceFunction) {
        let compiled = function.executor.function.compiled
        visit(compiled.graph.body, compiled.locations)
    }

    private mutating func visit(_ region: Region, _ locations: [SourceLocation]) {
        for op in region.ops {
            for result in op.results { definitions[result] = entries.count }
            entries.append(
                Entry(
                    op: op, source: locations.line(op.location),
                    metadata: locations.indices.contains(op.location) ? locations[op.location].metadata : [:]))
            for region in op.regions { visit(region, locations) }
        }
    }
}

/// One call of a function, with a look at every value that it computes.
enum ProbedRun {
    /// - Parameter probe: Takes each value with how often it has been seen before: loops compute it again.
    /// - Returns: The outputs, and the unit that computed each value.
    static func run(
        _ function: InferenceFunction, _ inputs: [String: NDArray], states: [String: NDArray],
        probe: @escaping @Sendable (_ value: Value, _ round: Int, _ tensor: HostTensor) -> Void
    ) async throws -> (outputs: [(name: String, array: NDArray)], units: [Value: String]) {
        let rounds = Rounds()
        let observer = RunObserver { value, tensor in probe(value, rounds.next(value), tensor) }
        var states = states
        let outputs = try await RunObserver.$current.withValue(observer) {
            try await ModelSession.call(function, inputs, states: &states)
        }
        var units: [Value: String] = [:]
        for visit in observer.visits {
            for placement in visit.segment.placements {
                for result in placement.op.results where visit.segment.globals.indices.contains(result.index) {
                    units[visit.segment.globals[result.index]] =
                        visit.fallback == nil ? placement.unit.name : DelegateID.cpu.name
                }
            }
        }
        return (outputs, units)
    }

    private final class Rounds: Sendable {
        private let counts = Locked<[Value: Int]>([:])

        func next(_ value: Value) -> Int {
            counts.withLock { counts in
                defer { counts[value, default: 0] += 1 }
                return counts[value, default: 0]
            }
        }
    }
}

/// Values that a reference run computed.
final class ReferenceValues: Sendable {
    private let values = Locked<[Value: [HostTensor]]>([:])

    func keep(_ value: Value, _ tensor: HostTensor) { values.withLock { $0[value, default: []].append(tensor) } }

    func tensor(_ value: Value, round: Int) -> HostTensor? {
        values.withLock { values in
            guard let rounds = values[value], round < rounds.count else { return nil }
            return rounds[round]
        }
    }
}

extension HostTensor {
    /// The elements as numbers.
    var elements: Numbers? {
        guard let count = type.elementCount else { return nil }
        return withExtendedLifetime(buffer) {
            Numbers(
                UnsafeRawBufferPointer(start: pointer, count: byteCount), type: type.elementType, count: count)
        }
    }
}
