import EngineDelegation
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A process of its own that replays cases, so that one that crashes or hangs takes no other with it.
final class WorkerProcess {
    /// How the conversation about a case ended.
    enum Answer {
        case result(CaseResult)
        case died(reason: String)
        case timedOut
    }

    private let process: pid_t
    private let input: Int32
    private let output: Int32
    /// What the worker writes to its error stream: a file that has no name any more.
    private let errors: Int32
    private var pending: [UInt8] = []
    private var isReaped = false

    /// One start at a time: a pipe's end that leaked into another worker would hide that its own worker died.
    private static let starting = Locked(())

    init(executable: String, threads: Int) throws(CommandError) {
        let started = Self.starting.withLock { _ in Self.start(executable, threads) }
        guard let started else { throw .failure("a worker can't start: \(systemMessage())") }
        process = started.process
        input = started.input
        output = started.output
        errors = started.errors
    }

    private static func start(
        _ executable: String, _ threads: Int
    ) -> (process: pid_t, input: Int32, output: Int32, errors: Int32)? {
        var toWorker: [Int32] = [-1, -1]
        var fromWorker: [Int32] = [-1, -1]
        guard pipe(&toWorker) == 0 else { return nil }
        guard pipe(&fromWorker) == 0 else {
            toWorker.forEach { close($0) }
            return nil
        }
        var template = Array("\(NSTemporaryDirectory())/engine-worker-XXXXXX".utf8CString)
        let errors = mkstemp(&template)
        if errors >= 0 { unlink(template) }
        for descriptor in toWorker + fromWorker + [errors] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toWorker[0], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromWorker[1], STDOUT_FILENO)
        if errors >= 0 { posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }

        var environment = ProcessInfo.processInfo.environment
        // The message of a crash is wanted; its symbolication would take longer than the case.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        var child = pid_t()
        let status = withCStrings([executable, VerifyWorker.name, String(threads)]) { arguments in
            withCStrings(environment.map { "\($0)=\($1)" }) { variables in
                posix_spawn(&child, executable, &actions, nil, arguments, variables)
            }
        }
        close(toWorker[0])
        close(fromWorker[1])
        guard status == 0 else {
            for descriptor in [toWorker[1], fromWorker[0], errors] where descriptor >= 0 { close(descriptor) }
            errno = status
            return nil
        }
        return (child, toWorker[1], fromWorker[0], errors)
    }

    deinit {
        close(input)
        close(output)
        if errors >= 0 { close(errors) }
        if !isReaped {
            // Its input has ended: it goes, unless it hangs.
            kill(process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
        }
    }

    /// Has the worker replay a case, and waits for the answer for at most `limit` seconds.
    func ask(_ request: CaseRequest, limit: Double) -> Answer {
        guard let text = try? JSONText.encode(request, isPretty: false) else {
            return .died(reason: "the request can't be written")
        }
        if errors >= 0 {
            ftruncate(errors, 0)
            lseek(errors, 0, SEEK_SET)
        }
        var bytes = Array((text + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { systemWrite(input, $0.baseAddress!, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .died(reason: reap()) }
            bytes = bytes.dropFirst(count)
        }
        let end = ContinuousClock.now + .seconds(limit)
        while true {
            if let line = takeLine() {
                guard let result = try? JSONText.decode(CaseResult.self, from: Data(line)) else {
                    return .died(reason: "its answer can't be read")
                }
                return .result(result)
            }
            let rest = (end - ContinuousClock.now).milliseconds
            guard rest > 0 else { return .timedOut }
            var event = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let ready = poll(&event, 1, Int32(min(rest + 1, 1e9)))
            if ready <= 0 { continue }
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(output, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .died(reason: reap()) }
            pending += chunk[..<count]
        }
    }

    private func takeLine() -> ArraySlice<UInt8>? {
        guard let end = pending.firstIndex(of: 0x0A) else { return nil }
        let line = pending[..<end]
        pending = Array(pending[(end + 1)...])
        return line
    }

    /// Waits for the end of the worker, and says what it was.
    private func reap() -> String {
        var status: Int32 = 0
        // It closed its pipes, so it is going by itself, perhaps slowly: the signal is to be its own.
        var waits = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            usleep(10_000)
            waits += 1
            if waits == 1000 { kill(process, SIGKILL) }
        }
        isReaped = true
        let signal = status & 0x7F
        let cause =
            signal != 0 ? "signal \(signal), \(String(cString: strsignal(signal)))" : "exit status \(status >> 8)"
        let message = errorText().map { ": \($0)" } ?? ""
        return "crashed (\(cause))\(message)"
    }

    /// The first line that the worker wrote to its error stream.
    private func errorText() -> String? {
        guard errors >= 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = pread(errors, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        return text.split(separator: "\n").first.map(String.init)
    }

    private static func withCStrings<R>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
    ) -> R {
        let copies = strings.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return body(copies + [nil])
    }
}
