import CoreAI
import EngineAsset
import EngineCompiler
import EngineDelegation
import EngineGraph
import EngineRuntime
import EngineTestSupport
import Foundation
import Synchronization
import Testing

/// Loads damaged copies of every asset and recorded case, and runs those that still load: each must end in results or
/// in an error.
@Suite(.serialized) struct LoadMutationTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    /// Every program below the fixtures that is small enough, by its path.
    private static let programs: [(name: String, bytes: [UInt8])] = {
        let paths = (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String]) ?? []
        // Some recorded cases are damaged to begin with.
        let isGenuine = { (path: String) in path.hasSuffix("/main.mlirb") && !path.contains("/error/asset-") }
        return paths.filter(isGenuine).sorted().compactMap { path in
            guard let data = try? Data(contentsOf: folder.appending(path: path)), !data.isEmpty,
                data.count < Mutation.sizeLimit
            else { return nil }
            return (path, [UInt8](data))
        }
    }()

    /// How many copies to damage at random, over all programs.
    private static let mutantCount = Mutation.mutantCount ?? (Mutation.isFull ? 24_000 : 1_000)
    /// No array of a mutant may take more; genuine ones here are far smaller.
    private static let byteLimit = 256 << 20
    /// What a run may take of memory in all, so that it is quick.
    private static let runByteLimit = 2 << 20

    /// How far a copy came.
    private enum Outcome: Int, CaseIterable {
        case damaged, declined, loaded, failed, ran
    }

    /// Reads, verifies, loads and, where that is cheap, runs every function.
    private static func load(_ bytes: [UInt8]) async -> Outcome {
        let program: Program
        do { program = try AssetReader.readProgram(bytes: bytes) } catch { return .damaged }
        guard let model = try? AIModel(program: program) else { return .damaged }
        var outcome = Outcome.damaged
        for name in model.functionNames {
            do {
                guard let function = try model.loadFunction(named: name) else { return .declined }
                outcome = max(outcome, try await run(function.executor), by: \.rawValue)
            } catch {
                outcome = max(outcome, .declined, by: \.rawValue)
            }
        }
        return outcome
    }

    private static func max<Key: Comparable>(_ a: Outcome, _ b: Outcome, by key: (Outcome) -> Key) -> Outcome {
        key(a) < key(b) ? b : a
    }

    /// Binds a function to its own shapes, 2 for the extents that a call chooses, and runs it on zeros.
    private static func run(_ executor: FunctionExecutor) async throws -> Outcome {
        let graph = executor.function.compiled.graph
        var types: [ValueType] = []
        var byteCount = 0
        for argument in graph.body.arguments {
            let type = graph[type: argument].withExtents(2)
            types.append(type)
            let (sum, overflow) = byteCount.addingReportingOverflow(type.tensor?.byteCount ?? .max)
            guard !overflow else { return .declined }
            byteCount = sum
        }
        let plan = try executor.prepare(types)
        byteCount += plan.parts.reduce(0) { $0 &+ $1.executable.workspaceByteCount }
        byteCount &+= plan.outputs.reduce(0) { $0 &+ ($1.type.byteCount ?? 0) }
        guard byteCount >= 0, byteCount <= runByteLimit else { return .loaded }
        let arguments = try types.compactMap(\.tensor).map { type in
            HostTensor(type: type, buffer: try HostBuffer(byteCount: type.byteCount ?? 0))
        }
        let task = Task { try executor.run(arguments, destinations: []) }
        // A damaged loop may go on for ever.
        let watch = Task {
            try await Task.sleep(for: .milliseconds(500))
            task.cancel()
        }
        defer { watch.cancel() }
        do {
            _ = try await task.value
            return .ran
        } catch {
            return .failed
        }
    }

    @Test func genuineProgramsLoad() async {
        for program in Self.programs {
            let outcome = await Self.load(program.bytes)
            #expect(outcome != .damaged, "\(program.name)")
        }
    }

    @Test func damagedProgramsNeverTrap() async throws {
        HostBuffer.byteLimit.store(Self.byteLimit, ordering: .relaxed)
        try #require(!Self.programs.isEmpty)
        var counts: [Outcome: Int] = [:]
        let clock = ContinuousClock()
        for number in 0..<Self.mutantCount {
            let (round, index) = number.quotientAndRemainder(dividingBy: Self.programs.count)
            let program = Self.programs[index]
            let seed = Mutation.seed(file: index, round: round)
            if Mutation.isTraced { print("\(program.name), seed \(seed)") }
            let mutant =
                round % 2 == 0
                ? Mutation.flip(program.bytes, seed: seed) : Mutation.damage(program.bytes, seed: seed)
            let start = clock.now
            counts[await Self.load(mutant), default: 0] += 1
            let time = clock.now - start
            #expect(time < .seconds(10), "\(program.name), seed \(seed): \(time)")
        }
        print("mutants:", Outcome.allCases.map { "\(counts[$0] ?? 0) \($0)" }.joined(separator: ", "))
        // Some wounds change what a program computes, and no more than that.
        #expect((counts[.ran] ?? 0) > 0 || Self.mutantCount < 100)
    }

    @Test func everyTruncationIsAnError() async {
        for program in Self.programs {
            let step = Mutation.isFull ? 1 : Swift.max(1, program.bytes.count / 4)
            for length in stride(from: 0, to: program.bytes.count, by: step) {
                let outcome = await Self.load(Array(program.bytes.prefix(length)))
                #expect(outcome == .damaged, "\(program.name) cut to \(length) bytes")
            }
        }
    }
}

extension ValueType {
    fileprivate var tensor: TensorType? {
        switch self {
        case .tensor(let type), .handle(let type): type
        case .token, .image: nil
        }
    }

    /// The type with `extent` for each extent that it leaves open.
    fileprivate func withExtents(_ extent: Int) -> ValueType {
        func closed(_ type: TensorType) -> TensorType {
            TensorType(type.shape.map { $0 < 0 ? extent : $0 }, type.elementType, encoding: type.encoding)
        }
        switch self {
        case .tensor(let type): return .tensor(closed(type))
        case .handle(let type): return .handle(closed(type))
        case .token, .image: return self
        }
    }
}
