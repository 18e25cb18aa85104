import EngineDelegation
import Foundation

/// Runs cases, several at a time, each group of them in a process of its own.
final class CasePool: Sendable {
    private struct State {
        var next = 0
        /// Results in the order of the requests, where they are there.
        var results: [CaseResult?]
        var delivered = 0
        var finished = 0
    }

    private let requests: [CaseRequest]
    private let state: Locked<State>
    /// The program that runs as worker; nil to run the cases in this process.
    private let executable: String?
    private let jobs: Int
    private let timeLimit: Double
    private let deliver: @Sendable (CaseResult, _ finished: Int) -> Void

    /// - Parameter deliver: Called with every result in the order of `requests`, one at a time.
    init(
        _ requests: [CaseRequest], executable: String?, jobs: Int, timeLimit: Double,
        deliver: @escaping @Sendable (CaseResult, _ finished: Int) -> Void
    ) {
        self.requests = requests
        self.executable = executable
        self.jobs = max(1, min(jobs, requests.count))
        self.timeLimit = timeLimit
        self.deliver = deliver
        state = Locked(State(results: [CaseResult?](repeating: nil, count: requests.count)))
    }

    /// Runs all cases.
    func run() async {
        guard let executable else {
            await withTaskGroup { group in
                for _ in 0..<jobs {
                    group.addTask {
                        while let index = self.takeIndex() {
                            self.finish(index, await CaseRunner.run(self.requests[index]))
                        }
                    }
                }
            }
            return
        }
        // A worker that died must not take this process with it, when its next case is written to it.
        signal(SIGPIPE, SIG_IGN)
        // At least two where there are two cores: one would leave the parallel paths of the kernels unchecked.
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let threads = min(cores, max(2, cores / jobs))
        await withTaskGroup { group in
            for _ in 0..<jobs {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        // Waiting for a worker blocks: not on the threads that tasks share.
                        Thread.detachNewThread {
                            self.serve(executable, threads)
                            continuation.resume()
                        }
                    }
                }
            }
        }
    }

    private func serve(_ executable: String, _ threads: Int) {
        var worker: WorkerProcess?
        while let index = takeIndex() {
            let request = requests[index]
            do {
                let current = try worker ?? WorkerProcess(executable: executable, threads: threads)
                worker = current
                switch current.ask(request, limit: timeLimit) {
                case .result(let result): finish(index, result)
                case .died(let reason):
                    worker = nil
                    finish(index, CaseResult(name: request.name, passed: false, error: reason))
                case .timedOut:
                    worker = nil
                    let error = "did not end within \(timeLimit.formatted()) s"
                    finish(index, CaseResult(name: request.name, passed: false, error: error))
                }
            } catch {
                finish(index, CaseResult(name: request.name, passed: false, error: "\(error)"))
            }
        }
    }

    private func takeIndex() -> Int? {
        state.withLock { state in
            guard state.next < requests.count else { return nil }
            state.next += 1
            return state.next - 1
        }
    }

    private func finish(_ index: Int, _ result: CaseResult) {
        state.withLock { state in
            state.results[index] = result
            state.finished += 1
            while state.delivered < requests.count, let ready = state.results[state.delivered] {
                state.delivered += 1
                // Within the lock: one at a time, in order.
                deliver(ready, state.finished)
            }
        }
    }

    /// The results so far, in order.
    var results: [CaseResult] { state.withLock { $0.results.compactMap(\.self) } }
}
