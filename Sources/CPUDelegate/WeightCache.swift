import EngineDelegation

/// Weights in a kernel's own layout, shared by every part that uses the same constant in the same layout.
///
/// Entries are weak: a layout lives as long as a loaded part uses it, so the cache itself holds no memory.
final class WeightCache: Sendable {
    private struct Key: Hashable {
        let address: UInt
        let layout: String
    }
    private struct Entry {
        weak var value: AnyObject?
    }
    private let entries = Locked<[Key: Entry]>([:])

    /// The value made by `make` for `constant` in `layout`, made once while anyone holds it.
    ///
    /// What `make` returns must keep `constant`'s buffer alive, so that its address stays its identity.
    func value<T: AnyObject & Sendable, E: Error>(
        for constant: HostTensor, layout: String, make: () throws(E) -> T
    ) throws(E) -> T {
        let key = Key(address: UInt(bitPattern: constant.pointer), layout: layout)
        if let found = entries.withLock({ $0[key]?.value as? T }) { return found }
        let made = try make()
        entries.withLock {
            if $0.count >= 1024 { $0 = $0.filter { $0.value.value != nil } }
            $0[key] = Entry(value: made)
        }
        return made
    }
}
