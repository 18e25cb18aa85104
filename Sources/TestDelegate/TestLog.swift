package import EngineGraph

/// What a `TestDelegate` did, in order.
package enum TestEvent: Sendable, Equatable {
    case compiled(part: String)
    case loaded(part: String)
    case allocated(byteCount: Int)
    case freed(byteCount: Int)
    case madeQueue(Int)
    /// `after`: the numbers of the work of this delegate that it waits for; `others`: fences of no work of this
    /// delegate's.
    case submitted(work: Int, what: TestWork, queue: Int, after: [Int], others: Int)
    case started(work: Int)
    case finished(work: Int)
    case failed(work: Int, EngineError)
    case lost(reason: String)
    /// Two works that nothing ordered used the same memory at once, and one of them wrote.
    case conflict(work: Int, with: Int)
}

/// One entry of a queue.
package enum TestWork: Sendable, Equatable {
    case run(part: String)
    case copy(byteCount: Int, Direction)

    package enum Direction: String, Sendable, Codable {
        case toDevice, toHost, onDevice, onHost
    }

    var action: TestOptions.Action {
        switch self {
        case .run: .run
        case .copy: .copy
        }
    }
}

/// How often a `TestDelegate` did what.
package struct TestCounters: Sendable, Equatable {
    package var compiles = 0
    package var loads = 0
    package var allocations = 0
    package var queues = 0
    package var runs = 0
    package var copies = 0
    package var bytesToDevice = 0
    package var bytesToHost = 0
    /// Work whose fence failed, whatever the cause.
    package var failures = 0
    package var liveBytes = 0
    package var peakBytes = 0
    package var conflicts = 0

    mutating func count(_ action: TestOptions.Action) -> Int {
        switch action {
        case .compile: Self.next(&compiles)
        case .load: Self.next(&loads)
        case .allocate: Self.next(&allocations)
        case .makeQueue: Self.next(&queues)
        case .run: Self.next(&runs)
        case .copy: Self.next(&copies)
        }
    }

    private static func next(_ counter: inout Int) -> Int {
        counter += 1
        return counter
    }
}

/// What a fence of a `TestDelegate`'s work is known by.
package struct TestToken: Sendable, Hashable {
    package let unit: ObjectIdentifier
    /// The number of the work, counted from 1 in the order of submission over all queues.
    package let work: Int
}
