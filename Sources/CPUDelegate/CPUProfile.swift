import CPUKernels
import EngineDelegation
import EngineGraph

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension CPUDelegate {
    /// How fast this processor is, measured at the first use in a few milliseconds.
    static let measuredProfile = UnitProfile(
        operationsPerSecond: productRate(), bytesPerSecond: copyRate(), launchSeconds: 1e-6,
        transferBytesPerSecond: .infinity, transferSeconds: 0)

    private static func productRate() -> Double {
        let size = 256
        guard let x = try? HostBuffer(byteCount: size * size * 4), let y = try? HostBuffer(byteCount: size * size * 4),
            let result = try? HostBuffer(byteCount: size * size * 4)
        else { return 1e10 }
        var product = ck_gemm()
        (product.m, product.n, product.k, product.batch) = (size, size, size, 1)
        product.a = UnsafeRawPointer(x.pointer)
        product.b = UnsafeRawPointer(y.pointer)
        product.c = result.pointer
        (product.a_type, product.b_type, product.c_type) = (CK_F32, CK_F32, CK_F32)
        (product.lda, product.ldb, product.ldc) = (size, size, size)
        let seconds = best { _ = ck_gemm_run(&product) }
        return 2 * Double(size * size * size) / seconds
    }

    private static func copyRate() -> Double {
        let byteCount = 8 << 20
        guard let source = try? HostBuffer(byteCount: byteCount), let target = try? HostBuffer(byteCount: byteCount)
        else { return 1e10 }
        let seconds = best { target.pointer.copyMemory(from: source.pointer, byteCount: byteCount) }
        return 2 * Double(byteCount) / seconds
    }

    /// The least time of a few runs, in seconds.
    private static func best(_ body: () -> Void) -> Double {
        body()
        return (0..<3).map { _ in
            var before = timespec()
            var after = timespec()
            clock_gettime(CLOCK_MONOTONIC, &before)
            body()
            clock_gettime(CLOCK_MONOTONIC, &after)
            return Double(after.tv_sec - before.tv_sec) + Double(after.tv_nsec - before.tv_nsec) * 1e-9
        }.min().map { max($0, 1e-9) } ?? 1e-3
    }
}
