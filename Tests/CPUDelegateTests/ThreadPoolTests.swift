import CPUKernels
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Adds one to each item of an array of counters.
private let countUp: ck_range_fn = { context, begin, end in
    let counters = context!.assumingMemoryBound(to: Int32.self)
    for index in begin..<end { counters[index] += 1 }
}

private func counts(_ count: Int, _ body: (UnsafeMutablePointer<Int32>) -> Void) -> [Int32] {
    var counters = [Int32](repeating: 0, count: count)
    counters.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
    return counters
}

@Suite struct ThreadPoolTests {
    @Test(arguments: [1, 2, 17, 1000]) func coversEachItemOnce(count: Int) {
        atEachLevel { _ in
            for grain in [1, 3, 64] {
                let result = counts(count) { counters in
                    for _ in 0..<50 { ck_parallel_for(count, grain, countUp, counters) }
                }
                #expect(result == Array(repeating: 50, count: result.count))
            }
        }
    }

    @Test func nothingToDoCallsNothing() {
        let result = counts(1) { ck_parallel_for(0, 1, countUp, $0) }
        #expect(result == [0])
    }

    @Test func aLoopInsideALoopRunsInline() {
        let result = counts(8 * 50) { counters in
            ck_parallel_for(
                8, 1,
                { context, begin, end in
                    let counters = context!.assumingMemoryBound(to: Int32.self)
                    for index in begin..<end { ck_parallel_for(50, 1, countUp, counters + index * 50) }
                }, counters)
        }
        #expect(result == Array(repeating: 1, count: result.count))
    }

    @Test func concurrentCallersEachGetTheirLoop() async {
        let sums = await withTaskGroup(of: Bool.self) { group in
            for task in 1...6 {
                group.addTask {
                    let result = counts(task * 40) { counters in
                        for _ in 0..<200 { ck_parallel_for(task * 40, 1, countUp, counters) }
                    }
                    return result.allSatisfy { $0 == 200 }
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(sums == Array(repeating: true, count: 6))
    }

    @Test func theThreadCountIsWhatWasSet() {
        atEachLevel { _ in
            #expect(ck_set_thread_count(5) == 5)
            #expect(ck_thread_count() == 5)
            let result = counts(100) { ck_parallel_for(100, 1, countUp, $0) }
            #expect(result == Array(repeating: 1, count: result.count))
            #expect(ck_set_thread_count(0) >= 1)
        }
    }
}
