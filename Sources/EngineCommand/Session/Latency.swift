/// How long calls took, in milliseconds.
struct Latency: Encodable, Equatable {
    let min: Double
    let p50: Double
    let p90: Double
    let p99: Double
    let mean: Double

    /// The percentiles of at least one time: each the least time that so many percent of the calls stay within.
    init?(_ times: [Double]) {
        let sorted = times.sorted()
        guard let least = sorted.first else { return nil }
        func percentile(_ percent: Int) -> Double {
            sorted[Swift.max(0, (sorted.count * percent + 99) / 100 - 1)]
        }
        min = least
        p50 = percentile(50)
        p90 = percentile(90)
        p99 = percentile(99)
        mean = times.reduce(0, +) / Double(times.count)
    }
}
