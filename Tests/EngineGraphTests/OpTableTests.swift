import Testing

@testable import EngineGraph

@Suite("Op table")
struct OpTableTests {
    @Test("has a row for every kind", arguments: OpKind.allCases)
    func isTotal(kind: OpKind) {
        #expect(OpTable.rows[kind] != nil)
        #expect(!kind.info.summary.isEmpty)
        // A parameter is one of the operands, and a tensor that the host can read.
        for index in kind.info.parameters {
            let operand = kind.info.operand(index)
            #expect(operand?.isParameter == true)
            if case .tensor = operand?.accepts {} else { Issue.record("parameter \(index) is no tensor") }
        }
    }

    @Test("names each kind once")
    func isUnique() {
        #expect(OpTable.rows.count == OpKind.allCases.count)
    }

    @Test("knows the host parameters")
    func parameters() {
        #expect(OpKind.conv2d.info.parameters == [2, 3, 4])
        #expect(OpKind.slice.info.parameters == [1, 2, 3])
        #expect(OpKind.concat.info.parameters == [0])
        #expect(OpKind.add.info.parameters.isEmpty)
        #expect(OpKind.gatherND.info.parameters.isEmpty)
    }

    @Test("counts operands")
    func operandCounts() {
        #expect(OpKind.add.info.acceptsOperandCount(2))
        #expect(!OpKind.add.info.acceptsOperandCount(3))
        #expect(OpKind.concat.info.acceptsOperandCount(2))
        #expect(!OpKind.concat.info.acceptsOperandCount(1))
        #expect(OpKind.concat.info.acceptsOperandCount(9))
        #expect(OpKind.concat.info.operandCountDescription == "at least 2")
        #expect(OpKind.constant.info.acceptsOperandCount(0))
    }

    @Test("pairs broadcasting ops with plain ones")
    func unbroadcast() {
        let broadcasting = OpKind.allCases.filter {
            $0.info.category.contains([.broadcasting, .named])
        }
        #expect(broadcasting.count == 20)
        for kind in broadcasting {
            let plain = OpTable.unbroadcast(kind)
            #expect(plain.map { "broadcasting_" + $0.rawValue } == kind.rawValue)
        }
        #expect(OpTable.unbroadcast(.add) == nil)
    }

    @Test("says what an operand must be")
    func expectations() {
        #expect(OpKind.sin.info.operands[0].expectation == "a tensor of floating point or complex")
        #expect(OpKind.conv2d.info.operands[0].expectation.hasPrefix("a rank 4 tensor of"))
        #expect(OpKind.batchMatmul.info.operands[0].expectation.hasPrefix("a rank ≥ 2 tensor of"))
        #expect(ElementSet.any.description == "any element type")
        #expect(ElementSet.uint1.union(.bool).description == "bool or ui1")
        for type in ElementType.allCases {
            #expect(ElementSet.any.contains(type))
            #expect(ElementSet.integers.contains(type) == type.isInteger)
        }
    }
}
