import CoreAI
import Testing

@Suite struct ArrayLayoutTests {
    @Test func reachesAndRunsOfEveryLayout() throws {
        for model in someLayouts() + someInterleavedLayouts() {
            let layout = try ArrayLayout(shape: model.shape, strides: model.strides, interleave: model.interleave)
            let offsets = model.indices.map(model.offset)
            #expect(layout.scalarCount == offsets.count)
            #expect(layout.reach.isEmpty == offsets.isEmpty)
            if let lowest = offsets.min(), let highest = offsets.max() {
                #expect(layout.reach == lowest..<(highest + 1), "\(model)")
            }
            var walked: [Int] = []
            layout.forEachRun { offset, count, stride in
                for index in 0..<count { walked.append(offset + index * stride) }
            }
            #expect(walked == offsets, "\(model)")
            let isContiguous = model.interleave == nil && offsets == Array(0..<offsets.count)
            #expect(layout.isContiguous == isContiguous, "\(model)")
        }
    }

    @Test func neighboursJoinIntoOneRun() throws {
        func runs(_ layout: ArrayLayout) -> Int {
            var count = 0
            layout.forEachRun { _, _, _ in count += 1 }
            return count
        }
        #expect(runs(try ArrayLayout(shape: [3, 4, 5])) == 1)
        #expect(runs(try ArrayLayout(shape: [3, 4, 5], strides: [40, 10, 2])) == 1)
        #expect(runs(try ArrayLayout(shape: [3, 4, 5], strides: [30, 5, 1])) == 3)
        #expect(runs(try ArrayLayout(shape: [3, 4, 5], strides: [1, 3, 12])) == 12)
        let interleave = NDArray.InterleaveLayout(dimension: 0, factor: 4)
        #expect(runs(try ArrayLayout(shape: [8, 2], strides: [8, 4], interleave: interleave)) == 8)
    }

    @Test func denseStrides() throws {
        #expect(try ArrayLayout.denseStrides(of: []) == [])
        #expect(try ArrayLayout.denseStrides(of: [2, 3, 4]) == [12, 4, 1])
        #expect(try ArrayLayout.denseStrides(of: [2, 0, 4]) == [0, 4, 1])
        let interleave = NDArray.InterleaveLayout(dimension: 0, factor: 4)
        #expect(try ArrayLayout.denseStrides(of: [8, 256, 256], interleave: interleave) == [262_144, 1_024, 4])
        #expect(try ArrayLayout.denseStrides(of: [9, 2, 2], interleave: interleave) == [16, 8, 4])
    }

    @Test(arguments: [
        ([-1], []), ([2, -3], []), ([2], [1, 1]), ([2, 2], [1]), ([Int.max], []), ([1 << 40, 1 << 40], []),
        ([3], [Int.max]), ([3], [Int.min]), ([2, 2], [Int.max / 2, Int.max / 2]),
        ([2, 2], [Int.min / 2, Int.min / 2]),
        ([1 << 56], [0]),
    ])
    func invalid(_ shape: [Int], _ strides: [Int]) {
        #expect(throws: LayoutError.self) { try ArrayLayout(shape: shape, strides: strides) }
    }

    @Test(arguments: [(0, 0), (0, -1), (1, 2), (-1, 2), (0, Int.max)])
    func invalidInterleave(_ dimension: Int, _ factor: Int) {
        #expect(throws: LayoutError.self) {
            try ArrayLayout(shape: [4], interleave: NDArray.InterleaveLayout(dimension: dimension, factor: factor))
        }
    }

    @Test func emptyShapesTakeAnyStrides() throws {
        #expect(try ArrayLayout(shape: [0, 5], strides: [Int.max, Int.min]).byteCount(bitWidth: 128) == 0)
    }

    @Test func insideABuffer() throws {
        let backwards = try ArrayLayout(shape: [4], strides: [-1])
        #expect(backwards.isInside(byteCount: 16, byteOffset: 12, bitWidth: 32))
        #expect(!backwards.isInside(byteCount: 16, byteOffset: 11, bitWidth: 32))
        #expect(!backwards.isInside(byteCount: 15, byteOffset: 12, bitWidth: 32))
        let packed = try ArrayLayout(shape: [3])
        #expect(packed.isInside(byteCount: 2, byteOffset: 0, bitWidth: 4))
        #expect(!packed.isInside(byteCount: 2, byteOffset: 1, bitWidth: 4))
        #expect(!packed.isInside(byteCount: 2, byteOffset: -1, bitWidth: 4))
        #expect(!packed.isInside(byteCount: 2, byteOffset: Int.max, bitWidth: 4))
        #expect(try ArrayLayout(shape: [0]).isInside(byteCount: 0, byteOffset: 0, bitWidth: 8))
    }
}
