import EngineCompiler
import EngineDelegation
import EngineGraph
import Testing

@Suite struct PlanCacheTests {
    private struct Refused: Error {}

    @Test func keepsTheLatest() throws {
        let cache = PlanCache<Int>(limit: 3)
        let made = Locked<[Int]>([])
        func plan(_ key: Int) -> Int {
            cache.plan(for: [key]) {
                made.withLock { $0.append(key) }
                return key * 10
            }
        }
        for key in [1, 2, 3, 1, 4] { #expect(plan(key) == key * 10) }
        // 2 was used longest ago.
        #expect(cache.count == 3)
        for key in [1, 3, 4] { _ = plan(key) }
        #expect(made.withLock { $0 } == [1, 2, 3, 4])
        _ = plan(2)
        #expect(made.withLock { $0 } == [1, 2, 3, 4, 2])
        #expect(cache.count == 3)
    }

    @Test func aLimitIsAtLeastOne() {
        let cache = PlanCache<Int>(limit: 0)
        for key in 0..<5 { #expect(cache.plan(for: [key]) { key } == key) }
        #expect(cache.count == 1)
    }

    @Test func anErrorIsNotKept() throws {
        let cache = PlanCache<Int>(limit: 2)
        #expect(throws: Refused.self) { try cache.plan(for: [1]) { () throws(Refused) in throw Refused() } }
        #expect(cache.count == 0)
        #expect(cache.plan(for: [1]) { 5 } == 5)
    }

    @Test func manyTasksAtOnce() async {
        let cache = PlanCache<Int>(limit: 4)
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<16 {
                group.addTask {
                    (0..<200).allSatisfy { step in
                        let key = (task * 7 + step) % 9
                        return cache.plan(for: [key]) { key * 3 } == key * 3
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(cache.count <= 4)
    }
}
