import EngineDelegation

/// The plans made for the shapes seen lately; the one used longest ago goes when the cache is full.
package final class PlanCache<Plan: Sendable>: Sendable {
    private struct State {
        var entries: [[Int]: (plan: Plan, tick: Int)] = [:]
        var tick = 0
    }
    private let state = Locked(State())
    private let limit: Int

    /// Keeps at most `limit` plans.
    package init(limit: Int) { self.limit = max(1, limit) }

    /// The plan under `key`, made by `make` where there is none. Two callers may make the same plan at once; both get
    /// one that is right.
    package func plan<E: Error>(for key: [Int], make: () throws(E) -> Plan) throws(E) -> Plan {
        let found = state.withLock { state -> Plan? in
            guard let entry = state.entries[key] else { return nil }
            state.tick += 1
            state.entries[key]?.tick = state.tick
            return entry.plan
        }
        if let found { return found }
        let made = try make()
        state.withLock { state in
            state.tick += 1
            if state.entries.count >= limit, state.entries[key] == nil,
                let oldest = state.entries.min(by: { $0.value.tick < $1.value.tick })
            {
                state.entries[oldest.key] = nil
            }
            state.entries[key] = (made, state.tick)
        }
        return made
    }

    package var count: Int { state.withLock { $0.entries.count } }
}
