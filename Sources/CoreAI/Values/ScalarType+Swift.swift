// Which Swift types stand for which scalar types.
extension NDArray.ScalarType {
    /// The scalar type whose elements are values of `type`; nil where the standard library's type has no such name.
    init?(swiftType type: Any.Type) {
        switch type {
        case is Float.Type: self = .float32
        case is Float16.Type: self = .float16
        case is Int32.Type: self = .int32
        case is Double.Type: self = .float64
        case is Int.Type, is Int64.Type: self = .int64
        case is UInt.Type, is UInt64.Type: self = .uint64
        case is UInt32.Type: self = .uint32
        case is Int16.Type: self = .int16
        case is UInt16.Type: self = .uint16
        case is Int8.Type: self = .int8
        case is UInt8.Type: self = .uint8
        case is Bool.Type: self = .bool
        case is Int128.Type: self = .int128
        case is UInt128.Type: self = .uint128
        default: return nil
        }
    }

    /// Whether the standard library has a type for the elements.
    var hasSwiftType: Bool {
        switch self {
        case .bool, .int8, .int16, .int32, .int64, .int128, .uint8, .uint16, .uint32, .uint64, .uint128, .float16,
            .float32, .float64:
            true
        default: false
        }
    }

    /// Stops the program unless the elements can be seen as values of `type`: the one Swift type where there is one,
    /// any type of the right size otherwise.
    func requireElement<Element: BitwiseCopyable>(_ type: Element.Type) {
        if hasSwiftType {
            guard NDArray.ScalarType(swiftType: type) == self else {
                fatalError("NDArray view: \(type) does not match the scalar type \(self)")
            }
        } else {
            guard bitWidth >= 8, MemoryLayout<Element>.stride == bitWidth / 8 else {
                fatalError(
                    "NDArray view: \(type) has not the size of the scalar type \(self), which is \(bitWidth) bits")
            }
        }
    }

    /// The scalar type of `type`'s values. Stops the program where there is none.
    static func requireNamed<Element: BitwiseCopyable>(_ type: Element.Type) -> NDArray.ScalarType {
        guard let scalarType = NDArray.ScalarType(swiftType: type) else {
            fatalError("NDArray: \(type) is the type of no NDArray.ScalarType")
        }
        return scalarType
    }
}
