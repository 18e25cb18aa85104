import CPUKernels
import EngineDelegation
import EngineGraph

/// Elementwise ops, alone or in a chain: each is a program of the C kernels' elementwise machine.
let elementwiseKernels: [OpKind: KernelTable.Factory] = {
    var rows: [OpKind: KernelTable.Factory] = [.elementwise: chainKernel]
    for kind in ElementwiseOp.kinds { rows[kind] = singleKernel }
    return rows
}()

private func chainKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    guard case .elementwise(let program) = request.op.attributes else {
        throw request.declined("it carries no program")
    }
    return try makeKernel(program, request)
}

private func singleKernel(_ request: KernelRequest) throws(EngineError) -> Kernel {
    if request.hasComplex { return try complexKernel(request) }
    var approximation = GeluApproximation.none
    if case .approximation(let given) = request.op.attributes { approximation = given }
    let program = ElementwiseProgram(
        inputTypes: request.operands.map(\.elementType),
        instructions: [
            .init(
                kind: request.op.kind, approximation: approximation, operands: Array(request.operands.indices),
                resultType: request.results[0].elementType)
        ])
    return try makeKernel(program, request)
}

private func makeKernel(_ program: ElementwiseProgram, _ request: KernelRequest) throws(EngineError) -> Kernel {
    let result = request.results[0]
    var builder = MachineProgramBuilder(program, request)
    let machine = try builder.build()
    let layout = BroadcastLayout(result: result.shape, operands: builder.inputs.map { request.operands[$0].shape })
    let extents = layout.extents
    let strides = layout.strides.flatMap { $0 }
    let rank = Int32(extents.count)
    let name = request.op.kind.rawValue
    let inputs = builder.inputs
    let isDirect = inputs == Array(request.operands.indices)
    // An operand of the result's own shape and element size is read where the result is written.
    let inPlace = request.operands.indices.filter {
        request.operands[$0].shape == result.shape
            && request.operands[$0].elementType.bitWidth == result.elementType.bitWidth
    }
    return Kernel(inPlaceOperands: inPlace) { arguments throws(EngineError) in
        let base = UnsafeRawPointer(arguments.pointers).assumingMemoryBound(to: UnsafeRawPointer?.self)
        var output: UnsafeMutableRawPointer? = arguments.result()
        let isDone: Bool
        if isDirect {
            isDone = ck_ew_run(machine.pointer, rank, extents, base, strides, &output)
        } else {
            isDone = withUnsafeTemporaryAllocation(of: UnsafeRawPointer?.self, capacity: max(inputs.count, 1)) {
                table in
                for (position, operand) in inputs.enumerated() { table[position] = base[operand] }
                return ck_ew_run(machine.pointer, rank, extents, table.baseAddress, strides, &output)
            }
        }
        guard isDone else { throw .invalidValue(op: name, reason: "its rank is beyond the kernel's") }
    }
}

/// Owns a program of the elementwise machine, which is immutable once it is made.
final class MachineProgram: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { ck_ew_destroy(pointer) }
}

/// Shapes aligned at their last dimensions, with neighbouring dimensions joined where every operand allows it.
struct BroadcastLayout {
    private(set) var extents: [Int64] = []
    /// For each operand its element strides; 0 where it is broadcast.
    private(set) var strides: [[Int64]]

    init(result: [Int], operands: [[Int]]) {
        strides = operands.map { _ in [] }
        // From the last dimension to the first: strides grow.
        var running = operands.map { _ in Int64(1) }
        for distance in 1...max(result.count, 1) {
            let extent = distance <= result.count ? Int64(result[result.count - distance]) : 1
            var current: [Int64] = []
            for (index, shape) in operands.enumerated() {
                let own = distance <= shape.count ? Int64(shape[shape.count - distance]) : 1
                current.append(own == 1 ? 0 : running[index])
                running[index] *= own
            }
            if extent == 1, distance <= result.count, result.count > 1 { continue }
            let canJoin =
                !extents.isEmpty
                && operands.indices.allSatisfy {
                    current[$0] == strides[$0][strides[$0].count - 1] * extents[extents.count - 1]
                }
            if canJoin {
                extents[extents.count - 1] *= extent
            } else {
                extents.append(extent)
                for index in operands.indices { strides[index].append(current[index]) }
            }
        }
        if extents.isEmpty {
            extents = [1]
            strides = operands.map { _ in [0] }
        }
        extents.reverse()
        for index in strides.indices { strides[index].reverse() }
    }
}
