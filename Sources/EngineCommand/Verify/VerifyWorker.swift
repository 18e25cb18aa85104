import CoreAI
import Foundation

/// The other side of `WorkerProcess`: reads requests, a line each, and answers them.
enum VerifyWorker {
    static let name = "verify-worker"

    static func run(_ arguments: [String]) async -> Int32 {
        if let threads = arguments.first.flatMap({ Int($0) }) { HostUnit.limitThreads(to: threads) }
        // Whatever a library prints must not get between the answers.
        let answers = dup(STDOUT_FILENO)
        dup2(STDERR_FILENO, STDOUT_FILENO)
        while let line = readLine() {
            guard let request = try? JSONText.decode(CaseRequest.self, from: Data(line.utf8)) else { return 2 }
            let result = await CaseRunner.run(request)
            guard let text = try? JSONText.encode(result, isPretty: false) else { return 1 }
            var bytes = Array((text + "\n").utf8)[...]
            while !bytes.isEmpty {
                let count = bytes.withUnsafeBytes { systemWrite(answers, $0.baseAddress!, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return 1 }
                bytes = bytes.dropFirst(count)
            }
        }
        return 0
    }
}
