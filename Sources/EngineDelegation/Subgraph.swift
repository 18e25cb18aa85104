package import EngineGraph

/// A part of a graph that one delegate runs: every shape is static, every parameter that shapes depend on is known.
package struct Subgraph: Sendable {
    package var name: String
    /// The type of each value, by its index.
    package var types: [TensorType]
    package var ops: [Op]
    package var inputs: [Value]
    /// Memory that the caller lends: read by `loadState`, replaced by `storeState`.
    package var states: [Value]
    package var outputs: [Value]
    /// Values that are known when the part is loaded.
    package var constants: [Value: HostTensor]

    package init(
        name: String, types: [TensorType] = [], ops: [Op] = [], inputs: [Value] = [], states: [Value] = [],
        outputs: [Value] = [], constants: [Value: HostTensor] = [:]
    ) {
        self.name = name
        self.types = types
        self.ops = ops
        self.inputs = inputs
        self.states = states
        self.outputs = outputs
        self.constants = constants
    }

    package subscript(type value: Value) -> TensorType { types[value.index] }
}
