import EngineGraph

extension NumPyArray {
    /// The same numbers in the type that elements of `type` are saved as, where every integer stays exact and a float
    /// is only rounded; nil where the array is of that type already, or its bits may be.
    func converted(to type: ElementType) throws(CommandError) -> NumPyArray? {
        let target = NumPyType(saving: type)
        guard self.type != target, !self.type.carriesBits(of: type), target.elementType == type,
            let own = self.type.elementType, let numbers = numbers(asStored: own)
        else { return nil }
        let bytes: [UInt8]?
        switch numbers {
        case .integers(let values): bytes = Self.bytes(of: values, as: type)
        case .reals(let values): bytes = type.isFloat ? Self.bytes(of: values, as: type) : nil
        case .complex(let values):
            // Only between the two widths.
            bytes = type.complexPart.flatMap { Self.bytes(of: values, as: $0) }
        }
        guard let bytes else {
            throw .failure("\(self.type.name) numbers don't all fit \(type.displayName)")
        }
        return try NumPyArray(type: target, shape: shape, bytes: bytes[...])
    }

    private static func bytes(of values: [Int128], as type: ElementType) -> [UInt8]? {
        switch type {
        case .bool: values.allSatisfy { $0 == 0 || $0 == 1 } ? values.map { UInt8($0) } : nil
        case .int8: exact(values, Int8.self)
        case .int16: exact(values, Int16.self)
        case .int32: exact(values, Int32.self)
        case .int64: exact(values, Int64.self)
        case .uint8: exact(values, UInt8.self)
        case .uint16: exact(values, UInt16.self)
        case .uint32: exact(values, UInt32.self)
        case .uint64: exact(values, UInt64.self)
        default: bytes(of: values.map { Double($0) }, as: type)
        }
    }

    private static func bytes(of values: [Double], as type: ElementType) -> [UInt8]? {
        switch type {
        case .float16: raw(values.map { Float16($0) })
        case .float32: raw(values.map { Float($0) })
        case .float64: raw(values)
        default: nil
        }
    }

    private static func exact<T: FixedWidthInteger & BitwiseCopyable>(_ values: [Int128], _: T.Type) -> [UInt8]? {
        let converted = values.compactMap { T(exactly: $0) }
        return converted.count == values.count ? raw(converted) : nil
    }

    private static func raw<T: BitwiseCopyable>(_ values: [T]) -> [UInt8] { values.withUnsafeBytes { Array($0) } }
}
