import COpenBLAS
import CPUKernels

/// What this machine's CPU is, and what the engine uses of it.
package enum CPUDescription {
    /// The widest vector instructions that the kernels use here.
    package static var vectorLevel: String {
        switch ck_cpu_level() {
        case 2: "AVX-512"
        case 1: "AVX2"
        default: "portable"
        }
    }

    /// How many threads a kernel may use.
    package static var threadCount: Int { Int(ck_thread_count()) }

    /// The core that OpenBLAS chose its kernels for.
    package static var blasCore: String { openblas_get_corename().map { String(cString: $0) } ?? "unknown" }

    /// OpenBLAS's version and build options, as it tells them.
    package static var blasConfiguration: String { openblas_get_config().map { String(cString: $0) } ?? "unknown" }

    /// Bounds the threads that a kernel may use, OpenBLAS's included.
    package static func limitThreads(to count: Int) {
        ck_set_thread_count(Int32(clamping: max(1, count)))
        openblas_set_num_threads(Int32(clamping: max(1, count)))
    }
}
