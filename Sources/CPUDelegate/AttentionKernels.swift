import CPUKernels
import EngineDelegation
import EngineGraph

/// Attention, which fusion finds: the scores are never in memory as a whole.
let attentionKernels: [OpKind: KernelTable.Factory] = [.attention: attentionKernel]

private func attentionKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard case .attention(let attributes) = request.op.attributes else {
        throw request.declined("it has no attributes")
    }
    let query = try StridedView(request.operands[0].shape, attributes.queryPermutation, request)
    let key = try StridedView(request.operands[1].shape, attributes.keyPermutation, request)
    let value = try StridedView(request.operands[2].shape, attributes.valuePermutation, request)
    // The result as attention makes it: the dimensions that its own permutation puts in order.
    let stored = request.results[0].shape
    let permutation =
        attributes.resultPermutation.isEmpty ? Array(stored.indices) : attributes.resultPermutation
    guard permutation.count == stored.count else { throw request.declined("a result of rank \(stored.count)") }
    var inverse = permutation
    for (place, dimension) in permutation.enumerated() where inverse.indices.contains(dimension) {
        inverse[dimension] = place
    }
    let result = try StridedView(stored, inverse, request)
    var attention = ck_attention()
    attention.batch = result.extents[0]
    attention.heads = result.extents[1]
    attention.queries = result.extents[2]
    attention.value_depth = result.extents[3]
    attention.keys = key.extents[2]
    attention.depth = query.extents[3]
    guard key.extents[3] == attention.depth, value.extents[2] == attention.keys,
        value.extents[3] == attention.value_depth, query.extents[2] == attention.queries
    else {
        throw request.declined("query \(query.extents), key \(key.extents), value \(value.extents) don't fit together")
    }
    attention.q_type = try request.operands[0].elementType.ckType(request)
    attention.k_type = try request.operands[1].elementType.ckType(request)
    attention.v_type = try request.operands[2].elementType.ckType(request)
    attention.out_type = try request.results[0].elementType.ckType(request)
    let batch = Array(result.extents.prefix(2))
    // Fewer heads of keys and values: each serves a group of the query's.
    let heads = max(key.extents[1], value.extents[1])
    guard heads > 0, attention.heads % heads == 0 else {
        throw request.declined("\(heads) heads of keys for \(attention.heads) of queries")
    }
    attention.kv_heads = heads
    let groups = [batch[0], heads]
    attention.q_stride = try query.strides(over: batch, request)
    attention.k_stride = try key.strides(over: groups, request)
    attention.v_stride = try value.strides(over: groups, request)
    attention.out_stride = try result.strides(over: batch, request)
    attention.scale = Float(attributes.scale)
    if let offset = attributes.causalOffset {
        attention.causal = true
        attention.causal_offset = offset
    }
    if attributes.hasMask {
        let mask = try StridedView(request.operands[3].shape, [], request)
        attention.mask_type = try request.operands[3].elementType.ckType(request)
        attention.mask_stride = try mask.strides(
            over: batch + [attention.queries, attention.keys], request)
    }
    let template = AttentionTemplate(attention)
    let hasMask = attributes.hasMask
    let inverted = try attributes.hidesTrue ? InvertedMask(request) : nil
    return Kernel(workspaceByteCount: inverted?.workspaceByteCount ?? 0) { arguments throws(EngineError) in
        var attention = template.value
        attention.q = arguments.operand(0)
        attention.k = arguments.operand(1)
        attention.v = arguments.operand(2)
        attention.out = arguments.result()
        if hasMask { attention.mask = inverted?.pointer(arguments) ?? arguments.operand(3) }
        guard ck_attention_run(&attention) else {
            throw .outOfMemory(unit: "cpu", byteCount: attention.queries * attention.keys * 4)
        }
    }
}

/// `@unchecked Sendable`: the pointers in it are filled by each run in a copy of its own.
private struct AttentionTemplate: @unchecked Sendable {
    let value: ck_attention

    init(_ value: ck_attention) { self.value = value }
}

/// A mask that hides keys where it is true, as one that shows them there: a constant is turned once, another in each run.
private struct InvertedMask: Sendable {
    private let constant: HostTensor?
    private let count: Int
    var workspaceByteCount: Int { constant == nil ? count : 0 }

    init(_ request: KernelRequest) throws(EngineError) {
        guard request.operands.count > 3, request.operands[3].elementType == .bool else {
            throw request.declined("a mask of \(request.operands.dropFirst(3))")
        }
        count = request.operands[3].byteCount ?? 0
        guard let given = request.constants[3] else {
            constant = nil
            return
        }
        let made = try HostTensor(allocating: given.type)
        Self.invert(given.pointer, to: made.pointer, count)
        constant = made
    }

    func pointer(_ arguments: KernelArguments) -> UnsafeRawPointer {
        if let constant { return UnsafeRawPointer(constant.pointer) }
        Self.invert(arguments.operand(3), to: arguments.workspace, count)
        return UnsafeRawPointer(arguments.workspace)
    }

    private static func invert(_ mask: UnsafeRawPointer, to result: UnsafeMutableRawPointer, _ count: Int) {
        let (source, target) = (
            mask.assumingMemoryBound(to: UInt8.self), result.assumingMemoryBound(to: UInt8.self)
        )
        for index in 0..<count { target[index] = source[index] == 0 ? 1 : 0 }
    }
}

/// A dense tensor with its dimensions in another order, as batch, heads, rows and columns.
private struct StridedView {
    /// Four extents; ones in front of those that are there.
    let extents: [Int]
    private let strides: [Int]

    /// Dimension `i` of the view is dimension `permutation[i]` as it is stored; an empty permutation changes nothing.
    init(_ shape: [Int], _ permutation: [Int], _ request: KernelRequest) throws(EngineError) {
        let math = ShapeMath(.attention)
        let order = try math.permutation(
            permutation.isEmpty ? Array(shape.indices) : permutation, rank: shape.count)
        guard shape.count <= 4 else { throw request.declined("tensors of rank \(shape.count)") }
        let stored = try math.rowMajorStrides(shape)
        let missing = 4 - shape.count
        extents = Array(repeating: 1, count: missing) + order.map { shape[$0] }
        strides = Array(repeating: 0, count: missing) + order.map { stored[$0] }
    }

    /// The strides in elements, 0 where an extent of one is repeated to fill `target`.
    func strides(over target: [Int], _ request: KernelRequest) throws(EngineError) -> (Int, Int, Int, Int) {
        var strides = strides
        for (dimension, extent) in target.enumerated() {
            guard extents[dimension] == extent || extents[dimension] == 1 else {
                throw request.declined("dimension \(dimension) is \(extents[dimension]), expected \(extent)")
            }
            if extents[dimension] == 1 { strides[dimension] = 0 }
        }
        return (strides[0], strides[1], strides[2], strides[3])
    }
}
