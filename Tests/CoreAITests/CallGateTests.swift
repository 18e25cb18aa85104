import EngineDelegation
import Testing

@testable import CoreAI

/// A value that tasks share.
private final class Shared<Value: Sendable>: Sendable {
    private let mutex: Locked<Value>

    init(_ value: Value) { mutex = Locked(value) }

    func withLock<R: Sendable>(_ body: (inout sending Value) -> sending R) -> R { mutex.withLock(body) }
}

@Suite struct CallGateTests {
    /// Waits until `condition` holds; the test fails where it does not within seconds.
    private func eventually(_ condition: () -> Bool) async throws {
        for _ in 0..<2000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(2))
        }
        Issue.record("it did not happen")
    }

    @Test func neverMoreThanTheLimit() async throws {
        let gate = CallGate(limit: 3)
        let counts = Shared((now: 0, most: 0, all: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                group.addTask {
                    try await gate.enter()
                    counts.withLock {
                        $0.now += 1
                        $0.most = max($0.most, $0.now)
                        $0.all += 1
                    }
                    try await Task.sleep(for: .microseconds(300))
                    counts.withLock { $0.now -= 1 }
                    gate.leave()
                }
            }
            try await group.waitForAll()
        }
        let (now, most, all) = counts.withLock { $0 }
        #expect(now == 0 && all == 60)
        #expect((1...3).contains(most))
    }

    @Test func waitersComeInTheOrderTheyCame() async throws {
        let gate = CallGate(limit: 1)
        try await gate.enter()
        let order = Shared<[Int]>([])
        var tasks: [Task<Void, any Error>] = []
        for index in 0..<8 {
            tasks.append(
                Task {
                    try await gate.enter()
                    order.withLock { $0.append(index) }
                    gate.leave()
                })
            try await eventually { gate.waitingCount == index + 1 }
        }
        #expect(order.withLock { $0.isEmpty })
        gate.leave()
        for task in tasks { try await task.value }
        #expect(order.withLock { $0 } == Array(0..<8))
    }

    @Test func aCancelledWaiterLeavesTheLine() async throws {
        let gate = CallGate(limit: 1)
        try await gate.enter()
        let entered = Shared<[String]>([])
        func waiter(_ name: String) -> Task<Void, any Error> {
            Task { [gate, entered] in
                try await gate.enter()
                entered.withLock { $0.append(name) }
                gate.leave()
            }
        }
        let first = waiter("first")
        try await eventually { gate.waitingCount == 1 }
        let second = waiter("second")
        try await eventually { gate.waitingCount == 2 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(gate.waitingCount == 1)
        gate.leave()
        try await second.value
        #expect(entered.withLock { $0 } == ["second"])
        // The place is free again.
        try await gate.enter()
        gate.leave()
    }

    @Test func aCancelledTaskDoesNotEnter() async throws {
        let gate = CallGate(limit: 1)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await gate.enter()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // It took no place with it.
        try await gate.enter()
    }

    /// Cancelled, admitted and new tasks meet: no place is lost, none is given twice.
    @Test func placesSurviveCancellation() async throws {
        let gate = CallGate(limit: 2)
        let now = Shared((count: 0, most: 0))
        for round in 0..<40 {
            let tasks = (0..<8).map { _ in
                Task {
                    try await gate.enter()
                    now.withLock {
                        $0.count += 1
                        $0.most = max($0.most, $0.count)
                    }
                    await Task.yield()
                    now.withLock { $0.count -= 1 }
                    gate.leave()
                }
            }
            for (index, task) in tasks.enumerated() where (index + round) % 3 == 0 { task.cancel() }
            for task in tasks { _ = await task.result }
        }
        #expect(now.withLock { $0.most } <= 2)
        #expect(gate.waitingCount == 0)
        try await gate.enter()
        try await gate.enter()
    }

    @Test func aLimitIsAtLeastOne() async throws {
        let gate = CallGate(limit: 0)
        try await gate.enter()
        gate.leave()
    }
}
