import CPUKernels
import EngineGraph

extension ElementType {
    /// The C kernels' name of this type; nil for those that they don't compute in.
    var ckType: ck_type? {
        switch self {
        case .bool: CK_BOOL
        case .int8: CK_I8
        case .int16: CK_I16
        case .int32: CK_I32
        case .int64: CK_I64
        case .uint8: CK_U8
        case .uint16: CK_U16
        case .uint32: CK_U32
        case .uint64: CK_U64
        case .float16: CK_F16
        case .bfloat16: CK_BF16
        case .float32: CK_F32
        case .float64: CK_F64
        default: nil
        }
    }

    /// The same, or the error of an op that does not compute in this type.
    func ckType(_ request: KernelRequest) throws(EngineError) -> ck_type {
        guard let type = ckType else { throw request.declined("elements of type \(dialectName)") }
        return type
    }
}
