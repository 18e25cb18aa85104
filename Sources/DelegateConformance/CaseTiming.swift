package import EngineDelegation
package import EngineGraph

/// How long a case took on a delegate, the best of several runs.
package struct CaseTiming: Sendable, Codable, Equatable {
    package let name: String
    package let nanoseconds: Double
    /// Bytes that inputs and outputs have, in billions a second.
    package let gigabytesPerSecond: Double
}

/// Times the cases that `delegate` takes; by default those that are large enough to tell something.
///
/// Each is run until `seconds` are over, at least three times; what submitting and waiting take is included.
package func time(
    delegate: any Delegate, cases: [OpCase] = OpCase.large, seconds: Double = 0.05
) throws(EngineError) -> [CaseTiming] {
    var timings: [CaseTiming] = []
    for row in cases {
        let built = try row.build()
        if delegate.refusal(of: built.part) != nil { continue }
        let run = try DeviceRun(built, on: delegate)
        try run.submit().wait()
        let clock = ContinuousClock()
        let start = clock.now
        var best = Duration.seconds(3600)
        var count = 0
        while count < 3 || clock.now - start < .seconds(seconds) {
            let before = clock.now
            try run.submit().wait()
            best = min(best, clock.now - before)
            count += 1
        }
        let part = built.part
        let bytes = (part.inputs + part.outputs).reduce(0) { $0 + (part[type: $1].byteCount ?? 0) }
        let nanoseconds = max(best / .nanoseconds(1), 1)
        timings.append(
            CaseTiming(name: row.name, nanoseconds: nanoseconds, gigabytesPerSecond: Double(bytes) / nanoseconds))
    }
    return timings
}

extension OpCase {
    /// Cases of at least 16,384 elements, and products and convolutions of any size.
    package static let large: [OpCase] = all.filter { row in
        guard let part = try? row.build().part else { return false }
        return (part.inputs + part.outputs).contains { (part[type: $0].elementCount ?? 0) >= 1 << 14 }
            || (row.kind.info.category.contains(.heavy) && row.type == .float32)
    }
}
