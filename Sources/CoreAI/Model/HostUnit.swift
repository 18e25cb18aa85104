import CPUDelegate

/// The CPU, as the engine uses it: for tools, which see the delegates only through this module.
package enum HostUnit {
    /// The widest vector instructions that the kernels use here.
    package static var vectorLevel: String { CPUDescription.vectorLevel }
    /// How many threads a kernel may use.
    package static var threadCount: Int { CPUDescription.threadCount }
    /// The core that OpenBLAS chose its kernels for.
    package static var blasCore: String { CPUDescription.blasCore }
    /// OpenBLAS's version and build options, as it tells them.
    package static var blasConfiguration: String { CPUDescription.blasConfiguration }

    /// Bounds the threads that a kernel may use.
    package static func limitThreads(to count: Int) { CPUDescription.limitThreads(to: count) }
}
