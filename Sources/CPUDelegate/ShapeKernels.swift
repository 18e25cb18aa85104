import CPUKernels
import EngineDelegation
import EngineGraph

/// Shape arithmetic: the compiler computes most of it when it binds a function, by these kernels.
let shapeKernels: [OpKind: KernelTable.Factory] = [
    .getShape: getShapeKernel, .broadcastShapes: broadcastShapesKernel, .range: rangeKernel,
]

private func getShapeKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard let shape = HostTensor(integers: request.operands[0].shape, type: request.results[0]) else {
        throw request.declined("a shape of type \(request.results[0])")
    }
    return Kernel { arguments throws(EngineError) in
        arguments.result().copyMemory(from: shape.pointer, byteCount: shape.byteCount)
    }
}

private func broadcastShapesKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let result = request.results[0]
    let types = (request.operands[0], request.operands[1])
    return Kernel { arguments throws(EngineError) in
        func shape(_ index: Int, _ type: TensorType) -> [Int]? {
            let address = UnsafeMutableRawPointer(mutating: arguments.operand(index))
            let buffer = HostBuffer(lending: address, byteCount: type.byteCount ?? 0, owner: nil)
            return HostTensor(type: type, buffer: buffer).integers()
        }
        guard let first = shape(0, types.0), let second = shape(1, types.1) else {
            throw .invalidValue(op: "broadcast_shapes", reason: "shapes of type \(types.0) and \(types.1)")
        }
        let joined = try ShapeMath(.broadcastShapes).broadcast(first, second)
        guard let tensor = HostTensor(integers: joined, type: result) else {
            throw .invalidValue(op: "broadcast_shapes", reason: "a shape of type \(result)")
        }
        arguments.result().copyMemory(from: tensor.pointer, byteCount: tensor.byteCount)
    }
}

/// `start + index · step`.
private func rangeKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let count = request.results[0].elementCount ?? 0
    let type = request.results[0].elementType
    func integers<T: FixedWidthInteger & Sendable>(_: T.Type) -> Kernel {
        Kernel { arguments throws(EngineError) in
            let start = arguments.operand(0, as: T.self).pointee
            let step = arguments.operand(2, as: T.self).pointee
            let result = arguments.result(as: T.self)
            for index in 0..<count { result[index] = start &+ T(truncatingIfNeeded: index) &* step }
        }
    }
    func floats<T: BinaryFloatingPoint & Sendable>(_: T.Type) -> Kernel {
        Kernel { arguments throws(EngineError) in
            let start = Double(arguments.operand(0, as: T.self).pointee)
            let step = Double(arguments.operand(2, as: T.self).pointee)
            let result = arguments.result(as: T.self)
            for index in 0..<count { result[index] = T(start + Double(index) * step) }
        }
    }
    switch type {
    case .int8: return integers(Int8.self)
    case .int16: return integers(Int16.self)
    case .int32: return integers(Int32.self)
    case .int64: return integers(Int64.self)
    case .uint8: return integers(UInt8.self)
    case .uint16: return integers(UInt16.self)
    case .uint32: return integers(UInt32.self)
    case .uint64: return integers(UInt64.self)
    case .float16: return floats(Float16.self)
    case .float32: return floats(Float.self)
    case .float64: return floats(Double.self)
    default: throw request.declined("ranges of \(type.dialectName)")
    }
}
