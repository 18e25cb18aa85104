import Testing

@testable import EngineGraph

@Suite("Printer")
struct PrinterTests {
    private static func program() -> Program {
        let vector = ValueType.tensor(TensorType([4], .float32))
        let scalar = ValueType.tensor(TensorType([], .float32))
        let axes = ValueType.tensor(TensorType([1], .int32))
        let flag = ValueType.tensor(TensorType([], .bool))
        let combiner = Graph(
            types: [scalar, scalar, scalar],
            body: Region(
                arguments: [Value(0), Value(1)],
                ops: [Op(.add, operands: [Value(0), Value(1)], results: [Value(2)])], results: [Value(2)]))
        let identity = Graph(types: [vector], body: Region(arguments: [Value(0)], results: [Value(0)]))
        let graph = Graph(
            name: "main",
            types: [vector, flag, axes, scalar, .tensor(TensorType([1], .float32)), vector, vector, vector],
            body: Region(
                arguments: [Value(0), Value(1)],
                ops: [
                    Op(.constant, results: [Value(2)], attributes: .constant(Constant(bytes: [0, 0, 0, 0]))),
                    Op(
                        .constant, results: [Value(3)],
                        attributes: .constant(Constant(bytes: [0, 0, 0, 0x40], isSplat: true))),
                    Op(
                        .reduce, operands: [Value(0), Value(2), Value(3)], results: [Value(4)], bodies: [combiner],
                        location: 0),
                    Op(
                        .if, operands: [Value(1)], results: [Value(5)],
                        regions: [
                            Region(
                                ops: [Op(.relu, operands: [Value(0)], results: [Value(6)], bodies: [identity])],
                                results: [Value(6)]),
                            Region(results: [Value(0)]),
                        ]),
                    Op(.invoke, operands: [Value(5)], results: [Value(7)], attributes: .callee("f g")),
                ], results: [Value(4), Value(7)]),
            signature: Signature(argumentNames: ["x", "c"], resultNames: ["sum", "y\n"]))
        return Program(
            graphs: [graph], locations: [SourceLocation(file: "model.py", line: 3, column: 7)], producer: "test",
            version: 20_260_409)
    }

    private static let plain = #"""
        program version 20260409 producer "test" {
          graph @main(%0: tensor<4xf32> "x", %1: tensor<i1> "c") -> (tensor<1xf32> "sum", tensor<4xf32> "y\n") {
            %2 = constant dense<[0]> : tensor<1xsi32>
            %3 = constant dense<2.0> : tensor<f32>
            %4 = reduce %0, %2, %3 isolated {
              (%0: tensor<f32>, %1: tensor<f32>):
              %2 = add %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
              yield %2
            } : (tensor<4xf32>, tensor<1xsi32>, tensor<f32>) -> tensor<1xf32>
            %5 = if %1 {
              %6 = relu %0 : (tensor<4xf32>) -> tensor<4xf32>
              yield %6
            } else {
              yield %0
            } : (tensor<i1>) -> tensor<4xf32>
            %7 = invoke @"f g" %5 : (tensor<4xf32>) -> tensor<4xf32>
            output %4, %7
          }
        }

        """#

    @Test("a small program")
    func golden() {
        #expect(Printer().print(Self.program()) == Self.plain)
    }

    @Test("piece by piece gives the same text")
    func streaming() {
        var pieces: [String] = []
        Printer().write(Self.program()) { pieces.append($0) }
        #expect(pieces.count > 40)
        #expect(pieces.joined() == Self.plain)
    }

    @Test("decompositions and locations on request")
    func options() {
        let text = Printer(showsDecompositions: true, showsLocations: true).print(Self.program())
        #expect(text.contains("-> tensor<1xf32> loc(\"model.py\":3:7)\n"))
        #expect(
            text.contains(
                """
                      %6 = relu %0 isolated {
                        (%0: tensor<4xf32>):
                        yield %0
                      } : (tensor<4xf32>) -> tensor<4xf32>

                """))
    }

    @Test("constants are cut short")
    func constants() {
        func line(_ constant: Constant, _ type: TensorType) -> String {
            let graph = Graph(
                name: "f", types: [.tensor(type)],
                body: Region(ops: [Op(.constant, results: [Value(0)], attributes: .constant(constant))]))
            return String(Printer(elementLimit: 3).print(graph).split(separator: "\n")[1])
        }
        #expect(
            line(Constant(bytes: [1, 2, 3, 4, 5]), TensorType([5], .uint8))
                == "  %0 = constant dense<[1, 2, 3, … 5 bytes]> : tensor<5xui8>")
        #expect(
            line(Constant(bytes: [1, 0], isSplat: false), TensorType([2], .bool))
                == "  %0 = constant dense<[true, false]> : tensor<2xi1>")
        #expect(
            line(Constant(bytes: [0xCD, 0xCC, 0xCC, 0x3D], isSplat: true), TensorType([9], .float32))
                == "  %0 = constant dense<0.1 …> : tensor<9xf32>")
        #expect(line(Constant(bytes: []), TensorType([0], .int32)) == "  %0 = constant dense<[]> : tensor<0xsi32>")
        // A type that the bytes don't fill.
        #expect(
            line(Constant(bytes: [1]), TensorType([9], .int32)) == "  %0 = constant dense<1 bytes> : tensor<9xsi32>")
    }

    @Test("a damaged graph prints")
    func damaged() {
        let graph = Graph(
            name: "", types: [],
            body: Region(
                arguments: [Value(3)], ops: [Op(.while, operands: [Value(-1)], results: [], location: 5)],
                results: [Value(9)]))
        let text = Printer(showsLocations: true).print(graph)
        #expect(text == "graph @\"\"(%3: ?) -> (?) {\n  while %-1 : (?) -> ()\n  output %9\n}\n")
    }

    @Test("quotes")
    func quotes() {
        #expect(Printer.quoted("a\"b\\\n\u{1}é") == #""a\"b\\\n\u{1}é""#)
    }
}
