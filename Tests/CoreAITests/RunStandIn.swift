import CoreAI

// What `InferenceFunction.run` does with what it is lent, without a model.

func run(
    inputs: borrowing InferenceFunction.Inputs, states: consuming InferenceFunction.MutableViews
) async throws -> InferenceFunction.Outputs {
    try await run(inputs: inputs, states: states, outputViews: InferenceFunction.MutableViews())
}

func run(inputs: borrowing InferenceFunction.Inputs) async throws -> InferenceFunction.Outputs {
    try await run(
        inputs: inputs, states: InferenceFunction.MutableViews(), outputViews: InferenceFunction.MutableViews())
}

func run(states: consuming InferenceFunction.MutableViews) async throws -> InferenceFunction.Outputs {
    try await run(
        inputs: InferenceFunction.Inputs(), states: states, outputViews: InferenceFunction.MutableViews())
}

func run(outputViews: consuming InferenceFunction.MutableViews) async throws -> InferenceFunction.Outputs {
    try await run(
        inputs: InferenceFunction.Inputs(), states: InferenceFunction.MutableViews(), outputViews: outputViews)
}

func run(
    states: consuming InferenceFunction.MutableViews, outputViews: consuming InferenceFunction.MutableViews
) async throws -> InferenceFunction.Outputs {
    try await run(inputs: InferenceFunction.Inputs(), states: states, outputViews: outputViews)
}

/// Adds 1 to every element that it is lent for writing, and gives the number of inputs, as "count".
func run(
    inputs: borrowing InferenceFunction.Inputs, states: consuming InferenceFunction.MutableViews,
    outputViews: consuming InferenceFunction.MutableViews
) async throws -> InferenceFunction.Outputs {
    let count = inputs.names.count
    var read: Float = 0
    for name in inputs.names {
        guard let tensor = inputs.tensor(name) else { continue }
        var elements = [Float](repeating: 0, count: tensor.scalarCount)
        elements.withUnsafeMutableBytes { tensor.copyElements(to: $0.baseAddress!) }
        read += elements.reduce(0, +)
    }
    await Task.yield()
    increment(&states)
    increment(&outputViews)
    return InferenceFunction.Outputs([(name: "count", array: NDArray(scalars: [Float(count)], shape: [1]))])
}

private func increment(_ views: inout InferenceFunction.MutableViews) {
    for name in views.names {
        guard let tensor = views.take(name) else { continue }
        var elements = [Float](repeating: 0, count: tensor.scalarCount)
        elements.withUnsafeMutableBytes { tensor.borrowed.copyElements(to: $0.baseAddress!) }
        elements = elements.map { $0 + 1 }
        elements.withUnsafeBytes { tensor.copyElements(from: $0.baseAddress!) }
    }
}
