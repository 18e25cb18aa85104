import EngineDelegation
import EngineGraph

/// The positions of the elements that are not zero, in row-major order: a tensor of shape [count, rank].
///
/// Both zeros of a floating-point type are zero; NaN is not.
func nonZero(_ input: HostTensor, indexType: ElementType) throws(EngineError) -> HostTensor {
    guard indexType == .int32 || indexType == .uint32 else {
        throw .unsupportedOp(op: "non_zero", reason: "indices of type \(indexType.dialectName)")
    }
    let type = input.type
    let count = type.elementCount ?? 0
    let size = type.elementType.bitWidth / 8
    guard size >= 1, !type.elementType.isComplex else {
        throw .unsupportedOp(op: "non_zero", reason: "elements of type \(type.elementType.dialectName)")
    }
    // Everything but a floating-point type's sign bit decides.
    var mask = [UInt8](repeating: 0xFF, count: size)
    if type.elementType.isFloat { mask[size - 1] = 0x7F }
    let bytes = UnsafeRawBufferPointer(start: input.pointer, count: count * size)
    var positions: [Int] = []
    for element in 0..<count {
        var bits: UInt8 = 0
        for byte in 0..<size { bits |= bytes[element * size + byte] & mask[byte] }
        if bits != 0 { positions.append(element) }
    }
    let rank = type.rank
    let result = try HostTensor(allocating: TensorType([positions.count, rank], indexType))
    let output = result.pointer.assumingMemoryBound(to: Int32.self)
    for (row, position) in positions.enumerated() {
        var rest = position
        for dimension in stride(from: rank - 1, through: 0, by: -1) {
            output[row * rank + dimension] = Int32(truncatingIfNeeded: rest % type.shape[dimension])
            rest /= type.shape[dimension]
        }
    }
    return result
}
