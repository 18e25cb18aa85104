package import EngineDelegation
import EngineGraph

extension FunctionBuilder {
    /// The function as a part: constants in its table, arguments as inputs, results as outputs. Every type must be that
    /// of a tensor.
    package func part() throws -> Subgraph {
        let function = self.function
        var part = Subgraph(name: function.name)
        part.types = function.types.map { $0.tensor ?? TensorType([], .bool) }
        for op in function.body.ops {
            if case .constant(let constant) = op.attributes {
                part.constants[op.results[0]] = try HostTensor(constant: constant, type: part[type: op.results[0]])
            } else {
                part.ops.append(op)
            }
        }
        part.inputs = function.body.arguments
        part.outputs = function.body.results
        return part
    }
}
