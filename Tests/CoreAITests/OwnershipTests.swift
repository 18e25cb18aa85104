import CoreAI
import Testing

private func address(_ array: NDArray) -> UnsafeRawPointer {
    array.rawView().withUnsafeBytes { start, _, _ in start }
}

private func set(_ array: inout NDArray, _ value: Int32) {
    var view = array.mutableView(as: Int32.self)
    view[scalarAt: [0]] = value
}

private func first(_ array: NDArray) -> Int32 {
    array.view(as: Int32.self)[scalarAt: [0]]
}

@Suite struct CopyOnWriteTests {
    @Test func copiesShareUntilOneIsWritten() {
        var array = NDArray(scalars: [1, 2] as [Int32], shape: [2])
        let copy = array
        #expect(address(copy) == address(array))
        set(&array, 9)
        #expect(address(copy) != address(array))
        #expect(first(copy) == 1)
        #expect(first(array) == 9)
        let place = address(array)
        set(&array, 10)
        #expect(address(array) == place)
    }

    @Test func everyWayToWriteCopies() {
        let original = NDArray(scalars: [1, 2] as [Int32], shape: [2])
        var typed = original
        set(&typed, 3)
        var raw = original
        raw.mutableRawView().withUnsafeMutableBytes { start, _, _ in start.storeBytes(of: 4, as: Int32.self) }
        var lent = original
        lent.lendMutably().start.storeBytes(of: 5, as: Int32.self)
        var inserted = original
        do {
            var views = InferenceFunction.MutableViews()
            views.insert(&inserted, for: "value")
            views.take("value")?.start.storeBytes(of: 6, as: Int32.self)
        }
        var generic = original
        write(7, to: &generic)
        #expect([original, typed, raw, lent, inserted, generic].map(first) == [1, 3, 4, 5, 6, 7])
    }

    /// Writes as a value of any type is written to.
    private func write<Value: InferenceValue.MutableViewRepresentable & ~Copyable>(
        _ number: Int32, to value: inout Value
    ) {
        var views = InferenceFunction.MutableViews()
        views.insert(&value, for: "value")
        views.take("value")?.start.storeBytes(of: number, as: Int32.self)
    }

    @Test(arguments: [[8, 1], [-8, 1], [1, 2], [-1, -2]])
    func copiesKeepTheLayout(_ strides: [Int]) {
        var array = NDArray(shape: [2, 3], scalarType: .int32, strides: strides)
        do {
            var view = array.mutableView(as: Int32.self)
            view.copyElements(from: 1...6)
        }
        var copy = array
        do {
            var view = copy.mutableView(as: Int32.self)
            view[scalarAt: [1, 2]] = -6
        }
        #expect(copy.strides == strides)
        let elements = (array.view(as: Int32.self).elements, copy.view(as: Int32.self).elements)
        #expect(elements == ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, -6]))
    }

    @Test func packedCopiesKeepTheirBits() {
        for strides in [[4, 1], [-4, 1], [-3, -1]] {
            var array = NDArray(shape: [3, 3], scalarType: .uint3, strides: strides)
            let numbers: [UInt8] = [0b10_001_000, 0b1_100_011_0, 0b111_110_10, 0b1]
            do {
                let tensor = array.lendMutably()
                numbers.withUnsafeBytes { tensor.copyElements(from: $0.baseAddress!) }
            }
            var copy = array
            _ = copy.mutableRawView()
            #expect(address(copy) != address(array))
            for one in [array, copy] {
                var dense = [UInt8](repeating: 0, count: 4)
                dense.withUnsafeMutableBytes { one.borrowedTensor.copyElements(to: $0.baseAddress!) }
                #expect(dense == [0b10_001_000, 0b1_100_011_0, 0b111_110_10, 0b1])
            }
        }
    }
}

@Suite struct LendingTests {
    @Test func theLastCopyOfATensorGivesBack() {
        var array = NDArray(scalars: [1] as [Int32], shape: [1])
        let place = address(array)
        do {
            let tensor = array.lendMutably()
            let another = tensor
            another.start.storeBytes(of: 7, as: Int32.self)
            #expect(tensor.borrowed.start == place)
        }
        #expect(first(array) == 7)
        set(&array, 8)
        #expect(address(array) == place)
    }

    @Test func collectionsGiveBack() async throws {
        var array = NDArray(scalars: [1] as [Int32], shape: [1])
        do {
            var views = InferenceFunction.MutableViews()
            views.insert(&array, for: "a")
            let isThere = views.tensor("a") != nil && views.tensor("b") == nil
            #expect(isThere)
            #expect(views.names == ["a"])
        }
        #expect(first(array) == 1)
        do {
            var views = InferenceFunction.MutableViews()
            views.insert(&array, for: "a")
            // In the place of the first, which is given back.
            var other = NDArray(scalars: [2] as [Int32], shape: [1])
            views.insert(&other, for: "a")
            #expect(views.names == ["a"])
            let taken = views.take("a")?.start.load(as: Int32.self)
            #expect(taken == 2)
            let again = views.take("a") == nil
            #expect(again)
            #expect(views.names.isEmpty)
            #expect(first(array) == 1)
        }
    }

    @Test func runsThatFailGiveBack() async {
        struct Failure: Error {}
        func fail(_ views: consuming InferenceFunction.MutableViews) async throws { throw Failure() }
        var array = NDArray(scalars: [1] as [Int32], shape: [1])
        do {
            var views = InferenceFunction.MutableViews()
            views.insert(&array, for: "a")
            try await fail(views)
        } catch {
            #expect(error is Failure)
        }
        #expect(first(array) == 1)
    }

    @Test func inputsKeepWhatTheyWereGiven() {
        var array = NDArray(scalars: [1] as [Int32], shape: [1])
        var inputs = InferenceFunction.Inputs()
        inputs.insert(array, for: "x")
        set(&array, 2)
        #expect(inputs.tensor("x")?.start.load(as: Int32.self) == 1)
        do {
            // The same array as a state: the input keeps the value from before.
            var states = InferenceFunction.MutableViews()
            states.insert(&array, for: "x")
            states.take("x")?.start.storeBytes(of: 3, as: Int32.self)
        }
        inputs.insert(NDArray(scalars: [4] as [Int32], shape: [1]), for: "y")
        inputs.insert(array, for: "x")
        #expect(inputs.names == ["x", "y"])
        #expect(inputs.tensor("x")?.start.load(as: Int32.self) == 3)
        #expect(inputs.tensor("y")?.start.load(as: Int32.self) == 4)
        let isMissing = inputs.tensor("z") == nil
        #expect(isMissing)
    }

    @Test func inputsShareMemory() {
        let array = NDArray(scalars: [1, 2, 3, 4] as [Int32], shape: [2, 2])
        var inputs = InferenceFunction.Inputs()
        inputs.insert(array, for: "array")
        inputs.insert(array.view(as: Int32.self).slice(at: [.all, 1]), for: "slice")
        inputs.insert(array.rawView(), for: "raw")
        let whole = inputs.tensor("array")
        #expect(whole?.start == address(array))
        #expect(whole?.buffer != nil && inputs.tensor("raw")?.buffer === whole?.buffer)
        let slice = inputs.tensor("slice")
        #expect(slice?.byteOffset == 4)
        #expect(slice?.shape == [2, 1] && slice?.strides == [2, 1])
        #expect(slice?.bytes.count == 12)
        #expect(slice?.isContiguous == false)
        #expect(slice?.scalarType == .int32)
    }
}
