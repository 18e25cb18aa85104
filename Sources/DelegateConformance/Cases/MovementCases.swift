import EngineGraph

extension OpCase {
    static let movementCases: [OpCase] = ElementType.plain.flatMap { type in
        transposes(type) + slices(type) + joins(type) + pads(type)
    }

    private static func transposes(_ type: ElementType) -> [OpCase] {
        let rows: [([Int], [Int])] =
            [([3, 5], [1, 0]), ([2, 3, 4], [2, 0, 1])]
            + (type == .float32
                ? [
                    ([4], [0]), ([2, 3, 4, 5], [0, 2, 1, 3]), ([0, 3], [1, 0]), ([257, 259], [1, 0]),
                    ([2, 1, 3, 1, 2, 1, 2, 3], [7, 3, 0, 5, 1, 6, 2, 4]), ([1, 2, 3, 2, 2], [-1, 0, 2, 1, 3]),
                ] : [])
        let mirrors: [([Int], [Int])] =
            [([3, 5], [1]), ([2, 3, 4], [0, -1])] + (type == .float32 ? [([7], [0])] : [])
        return rows.map { source, permutation in
            OpCase(.transpose, type, "\(source.extentsText).by.\(permutation.extentsText)", .exact) { builder in
                let x = Elements(source, type, .codes)
                let order = permutation.map { $0 < 0 ? $0 + source.count : $0 }
                let shape = order.map { source[$0] }
                builder.output(builder.op(.transpose, [builder.input(x), builder.vector(permutation)], shape, type))
                let grid = Grid(source)
                return [
                    x.moved(to: shape) { index in
                        zip(order, index).reduce(0) { $0 + $1.1 * grid.strides[$1.0] }
                    }
                ]
            }
        }
            + mirrors.map { source, axes in
                OpCase(.reverse, type, "\(source.extentsText).\(axes.extentsText)", .exact) { builder in
                    let x = Elements(source, type, .codes)
                    builder.output(builder.op(.reverse, [builder.input(x), builder.vector(axes)], source, type))
                    let grid = Grid(source)
                    let mirrored = Set(axes.map { $0 < 0 ? $0 + source.count : $0 })
                    return [
                        x.moved(to: source) { index in
                            grid.flat(index.enumerated().map { mirrored.contains($0) ? source[$0] - 1 - $1 : $1 })
                        }
                    ]
                }
            }
    }

    /// A strided box, with positive steps and known ends.
    private struct Box {
        let source: [Int]
        let starts: [Int]
        let ends: [Int]
        let steps: [Int]

        var shape: [Int] { zip(zip(starts, ends), steps).map { ($0.1 - $0.0 + $1 - 1) / $1 } }
        var text: String { "\(source.extentsText).\(starts.extentsText).\(ends.extentsText).\(steps.extentsText)" }

        func position(_ index: [Int]) -> Int {
            Grid(source).flat(index.indices.map { starts[$0] + index[$0] * steps[$0] })
        }
    }

    private static func slices(_ type: ElementType) -> [OpCase] {
        var boxes = [
            Box(source: [4, 6], starts: [1, 2], ends: [4, 5], steps: [1, 1]),
            Box(source: [4, 6], starts: [0, 1], ends: [4, 6], steps: [3, 2]),
        ]
        if type == .float32 {
            boxes += [
                Box(source: [9], starts: [2], ends: [9], steps: [3]),
                Box(source: [4, 6], starts: [2, 0], ends: [2, 6], steps: [1, 1]),
                Box(source: [300, 301], starts: [1, 2], ends: [299, 300], steps: [1, 1]),
                Box(source: [2, 3, 4, 5], starts: [1, 0, 1, 2], ends: [2, 3, 3, 5], steps: [1, 2, 1, 2]),
            ]
        }
        return boxes.flatMap { box in
            [
                OpCase(.slice, type, box.text, .exact) { builder in
                    let x = Elements(box.source, type, .codes)
                    let bounds = [box.starts, box.ends, box.steps].map { builder.vector($0) }
                    builder.output(builder.op(.slice, [builder.input(x)] + bounds, box.shape, type))
                    return [x.moved(to: box.shape) { box.position($0) }]
                },
                OpCase(.sliceUpdate, type, box.text, .exact) { builder in
                    let x = Elements(box.source, type, .codes)
                    let update = Elements(box.shape, type, .codes, seed: 2)
                    let bounds = [box.starts, box.ends, box.steps].map { builder.vector($0) }
                    let operands = [builder.input(x)] + bounds + [builder.input(update)]
                    builder.output(builder.op(.sliceUpdate, operands, box.source, type))
                    var answer = x
                    let parts = type.isComplex ? 2 : 1
                    for (from, index) in Grid(box.shape).indices.enumerated() {
                        for part in 0..<parts {
                            answer.bits[box.position(index) * parts + part] = update.bits[from * parts + part]
                        }
                    }
                    return [answer]
                },
            ]
        } + (type == .float32 ? [runtimeSlice] : [])
    }

    /// The start is known only when the slice runs.
    private static let runtimeSlice = OpCase(.slice, .float32, "runtime", .exact) { builder in
        let x = Elements([5, 4], .float32, .codes)
        let operands = [
            builder.input(x), builder.input(Elements([2], .int32, [2, 0])),
            builder.input(Elements([2], .int32, [4, 4])),
            builder.vector([1, 1]),
        ]
        builder.output(builder.op(.slice, operands, [2, 4], .float32))
        return [x.moved(to: [2, 4]) { ($0[0] + 2) * 4 + $0[1] }]
    }

    private static func joins(_ type: ElementType) -> [OpCase] {
        let rows: [([[Int]], Int)] =
            [([[2, 3], [2, 1], [2, 2]], 1), ([[1, 3], [2, 3]], 0)]
            + (type == .float32
                ? [
                    ([[4]], 0), ([[2], [0], [3]], -1), ([[2, 2, 3], [2, 5, 3]], 1), ([[150, 200], [150, 257]], 1),
                ] : [])
        return rows.flatMap { shapes, axis in
            let dimension = axis < 0 ? axis + shapes[0].count : axis
            var whole = shapes[0]
            whole[dimension] = shapes.reduce(0) { $0 + $1[dimension] }
            let text = shapes.map(\.extentsText).joined(separator: ".") + ".at.\(axis)"
            return [concat(type, shapes, whole, axis, text), split(type, shapes, whole, axis, text)]
        }
    }

    /// Which piece, and where in it, each element of the whole is.
    private static func pieces(_ shapes: [[Int]], _ dimension: Int, _ index: [Int]) -> (piece: Int, index: [Int]) {
        var index = index
        for (piece, shape) in shapes.enumerated() {
            if index[dimension] < shape[dimension] { return (piece, index) }
            index[dimension] -= shape[dimension]
        }
        return (0, index)
    }

    private static func concat(
        _ type: ElementType, _ shapes: [[Int]], _ whole: [Int], _ axis: Int, _ text: String
    ) -> OpCase {
        OpCase(.concat, type, text, .exact) { builder in
            let inputs = shapes.enumerated().map { Elements($1, type, .codes, seed: $0) }
            let values = inputs.map { builder.input($0) }
            builder.output(builder.op(.concat, [builder.scalar(axis)] + values, whole, type))
            return [joined(inputs, whole, axis < 0 ? axis + whole.count : axis)]
        }
    }

    private static func joined(_ inputs: [Elements], _ whole: [Int], _ dimension: Int) -> Elements {
        let parts = inputs[0].type.elementType.isComplex ? 2 : 1
        let shapes = inputs.map(\.shape)
        let bits: [UInt64] = Grid(whole).indices.flatMap { index -> [UInt64] in
            let (piece, own) = pieces(shapes, dimension, index)
            let position = Grid(shapes[piece]).flat(own) * parts
            return Array(inputs[piece].bits[position..<(position + parts)])
        }
        return Elements(TensorType(whole, inputs[0].type.elementType), bits: bits)
    }

    private static func split(
        _ type: ElementType, _ shapes: [[Int]], _ whole: [Int], _ axis: Int, _ text: String
    ) -> OpCase {
        OpCase(.split, type, text, .exact) { builder in
            let dimension = axis < 0 ? axis + whole.count : axis
            let pieces = shapes.enumerated().map { Elements($1, type, .codes, seed: $0) }
            let operands = [
                builder.input(joined(pieces, whole, dimension)), builder.vector(shapes.map { $0[dimension] }),
                builder.scalar(axis),
            ]
            for value in builder.ops(.split, operands, pieces.map(\.type)) { builder.output(value) }
            return pieces
        }
    }

    private static func pads(_ type: ElementType) -> [OpCase] {
        let modes: [PaddingMode] = [.constant, .replicate, .reflect, .symmetric, .circular]
        let rows: [([Int], [Int])] =
            [([3, 4], [1, 2, 2, 1])] + (type == .float32 ? [([5], [0, 4]), ([2, 3, 3], [0, 0, 1, 2, 2, 0])] : [])
        return modes.flatMap { mode in
            rows.map { source, padding in
                OpCase(.pad, type, "\(mode).\(source.extentsText).\(padding.extentsText)", .exact) { builder in
                    let x = Elements(source, type, .codes)
                    let value = Elements([], type, .nonZero)
                    let shape = source.indices.map { source[$0] + padding[2 * $0] + padding[2 * $0 + 1] }
                    let operands = [builder.input(x), builder.vector(padding), builder.constant(value)]
                    builder.output(builder.op(.pad, operands, shape, type, .padding(mode)))
                    let grid = Grid(source)
                    return [
                        x.moved(to: shape, filler: value) { index in
                            var position = 0
                            for (dimension, place) in index.enumerated() {
                                let offset = place - padding[2 * dimension]
                                guard let own = padded(offset, source[dimension], mode) else { return nil }
                                position += own * grid.strides[dimension]
                            }
                            return position
                        }
                    ]
                }
            }
        }
    }

    /// The place in 0 ..< `extent` that a place around it repeats; nil for the padding value.
    private static func padded(_ place: Int, _ extent: Int, _ mode: PaddingMode) -> Int? {
        if (0..<extent).contains(place) { return place }
        switch mode {
        case .constant: return nil
        case .replicate: return place < 0 ? 0 : extent - 1
        case .reflect: return place < 0 ? -place : 2 * extent - 2 - place
        case .symmetric: return place < 0 ? -1 - place : 2 * extent - 1 - place
        case .circular: return place < 0 ? place + extent : place - extent
        }
    }
}
