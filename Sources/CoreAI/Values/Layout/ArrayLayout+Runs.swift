extension ArrayLayout {
    /// One loop of a walk: `size` steps of `stride` elements; with a factor, in blocks of that many elements.
    private struct Axis {
        var size: Int
        var stride: Int
        var factor = 0

        func offset(at index: Int) -> Int {
            factor == 0 ? index * stride : (index / factor) * stride + index % factor
        }
    }

    /// Calls `body` with every element's place, in row-major order, as evenly spaced runs that are as long as the
    /// strides allow: the offset of a run's first element, the number of elements, the distance between them.
    @usableFromInline
    package func forEachRun(_ body: (_ offset: Int, _ count: Int, _ stride: Int) -> Void) {
        guard scalarCount > 0 else { return }
        var outer = axes()
        guard let inner = outer.popLast() else {
            body(0, 1, 1)
            return
        }
        var index = [Int](repeating: 0, count: outer.count)
        var offset = 0
        while true {
            emit(inner, at: offset, body)
            var axis = outer.count - 1
            while axis >= 0 {
                offset -= outer[axis].offset(at: index[axis])
                index[axis] += 1
                if index[axis] < outer[axis].size {
                    offset += outer[axis].offset(at: index[axis])
                    break
                }
                index[axis] = 0
                axis -= 1
            }
            if axis < 0 { return }
        }
    }

    private func emit(_ axis: Axis, at offset: Int, _ body: (Int, Int, Int) -> Void) {
        guard axis.factor > 0 else {
            body(offset, axis.size, axis.stride)
            return
        }
        for first in stride(from: 0, to: axis.size, by: axis.factor) {
            body(offset + axis.offset(at: first), min(axis.factor, axis.size - first), 1)
        }
    }

    /// The loops of a walk, neighbours merged where one continues the other. An interleaved dimension becomes two
    /// plain loops where its blocks are full.
    private func axes() -> [Axis] {
        var result: [Axis] = []
        func append(_ axis: Axis) {
            guard axis.size != 1 else { return }
            if let last = result.last, last.factor == 0, axis.factor == 0, last.stride == axis.stride * axis.size {
                result[result.count - 1] = Axis(size: last.size * axis.size, stride: axis.stride)
            } else {
                result.append(axis)
            }
        }
        for axis in shape.indices {
            let size = shape[axis]
            guard let interleave, interleave.dimension == axis else {
                append(Axis(size: size, stride: strides[axis]))
                continue
            }
            let factor = interleave.factor
            if size <= factor {
                append(Axis(size: size, stride: 1))
            } else if size % factor == 0 {
                append(Axis(size: size / factor, stride: strides[axis]))
                append(Axis(size: factor, stride: 1))
            } else {
                append(Axis(size: size, stride: strides[axis], factor: factor))
            }
        }
        return result
    }
}
