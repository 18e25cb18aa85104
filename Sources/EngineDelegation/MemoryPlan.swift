package import EngineGraph

/// When a buffer is needed, and how large it is.
package struct BufferLifetime: Sendable {
    /// The steps from which, and through which, the buffer must keep its contents.
    package var steps: ClosedRange<Int>
    package var byteCount: Int

    package init(steps: ClosedRange<Int>, byteCount: Int) {
        self.steps = steps
        self.byteCount = byteCount
    }
}

/// Where each buffer lies in one block of memory: buffers whose lifetimes overlap don't.
package struct MemoryPlan: Sendable {
    package let offsets: [Int]
    package let byteCount: Int

    /// Places the largest buffers first, each at the lowest offset that is free through its lifetime.
    ///
    /// - Complexity: O(n²) in the number of buffers; O(n log n) beyond some thousands, which take more memory then.
    /// - Throws: `outOfMemory` where no address space could hold them.
    package init(_ buffers: [BufferLifetime], alignment: Int = 64) throws(EngineError) {
        var sizes: [Int] = []
        sizes.reserveCapacity(buffers.count)
        var total = 0
        for buffer in buffers {
            // The sum of all is an upper bound of every offset and end below.
            let (padded, isLarge) = buffer.byteCount.addingReportingOverflow(alignment - 1)
            let size = padded / alignment * alignment
            let (sum, isLarger) = total.addingReportingOverflow(size)
            guard !isLarge, !isLarger else { throw .outOfMemory(unit: "host", byteCount: buffer.byteCount) }
            sizes.append(size)
            total = sum
        }
        guard buffers.count <= Self.sweepLimit else {
            (offsets, byteCount) = Self.recycled(buffers, sizes)
            return
        }
        var offsets = [Int](repeating: 0, count: buffers.count)
        var end = 0
        let order = buffers.indices.sorted {
            (buffers[$0].byteCount, $1) > (buffers[$1].byteCount, $0)
        }
        // Kept in the order of their offsets, so that one sweep finds the first gap.
        var placed: [Int] = []
        for index in order where buffers[index].byteCount > 0 {
            let size = sizes[index]
            var offset = 0
            for other in placed where buffers[other].steps.overlaps(buffers[index].steps) {
                if offsets[other] >= offset + size { break }
                offset = max(offset, offsets[other] + sizes[other])
            }
            offsets[index] = offset
            end = max(end, offset + size)
            let position = placed.firstIndex { offsets[$0] > offset } ?? placed.count
            placed.insert(index, at: position)
        }
        self.offsets = offsets
        self.byteCount = end
    }

    /// More buffers than any real part has: a damaged or hostile program must not take hours to plan.
    private static let sweepLimit = 16_384

    /// Gives each buffer the place of one of its own size that is not needed any more, or a new one.
    private static func recycled(_ buffers: [BufferLifetime], _ sizes: [Int]) -> (offsets: [Int], byteCount: Int) {
        var offsets = [Int](repeating: 0, count: buffers.count)
        var end = 0
        var free: [Int: [Int]] = [:]
        let starts = buffers.indices.sorted { buffers[$0].steps.lowerBound < buffers[$1].steps.lowerBound }
        var ends = buffers.indices.sorted { buffers[$0].steps.upperBound < buffers[$1].steps.upperBound }[...]
        for index in starts {
            while let ended = ends.first, buffers[ended].steps.upperBound < buffers[index].steps.lowerBound {
                free[sizes[ended], default: []].append(offsets[ended])
                ends.removeFirst()
            }
            if let place = free[sizes[index]]?.popLast() {
                offsets[index] = place
            } else {
                offsets[index] = end
                end += sizes[index]
            }
        }
        return (offsets, end)
    }
}
