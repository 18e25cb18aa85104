import EngineDelegation
import EngineGraph

extension NDArray {
    /// Lends the elements for writing.
    ///
    /// Copies the memory first if it is shared with a copy of this array.
    ///
    /// - Parameter type: The Swift type of the scalar type, such as `Int32` for ``ScalarType/int32``; for scalar types
    ///   that Swift has no type for, any type of the same size. Another type stops the program.
    @_lifetime(&self)
    public mutating func mutableView<T>(as type: T.Type = T.self) -> NDArray.MutableView<T> where T: BitwiseCopyable {
        mutableRawView().view(as: type)
    }

    /// Lends the elements for reading.
    ///
    /// - Parameter type: The Swift type of the scalar type, such as `Int32` for ``ScalarType/int32``; for scalar types
    ///   that Swift has no type for, any type of the same size. Another type stops the program.
    @_lifetime(borrow self)
    public func view<T>(as type: T.Type = T.self) -> NDArray.View<T> where T: BitwiseCopyable {
        rawView().view(as: type)
    }

    /// Lends the memory for reading, whatever the scalar type.
    @_lifetime(borrow self)
    public func rawView() -> NDArray.RawView {
        let buffer = storage.readable
        let view = unsafe RawView(
            start: buffer.pointer + storage.bitOffset / 8, bitOffset: storage.bitOffset % 8, layout: layout,
            scalarType: scalarType, buffer: Unmanaged.passUnretained(buffer))
        return unsafe _overrideLifetime(view, borrowing: self)
    }

    /// Lends the memory for writing, whatever the scalar type.
    ///
    /// Copies the memory first if it is shared with a copy of this array.
    @_lifetime(&self)
    public mutating func mutableRawView() -> NDArray.MutableRawView {
        prepareForWriting()
        let buffer = storage.readable
        let view = unsafe MutableRawView(
            start: buffer.pointer + storage.bitOffset / 8, bitOffset: storage.bitOffset % 8, layout: layout,
            scalarType: scalarType, buffer: Unmanaged.passUnretained(buffer))
        return unsafe _overrideLifetime(view, mutating: &self)
    }
}

extension NDArray: InferenceValue.ViewRepresentable, InferenceValue.MutableViewRepresentable {
    /// Lends the array as an input of a function.
    @_lifetime(borrow self)
    public func view() -> InferenceValue.View {
        let view = InferenceValue.View(.ndArray(borrowedTensor))
        return unsafe _overrideLifetime(view, borrowing: self)
    }

    /// Lends the array as a state or output of a function.
    @_lifetime(&self)
    public mutating func mutableView() -> InferenceValue.MutableView {
        prepareForWriting()
        let view = InferenceValue.MutableView(.ndArray(mutableTensor(lease: nil)))
        return unsafe _overrideLifetime(view, mutating: &self)
    }
}

extension NDArray {
    /// The elements for reading, in a value that keeps their memory. Stops the program while the array is lent.
    package var borrowedTensor: BorrowedTensor {
        let buffer = storage.readable
        return unsafe BorrowedTensor(
            start: buffer.pointer + storage.bitOffset / 8, bitOffset: storage.bitOffset % 8, scalarType: scalarType,
            layout: layout, buffer: buffer)
    }

    /// The elements for writing, in a value that keeps their memory: nobody else can use the array until the last
    /// copy of the value is gone. Copies the memory first if it is shared. Stops the program while the array is lent.
    package mutating func lendMutably() -> MutableTensor {
        prepareForWriting()
        return mutableTensor(lease: StorageLease(storage))
    }

    private func mutableTensor(lease: StorageLease?) -> MutableTensor {
        let buffer = storage.memory
        return unsafe MutableTensor(
            start: buffer.pointer + storage.bitOffset / 8, bitOffset: storage.bitOffset % 8, scalarType: scalarType,
            layout: layout, buffer: buffer, lease: lease)
    }
}
