import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the kernel says about this machine and process.
enum SystemFacts {
    /// The processor's name; the architecture's, where there is none.
    static var processorName: String {
        field("model name", of: "/proc/cpuinfo") ?? field("Model", of: "/proc/cpuinfo") ?? architecture
    }

    static var architecture: String {
        var names = utsname()
        guard uname(&names) == 0 else { return "unknown" }
        return withUnsafeBytes(of: &names.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// The most memory that this process has held at once, in bytes; nil where the system does not tell.
    static var peakByteCount: Int? {
        guard let text = field("VmHWM", of: "/proc/self/status"), let size = text.split(separator: " ").first,
            let kibibytes = Int(size)
        else { return nil }
        return kibibytes * 1024
    }

    /// The value of the first line `name : value` of a file.
    private static func field(_ name: String, of path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == name else { continue }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
        return nil
    }
}
