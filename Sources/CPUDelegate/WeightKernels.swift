import CPUKernels
import EngineDelegation
import EngineGraph

/// Ops that unpack compressed weights.
///
/// A bitmask tensor is held dense, its mask behind its elements: one bit an element.
let weightKernels: [OpKind: KernelTable.Factory] = [
    .blockwiseShiftScale: shiftScaleKernel, .sparseWithBitmaskBlockwiseShiftScale: sparseShiftScaleKernel,
    .lutToDense: tableKernel, .lutToSparseWithBitmask: sparseTableKernel,
    .buildSparseWithBitmask: buildSparseKernel, .sparseWithBitmaskToDense: sparseToDenseKernel,
]

/// Reads elements of any real type as f32.
struct ElementReader: Sendable {
    private enum Form {
        case plain(ck_type)
        case packed(ck_packed_kind, bits: Int32)
    }
    private let form: Form
    private let byteWidth: Int

    init(_ type: ElementType, _ request: KernelRequest) throws(EngineError) {
        byteWidth = type.bitWidth / 8
        let bits = Int32(type.bitWidth)
        switch type {
        case .float8e5m2: form = .packed(CK_PACKED_F8E5M2, bits: 8)
        case .float8e4m3fn: form = .packed(CK_PACKED_F8E4M3FN, bits: 8)
        case .float8e8m0fn: form = .packed(CK_PACKED_F8E8M0FN, bits: 8)
        case .float4e2m1fn: form = .packed(CK_PACKED_F4E2M1FN, bits: 4)
        default:
            if type.bitWidth < 8 {
                form = .packed(type.isSignedInteger ? CK_PACKED_SIGNED : CK_PACKED_UNSIGNED, bits: bits)
            } else {
                form = .plain(try type.ckType(request))
            }
        }
    }

    func read(_ source: UnsafeRawPointer, from first: Int, count: Int, into output: UnsafeMutablePointer<Float>) {
        switch form {
        case .plain(let type): ck_cast(CK_F32, output, type, source + first * byteWidth, count)
        case .packed(let kind, let bits): ck_unpack_f32(kind, bits, source, first, count, output)
        }
    }
}

/// `scale · (data − offset1) + offset2`, each of the three for a block of the data.
private func shiftScaleKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let shape = request.operands[0].shape
    let blocks = request.operands[1].shape
    let readers = try request.operands.prefix(4).map { (type) throws(EngineError) in
        try ElementReader(type.elementType, request)
    }
    let result = try request.results[0].elementType.ckType(request)
    let resultSize = request.results[0].elementType.bitWidth / 8
    guard readers.count == 4, shape.count == blocks.count, shape.count >= 1,
        zip(shape, blocks).allSatisfy({ $1 > 0 && $0 % $1 == 0 })
    else {
        throw .invalidValue(
            op: request.op.kind.rawValue, reason: "blocks \(blocks) don't divide the data's shape \(shape)")
    }
    let blockCount = blocks.reduce(1, *)
    let row = shape[shape.count - 1]
    let rowCount = shape.dropLast().reduce(1, *)
    let blockStrides = try ShapeMath(request.op.kind).rowMajorStrides(blocks)
    let blockWidth = row / max(blocks[blocks.count - 1], 1)
    let parameters = blockCount * MemoryLayout<Float>.size
    return Kernel(workspaceByteCount: 3 * parameters + row * MemoryLayout<Float>.size) {
        arguments throws(EngineError) in
        let table = arguments.workspace.assumingMemoryBound(to: Float.self)
        for index in 0..<3 {
            readers[index + 1].read(
                arguments.operand(index + 1), from: 0, count: blockCount, into: table + index * blockCount)
        }
        let (scale, offset1, offset2) = (table, table + blockCount, table + 2 * blockCount)
        let line = table + 3 * blockCount
        for index in 0..<rowCount {
            var block = 0
            var rest = index
            for dimension in stride(from: shape.count - 2, through: 0, by: -1) {
                let position = rest % shape[dimension]
                rest /= shape[dimension]
                block += position / (shape[dimension] / blocks[dimension]) * blockStrides[dimension]
            }
            readers[0].read(arguments.operand(0), from: index * row, count: row, into: line)
            var column = 0
            while column < row {
                let (factor, shift, bias) = (scale[block], offset1[block], offset2[block])
                for position in column..<(column + blockWidth) {
                    line[position] = factor * (line[position] - shift) + bias
                }
                column += blockWidth
                block += 1
            }
            ck_cast(result, arguments.result() + index * row * resultSize, CK_F32, line, row)
        }
    }
}

/// Palette entries for indices: `lut[block…, index, …]`, a vector of values along `axis` for each.
private func tableKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let lookup = try TableLookup(request)
    return Kernel(workspaceByteCount: lookup.count) { arguments throws(EngineError) in
        lookup.run(arguments, mask: nil)
    }
}

private func sparseTableKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let lookup = try TableLookup(request)
    let elements = request.results[0].denseByteCount
    let total = request.results[0].byteCount ?? 0
    let source = request.operands[0].denseByteCount
    return Kernel(workspaceByteCount: lookup.count) { arguments throws(EngineError) in
        arguments.result().initializeMemory(as: UInt8.self, repeating: 0, count: total)
        lookup.run(
            arguments,
            mask: (
                source: (arguments.operand(0) + source).assumingMemoryBound(to: UInt8.self),
                result: (arguments.result() + elements).assumingMemoryBound(to: UInt8.self)
            ))
    }
}

/// How indices find their entries.
private struct TableLookup: Sendable {
    let count: Int
    private let shape: [Int]
    private let blocks: [Int]
    private let entryCount: Int
    private let vector: Int
    private let axis: Int
    private let indexBits: Int32
    private let elementSize: Int
    /// The strides of the blocks, and of the result.
    private let strides: [Int]
    private let target: [Int]

    init(_ request: KernelRequest) throws(EngineError) {
        let math = ShapeMath(request.op.kind)
        shape = request.operands[0].shape
        let table = request.operands[1].shape
        let rank = shape.count
        elementSize = request.results[0].elementType.bitWidth / 8
        indexBits = Int32(request.operands[0].elementType.bitWidth)
        guard table.count == rank + 2, indexBits <= 8, elementSize >= 1 else {
            throw request.declined("\(request.operands[0]) indices into \(request.operands[1])")
        }
        blocks = Array(table.prefix(rank))
        entryCount = table[rank]
        vector = table[rank + 1]
        count = shape.reduce(1, *)
        axis = try math.axis(try request.integer(2, "axis"), rank: max(rank, 1))
        strides = try math.rowMajorStrides(blocks)
        var expanded = shape
        if !expanded.isEmpty { expanded[axis] *= vector }
        target = try math.rowMajorStrides(expanded)
        guard entryCount == 1 << Int(indexBits), zip(shape, blocks).allSatisfy({ $1 > 0 && $0 % $1 == 0 }) else {
            throw .invalidValue(
                op: request.op.kind.rawValue, reason: "a table \(table) for indices \(request.operands[0])")
        }
    }

    func run(
        _ arguments: KernelArguments, mask: (source: UnsafePointer<UInt8>, result: UnsafeMutablePointer<UInt8>)?
    ) {
        let indices = arguments.workspace.assumingMemoryBound(to: UInt8.self)
        ck_unpack_u8(indexBits, arguments.operand(0), 0, count, indices)
        for element in 0..<count {
            if let mask, mask.source[element / 8] >> UInt8(element % 8) & 1 == 0 { continue }
            var block = 0
            var position = 0
            var rest = element
            for dimension in stride(from: shape.count - 1, through: 0, by: -1) {
                let index = rest % shape[dimension]
                rest /= shape[dimension]
                block += index / (shape[dimension] / blocks[dimension]) * strides[dimension]
                position += index * (dimension == axis ? vector : 1) * target[dimension]
            }
            let entry = arguments.operand(1) + (block * entryCount + Int(indices[element])) * vector * elementSize
            for part in 0..<vector {
                let place = position + part * (target.isEmpty ? 1 : target[axis])
                (arguments.result() + place * elementSize).copyMemory(
                    from: entry + part * elementSize, byteCount: elementSize)
                if let mask { mask.result[place / 8] |= 1 << UInt8(place % 8) }
            }
        }
    }
}

private func buildSparseKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let type = request.results[0]
    let valueCount = request.operands[0].elementCount ?? 0
    let count = type.elementCount ?? 0
    let bits = type.elementType.bitWidth
    let maskBits = Int32(request.operands[1].elementType.bitWidth)
    guard maskBits <= 8 else { throw request.declined("a mask of \(request.operands[1])") }
    let elements = type.denseByteCount
    let total = type.byteCount ?? 0
    return Kernel(workspaceByteCount: count) { arguments throws(EngineError) in
        let mask = arguments.workspace.assumingMemoryBound(to: UInt8.self)
        ck_unpack_u8(maskBits, arguments.operand(1), 0, count, mask)
        let result = arguments.result()
        result.initializeMemory(as: UInt8.self, repeating: 0, count: total)
        let flags = (result + elements).assumingMemoryBound(to: UInt8.self)
        var next = 0
        for element in 0..<count where mask[element] != 0 {
            guard next < valueCount else {
                throw .invalidValue(
                    op: "build_sparse_with_bitmask", reason: "the mask has more bits set than the \(valueCount) values")
            }
            BitField.copy(arguments.operand(0), next, to: result, element, bits: bits)
            flags[element / 8] |= 1 << UInt8(element % 8)
            next += 1
        }
        guard next == valueCount else {
            throw .invalidValue(
                op: "build_sparse_with_bitmask", reason: "the mask has \(next) bits set for \(valueCount) values")
        }
    }
}

/// Elements of any width, by their index.
enum BitField {
    static func copy(
        _ source: UnsafeRawPointer, _ index: Int, to target: UnsafeMutableRawPointer, _ place: Int, bits: Int
    ) {
        if bits % 8 == 0 {
            let size = bits / 8
            (target + place * size).copyMemory(from: source + index * size, byteCount: size)
            return
        }
        // The target's bits are zero before.
        for bit in 0..<bits {
            let from = index * bits + bit
            let to = place * bits + bit
            let value = source.load(fromByteOffset: from / 8, as: UInt8.self) >> UInt8(from % 8) & 1
            let byte = target.load(fromByteOffset: to / 8, as: UInt8.self) | value << UInt8(to % 8)
            target.storeBytes(of: byte, toByteOffset: to / 8, as: UInt8.self)
        }
    }
}

private func sparseToDenseKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    .copy(byteCount: request.operands[0].denseByteCount)
}

/// The shift and scale of the elements that are there; the others stay zero.
private func sparseShiftScaleKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    let dense = KernelRequest(
        op: request.op,
        operands: request.operands.map { TensorType($0.shape, $0.elementType) },
        results: request.results.map { TensorType($0.shape, $0.elementType) }, constants: request.constants,
        weights: request.weights)
    let kernel = try shiftScaleKernel(dense)
    let count = request.results[0].elementCount ?? 0
    let size = request.results[0].elementType.bitWidth / 8
    let maskByteCount = (count + 7) / 8
    let source = request.operands[0].denseByteCount
    return Kernel(workspaceByteCount: kernel.workspaceByteCount) { arguments throws(EngineError) in
        try kernel.body(arguments)
        let mask = (arguments.operand(0) + source).assumingMemoryBound(to: UInt8.self)
        let result = arguments.result()
        for element in 0..<count where mask[element / 8] >> UInt8(element % 8) & 1 == 0 {
            (result + element * size).initializeMemory(as: UInt8.self, repeating: 0, count: size)
        }
        (result + count * size).copyMemory(from: mask, byteCount: maskByteCount)
    }
}

extension TensorType {
    /// The bytes of the elements alone, without a mask.
    fileprivate var denseByteCount: Int { elementType.byteCount(of: elementCount ?? 0) ?? 0 }
}
