package import EngineDelegation
package import EngineGraph

/// One row of the table: a small part with inputs, and what must come out.
package struct OpCase: Sendable {
    /// Builds the part and tells the results, in the order of the part's outputs and then its states; nil where the
    /// reference delegate computes them.
    package typealias Body = @Sendable (inout CaseBuilder) -> [Elements]?

    package let kind: OpKind
    /// The element type that the case is about.
    package let type: ElementType
    /// What tells the case from others of its kind and type.
    package let variant: String
    package let precision: Precision
    let body: Body

    package init(
        _ kind: OpKind, _ type: ElementType, _ variant: String, _ precision: Precision = .arithmetic,
        _ body: @escaping Body
    ) {
        self.kind = kind
        self.type = type
        self.variant = variant
        self.precision = precision
        self.body = body
    }

    package var name: String { "\(kind.name).\(type.dialectName).\(variant)" }

    /// The part with its inputs and, where they are computed without a delegate, its results.
    package func build() throws(EngineError) -> BuiltCase {
        var builder = CaseBuilder()
        let expected = body(&builder)
        if let failure = builder.failure { throw failure }
        return BuiltCase(
            part: builder.part, inputs: builder.inputs, states: builder.states, expected: expected)
    }
}

package struct BuiltCase: Sendable {
    package let part: Subgraph
    package let inputs: [Elements]
    package let states: [Elements]
    /// Outputs, then states as they are left.
    package let expected: [Elements]?
}

/// How a case went on a delegate.
package struct ConformanceResult: Sendable, Codable, Equatable {
    package enum Outcome: Sendable, Codable, Equatable {
        case passed
        /// The delegate does not run the case, and says why: no failure.
        case declined(reason: String)
        case failed(reason: String)
    }

    package let name: String
    package let outcome: Outcome

    package init(name: String, outcome: Outcome) {
        self.name = name
        self.outcome = outcome
    }

    package var failure: String? {
        if case .failed(let reason) = outcome { reason } else { nil }
    }

    package var isDeclined: Bool {
        if case .declined = outcome { true } else { false }
    }
}

extension OpCase {
    /// Every case of the table.
    package static let all: [OpCase] =
        unaryCases + binaryCases + castCases + complexCases + shapeCases + movementCases + indexCases
        + reductionCases + orderCases + productCases + convolutionCases + windowCases + weightCases + fusedCases
        + stateCases
}

extension [Int] {
    /// `2x3`, or `scalar`.
    var extentsText: String { isEmpty ? "scalar" : map(String.init).joined(separator: "x") }
}

extension ElementType {
    static let plainFloats: [ElementType] = [.float16, .bfloat16, .float32, .float64]
    static let plainIntegers: [ElementType] = [
        .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64,
    ]
    static let plainReals = plainFloats + plainIntegers
    static let plain = plainReals + [.bool, .complexFloat32]
}
