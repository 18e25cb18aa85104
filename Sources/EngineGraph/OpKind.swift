/// What an op does. The raw value is its name in the dialect, without group and version.
package enum OpKind: String, Sendable, Hashable, CaseIterable {
    case constant

    // Elementwise, one operand.
    case abs, acos, acosh, asin, asinh, atan, atanh, cos, cosh, erf, exp, gelu, log, not, round, rsqrt, sin, sinh, sqrt
    case tan, tanh, cast
    case realPart = "real_part"
    case imaginaryPart = "imaginary_part"

    // Elementwise, two operands of one shape.
    case add, sub, mul, divide, modulo, pow, maximum, minimum, equal, greater
    case floorDivide = "floor_divide"
    case notEqual = "not_equal"
    case logicalAnd = "logical_and"
    case logicalOr = "logical_or"
    case logicalXor = "logical_xor"
    case bitwiseAnd = "bitwise_and"
    case bitwiseOr = "bitwise_or"
    case bitwiseXor = "bitwise_xor"
    case createComplex = "create_complex"
    case `where`

    // Shapes.
    case getShape = "get_shape"
    case broadcastShapes = "broadcast_shapes"
    case reshape
    case expandDims = "expand_dims"
    case shrinkDims = "shrink_dims"
    case broadcastTo = "broadcast_to"
    case broadcastInDims = "broadcast_in_dims"
    case range

    // Data movement.
    case transpose, reverse, slice, concat, split, pad
    case sliceUpdate = "slice_update"
    case gatherAlongAxis = "gather_along_axis"
    case gatherND = "gather_nd"
    case scatterAlongAxis = "scatter_along_axis"
    case scatterND = "scatter_nd"
    case nonZero = "non_zero"

    // Reductions, scans, sorts.
    case reduce, scan, argsort
    case reduceIndex = "reduce_index"

    // Products and windows.
    case batchMatmul = "batch_matmul"
    case conv2d, conv3d
    case convTranspose2d = "conv_transpose2d"
    case convTranspose3d = "conv_transpose3d"
    case maxPool2d = "max_pool_2d"
    case maxPool3d = "max_pool_3d"
    case sumPool2d = "sum_pool_2d"
    case sumPool3d = "sum_pool_3d"
    case interpolate
    case interpolateCoordinates = "interpolate_coordinates"

    // Compressed weights.
    case blockwiseShiftScale = "blockwise_shift_scale"
    case lutToDense = "lut_to_dense"
    case lutToSparseWithBitmask = "lut_to_sparse_with_bitmask"
    case buildSparseWithBitmask = "build_sparse_with_bitmask"
    case sparseWithBitmaskToDense = "sparse_with_bitmask_to_dense"
    case sparseWithBitmaskBlockwiseShiftScale = "sparse_with_bitmask_blockwise_shift_scale"

    // Images.
    case imageToTensor = "image_to_tensor"
    case tensorToImage = "tensor_to_image"

    // Control and data flow.
    case `if`, `while`, invoke, delegate
    case isolatedGroup = "isolated_group"
    case createToken = "create_token"
    case joinToken = "join_token"
    case readHandle = "read_handle"
    case writeHandle = "write_handle"
    case copyWithConstraints = "copy_with_constraints"
    case copyDiscardingConstraints = "copy_discarding_constraints"
    case metalKernel = "metal4_kernel"

    // Named ops: each carries its decomposition as a body.
    case relu, sigmoid, silu, softmax, sort, tile, quantize, dequantize, all, any, argmax
    case reduceMax = "reduce_max"
    case reduceMean = "reduce_mean"
    case reduceMin = "reduce_min"
    case reduceProduct = "reduce_product"
    case reduceSum = "reduce_sum"
    case broadcastingAdd = "broadcasting_add"
    case broadcastingSub = "broadcasting_sub"
    case broadcastingMul = "broadcasting_mul"
    case broadcastingDivide = "broadcasting_divide"
    case broadcastingFloorDivide = "broadcasting_floor_divide"
    case broadcastingModulo = "broadcasting_modulo"
    case broadcastingPow = "broadcasting_pow"
    case broadcastingMaximum = "broadcasting_maximum"
    case broadcastingMinimum = "broadcasting_minimum"
    case broadcastingEqual = "broadcasting_equal"
    case broadcastingNotEqual = "broadcasting_not_equal"
    case broadcastingGreater = "broadcasting_greater"
    case broadcastingLogicalAnd = "broadcasting_logical_and"
    case broadcastingLogicalOr = "broadcasting_logical_or"
    case broadcastingLogicalXor = "broadcasting_logical_xor"
    case broadcastingBitwiseAnd = "broadcasting_bitwise_and"
    case broadcastingBitwiseOr = "broadcasting_bitwise_or"
    case broadcastingBitwiseXor = "broadcasting_bitwise_xor"
    case broadcastingWhere = "broadcasting_where"
    case broadcastingBatchMatmul = "broadcasting_batch_matmul"
    case symmetricQuantizationStatistics = "symmetric_quantization_statistics"
    case asymmetricQuantizationStatistics = "asymmetric_quantization_statistics"

    /// A named op that this engine does not know: it runs by its decomposition.
    case named

    // Made by the compiler's passes; never on disk.
    /// A state's tensor, read: (state) → tensor.
    case loadState = "engine.load_state"
    /// A state's tensor, replaced: (state, tensor) → nothing.
    case storeState = "engine.store_state"
    /// A copy of its operand.
    case copy = "engine.copy"
    /// A chain of elementwise ops over broadcast operands.
    case elementwise = "engine.elementwise"
    /// (x, y[, bias][, residual]) → activation(x · y + bias + residual).
    case matmul = "engine.matmul"
    /// (input, weight[, bias][, residual]) → activation(conv(input) + bias + residual).
    case convolution = "engine.convolution"
    /// (input[, gamma][, beta][, residual]) → normalized over trailing dimensions.
    case layerNorm = "engine.layer_norm"
    /// The same without a mean.
    case rmsNorm = "engine.rms_norm"
    /// (input[, gamma][, beta]) → normalized over groups of channels.
    case groupNorm = "engine.group_norm"
    /// (input, cos, sin) → the halves of the last dimension turned by an angle.
    case rotary = "engine.rotary"
    /// (query, key, value[, mask]) → softmax(scale · query · keyᵀ + mask) · value.
    case attention = "engine.attention"
}
