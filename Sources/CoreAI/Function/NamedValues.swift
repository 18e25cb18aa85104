/// Values by name, in the order in which the names came.
struct NamedValues<Value>: Sequence {
    private(set) var names: [String] = []
    private var values: [String: Value] = [:]

    var count: Int { names.count }

    /// Reading gives the value of a name, or nil. Writing a value puts it in the place of the one before; writing nil
    /// removes the name.
    subscript(name: String) -> Value? {
        get { values[name] }
        set {
            let known = values[name] != nil
            values[name] = newValue
            if newValue == nil {
                if known { names.removeAll { $0 == name } }
            } else if !known {
                names.append(name)
            }
        }
    }

    func makeIterator() -> some IteratorProtocol<(name: String, value: Value)> {
        names.lazy.compactMap { name in values[name].map { (name: name, value: $0) } }.makeIterator()
    }
}
