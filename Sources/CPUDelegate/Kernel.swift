import EngineDelegation
import EngineGraph

/// What a kernel is made from: one op on static types, and the operands whose contents are known already.
struct KernelRequest {
    let op: Op
    let operands: [TensorType]
    let results: [TensorType]
    /// The operands that are constants, by their index; nil where only a run knows the contents.
    let constants: [HostTensor?]
    /// Where weights that were put in a kernel's own layout are shared.
    let weights: WeightCache

    init(_ op: Op, in part: Subgraph, weights: WeightCache) {
        self.init(
            op: op, operands: op.operands.map { part[type: $0] }, results: op.results.map { part[type: $0] },
            constants: op.operands.map { part.constants[$0] }, weights: weights)
    }

    init(
        op: Op, operands: [TensorType], results: [TensorType], constants: [HostTensor?], weights: WeightCache
    ) {
        self.op = op
        self.operands = operands
        self.results = results
        self.constants = constants
        self.weights = weights
    }

    /// The contents of an operand that this kernel needs when it is made: axes, shapes, strides.
    func integers(_ index: Int, _ name: String) throws(EngineError) -> [Int] {
        guard index < constants.count, let tensor = constants[index], let values = tensor.integers() else {
            throw .unsupportedOp(op: op.kind.rawValue, reason: "operand '\(name)' must be known before a run")
        }
        return values
    }

    /// The single integer in operand `index`.
    func integer(_ index: Int, _ name: String) throws(EngineError) -> Int {
        let values = try integers(index, name)
        guard values.count == 1 else {
            throw .invalidValue(op: op.kind.rawValue, reason: "operand '\(name)' holds \(values.count) values, not 1")
        }
        return values[0]
    }

    func isConstant(_ index: Int) -> Bool { index < constants.count && constants[index] != nil }

    /// The error of a kernel that does not take these types.
    func declined(_ reason: String) -> EngineError { .unsupportedOp(op: op.kind.rawValue, reason: reason) }
}

/// An op that is ready to run on tensors at addresses that each run brings.
struct Kernel: Sendable {
    typealias Body = @Sendable (KernelArguments) throws(EngineError) -> Void

    /// Scratch memory that a run needs beside operands and results.
    var workspaceByteCount = 0
    /// Operands whose memory the first result may take over, where nothing else reads them later.
    var inPlaceOperands: [Int] = []
    let body: Body

    init(workspaceByteCount: Int = 0, inPlaceOperands: [Int] = [], body: @escaping Body) {
        self.workspaceByteCount = workspaceByteCount
        self.inPlaceOperands = inPlaceOperands
        self.body = body
    }
}

/// Where a kernel's tensors are in one run: operands, then results, then the workspace.
struct KernelArguments {
    let pointers: UnsafePointer<UnsafeMutableRawPointer>
    let operandCount: Int
    let resultCount: Int

    func operand(_ index: Int) -> UnsafeRawPointer { UnsafeRawPointer(pointers[index]) }
    func operand<T>(_ index: Int, as type: T.Type) -> UnsafePointer<T> {
        UnsafePointer(pointers[index].assumingMemoryBound(to: type))
    }
    func result(_ index: Int = 0) -> UnsafeMutableRawPointer { pointers[operandCount + index] }
    func result<T>(_ index: Int = 0, as type: T.Type) -> UnsafeMutablePointer<T> {
        pointers[operandCount + index].assumingMemoryBound(to: type)
    }
    var workspace: UnsafeMutableRawPointer { pointers[operandCount + resultCount] }
}
