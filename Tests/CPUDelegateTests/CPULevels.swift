import CPUKernels
import Synchronization

/// The level is one for the process, and tests run in parallel: whoever changes it holds this.
private let levelLock = Mutex(())

/// Calls `body` once at each CPU level that this machine has, 0 first. One caller at a time; don't nest.
func atEveryLevel(_ body: (Int32) throws -> Void) rethrows {
    try levelLock.withLock { _ in
        defer { ck_set_cpu_level(-1) }
        for level in 0...max(0, ck_set_cpu_level(-1)) {
            try body(ck_set_cpu_level(level))
        }
    }
}
