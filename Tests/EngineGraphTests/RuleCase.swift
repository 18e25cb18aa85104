import Testing

@testable import EngineGraph

/// A row of the shape rules' table of cases: an op with operand types as text, and what its rule must answer.
struct RuleCase: Sendable, CustomTestStringConvertible {
    enum Expected: Sendable {
        case types([String])
        case needs([Int])
        /// The error's reason holds this text.
        case fails(String)
    }

    let kind: OpKind
    let operands: [String]
    let declared: [String]
    let contents: [Int: [Double]]
    let attributes: OpAttributes
    let expected: Expected

    init(
        _ kind: OpKind, _ operands: [String], _ expected: Expected, declared: [String]? = nil,
        contents: [Int: [Double]] = [:], attributes: OpAttributes = .none
    ) {
        self.kind = kind
        self.operands = operands
        self.contents = contents
        self.attributes = attributes
        self.expected = expected
        switch expected {
        case .types(let types): self.declared = declared ?? types
        default: self.declared = declared ?? ["?xf32"]
        }
    }

    var testDescription: String { "\(kind.rawValue)(\(operands.joined(separator: ", ")))" }

    func check(sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
        let operandTypes = try operands.map(Self.type)
        let declaredTypes = try declared.map(Self.type)
        let op = Op(
            kind, operands: operandTypes.indices.map { Value($0) },
            results: declaredTypes.indices.map { Value(operandTypes.count + $0) }, attributes: attributes)
        let query = ShapeQuery(
            op: op, operands: operandTypes, declared: declaredTypes,
            integers: { index in contents[index].map { $0.map { Int($0) } } }, numbers: { contents[$0] })
        do throws(EngineError) {
            let answer = try inferTypes(query)
            switch (answer, expected) {
            case (.types(let types), .types(let texts)):
                #expect(types.map(Self.text) == texts, sourceLocation: sourceLocation)
            case (.needsValues(let given), .needs(let wanted)):
                #expect(given == wanted, sourceLocation: sourceLocation)
            default: Issue.record("answer \(answer), expected \(expected)", sourceLocation: sourceLocation)
            }
        } catch {
            guard case .fails(let part) = expected else {
                Issue.record("error \(error), expected \(expected)", sourceLocation: sourceLocation)
                return
            }
            #expect("\(error)".contains(part), sourceLocation: sourceLocation)
            #expect("\(error)".hasPrefix("op \(kind.rawValue): "), sourceLocation: sourceLocation)
        }
    }

    struct UnknownType: Error { let text: String }

    /// `2x?xf32`, `f32`, `handle 2xf32`, `sparse 2x3xui4`, `token`, `image 8x6 BGRA`.
    static func type(_ text: String) throws -> ValueType {
        if text == "token" { return .token }
        if text.hasPrefix("handle ") { return .handle(try tensor(String(text.dropFirst(7)))) }
        if text.hasPrefix("sparse ") {
            var type = try tensor(String(text.dropFirst(7)))
            type.encoding = .bitmaskSparse(nonZeroCount: nil)
            return .tensor(type)
        }
        if text.hasPrefix("image ") {
            let parts = text.split(separator: " ")
            let size = parts[1].split(separator: "x").compactMap { Int($0) }
            let code = parts[2].utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return .image(ImageType(height: size[0], width: size[1], pixelFormat: UInt32(parts[2]) ?? code))
        }
        return .tensor(try tensor(text))
    }

    static func tensor(_ text: String) throws -> TensorType {
        guard let element = ElementType.allCases.first(where: { text.hasSuffix($0.dialectName) && fits(text, $0) })
        else { throw UnknownType(text: text) }
        let shape = text.dropLast(element.dialectName.count).split(separator: "x").map { Int($0) ?? -1 }
        return TensorType(shape, element)
    }

    private static func fits(_ text: String, _ element: ElementType) -> Bool {
        let rest = text.dropLast(element.dialectName.count)
        return rest.isEmpty || rest.hasSuffix("x")
    }

    static func text(_ type: ValueType) -> String {
        switch type {
        case .tensor(let tensor):
            let body = (tensor.shape.map(String.init) + [tensor.elementType.dialectName]).joined(separator: "x")
            return tensor.encoding == .dense ? body : "sparse " + body
        case .handle(let tensor): return "handle " + text(.tensor(tensor))
        case .token: return "token"
        case .image(let image): return "image \(image.height)x\(image.width) \(image.pixelFormat)"
        }
    }
}
