/// What a shape rule answers.
package enum ShapeAnswer: Sendable {
    /// The types of the results, every dimension known.
    case types([ValueType])
    /// The shapes depend on the contents of these operands, which only a run can tell.
    case needsValues(operands: [Int])
}

/// What a shape rule may look at: an op whose operands have static types, and the contents of those operands that the
/// host knows (constants, and what shape arithmetic made of them).
package struct ShapeQuery {
    package let op: Op
    /// The operands' types, static.
    package let operands: [ValueType]
    /// The results' types as the program declares them: may be dynamic.
    package let declared: [ValueType]
    private let integerContents: (Int) -> [Int]?
    private let numberContents: (Int) -> [Double]?

    package init(
        op: Op, operands: [ValueType], declared: [ValueType], integers: @escaping (Int) -> [Int]?,
        numbers: @escaping (Int) -> [Double]?
    ) {
        self.op = op
        self.operands = operands
        self.declared = declared
        self.integerContents = integers
        self.numberContents = numbers
    }

    /// The contents of operand `index` in row-major order, where it holds integers (or bools, as 0 and 1) and they
    /// are known.
    package func integers(_ index: Int) -> [Int]? { integerContents(index) }

    /// The contents of operand `index` as numbers, where they are known.
    package func numbers(_ index: Int) -> [Double]? { numberContents(index) }
}
