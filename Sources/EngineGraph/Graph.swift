/// A value of a graph: an argument or a result of an op, by its index in `Graph.types`.
package struct Value: Hashable, Sendable {
    package let index: Int

    package init(_ index: Int) { self.index = index }
}

/// An operation: what it does, what it reads, what it defines.
package struct Op: Sendable {
    package var kind: OpKind
    package var operands: [Value]
    package var results: [Value]
    package var attributes: OpAttributes
    /// The regions of `if` and `while`: they share the enclosing graph's values and may capture them.
    package var regions: [Region]
    /// Isolated bodies with values of their own: a named op's decomposition, a reduction's combiner.
    package var bodies: [Graph]
    /// An index into `Program.locations`; negative where there is none.
    package var location: Int
    /// The ops that a fused op stands for; empty for an op that stands for itself.
    package var fused: [OpOrigin] = []
    /// The name of the pattern that a fused op was made by: `layer_norm`, `matmul+bias+gelu`.
    package var pattern: String?

    package init(
        _ kind: OpKind, operands: [Value] = [], results: [Value] = [], attributes: OpAttributes = .none,
        regions: [Region] = [], bodies: [Graph] = [], location: Int = -1
    ) {
        self.kind = kind
        self.operands = operands
        self.results = results
        self.attributes = attributes
        self.regions = regions
        self.bodies = bodies
        self.location = location
    }
}

/// An op of the program that a fused op stands for.
package struct OpOrigin: Sendable, Hashable {
    package let kind: OpKind
    /// An index into `Program.locations`; negative where there is none.
    package let location: Int

    package init(kind: OpKind, location: Int) {
        self.kind = kind
        self.location = location
    }
}

extension Op {
    /// The ops of the program that this one does.
    package var origins: [OpOrigin] { fused.isEmpty ? [OpOrigin(kind: kind, location: location)] : fused }
}

/// A straight line of ops. `results` are the operands of what ended it on disk (`output`, `yield`, `condition`): for
/// the first region of a `while` the condition comes first.
package struct Region: Sendable {
    package var arguments: [Value]
    package var ops: [Op]
    package var results: [Value]

    package init(arguments: [Value] = [], ops: [Op] = [], results: [Value] = []) {
        self.arguments = arguments
        self.ops = ops
        self.results = results
    }
}

/// A function of the program, or an isolated body: values of its own, and a region over them.
package struct Graph: Sendable {
    package var name: String
    /// The type of each value, by its index.
    package var types: [ValueType]
    package var body: Region
    package var signature: Signature

    package init(
        name: String = "", types: [ValueType] = [], body: Region = Region(), signature: Signature = Signature()
    ) {
        self.name = name
        self.types = types
        self.body = body
        self.signature = signature
    }

    package subscript(type value: Value) -> ValueType {
        get { types[value.index] }
        set { types[value.index] = newValue }
    }

    /// Adds a value of `type`.
    package mutating func makeValue(_ type: ValueType) -> Value {
        types.append(type)
        return Value(types.count - 1)
    }
}

/// What a function says about itself beside its ops.
package struct Signature: Sendable {
    /// The name of each argument, in order; empty for an isolated body.
    package var argumentNames: [String]
    /// The name of each result, in order. A result of type token carries its state's name.
    package var resultNames: [String]
    /// Whether the function can't be called from outside.
    package var isPrivate: Bool
    package var noInline: Bool
    /// The composite that a private function spells out: `rms_norm`, `scaled_dot_product_attention`, …
    package var composite: Composite?

    package init(
        argumentNames: [String] = [], resultNames: [String] = [], isPrivate: Bool = false, noInline: Bool = false,
        composite: Composite? = nil
    ) {
        self.argumentNames = argumentNames
        self.resultNames = resultNames
        self.isPrivate = isPrivate
        self.noInline = noInline
        self.composite = composite
    }
}

/// The name that a converter gave to a group of ops, with its attributes as text.
package struct Composite: Sendable, Hashable {
    package var name: String
    package var attributes: [String: String]

    package init(name: String, attributes: [String: String] = [:]) {
        self.name = name
        self.attributes = attributes
    }
}

/// Where an op comes from in the source model.
package struct SourceLocation: Sendable, Hashable {
    package var file: String
    package var line: Int
    package var column: Int
    /// The source framework's names for the op (`op_id`, `call_stack`, `sources`, …), as text.
    package var metadata: [String: String]

    package init(file: String, line: Int, column: Int, metadata: [String: String] = [:]) {
        self.file = file
        self.line = line
        self.column = column
        self.metadata = metadata
    }
}

/// A whole program, as on disk: dynamic shapes, regions, constants in the map.
package struct Program: Sendable {
    package var graphs: [Graph]
    package var locations: [SourceLocation]
    package var producer: String
    /// The newest date that any op needs: 20260409 reads as the ninth of April 2026.
    package var version: Int?

    package init(graphs: [Graph], locations: [SourceLocation] = [], producer: String = "", version: Int? = nil) {
        self.graphs = graphs
        self.locations = locations
        self.producer = producer
        self.version = version
    }

    /// The functions that a caller can load.
    package var functions: [Graph] { graphs.filter { !$0.signature.isPrivate } }

    package func graph(named name: String) -> Graph? { graphs.first { $0.name == name } }
}
