import EngineAsset
import EngineGraph
import Testing

@Suite struct JSONTests {
    private func parse(_ text: String) throws(EngineError) -> JSON {
        try JSON(parsing: Array(text.utf8), file: "test.json")
    }

    @Test func valuesReadAsTheyAre() throws {
        #expect(try parse(" null ") == .null)
        #expect(try parse("[true, false]") == .array([.bool(true), .bool(false)]))
        for number in ["0", "-0", "12", "-1.50", "1e3", "2.5E-7", "12345678901234567890123"] {
            #expect(try parse(number) == .number(number))
        }
        #expect(
            try parse(#"{"b": 1, "a": {}, "b": []}"#)
                == .object([.init("b", .number("1")), .init("a", .object([])), .init("b", .array([]))]))
        #expect(try parse(#"{"b": 1, "b": 2}"#)["b"] == .number("2"))
        #expect(try parse(#""a\"\\\/\b\f\n\r\tä\u00e4\ud83d\ude00""#).string == "a\"\\/\u{8}\u{C}\n\r\tää😀")
        #expect(try parse(#""\ud83d-\ude00""#).string == "\u{FFFD}-\u{FFFD}")
    }

    @Test(arguments: [
        "", " ", "{", "[", "\"", "nul", "tru", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a: 1}", "{\"a\": 1,}", "01",
        "1.", ".5", "+1", "1e", "-", "--1", "0x10", "NaN", "Infinity", "'a'", "\"\\x\"", "\"\\u12\"", "\"\\u+123\"",
        "\"a\nb\"", "1 2", "[1]]", "\u{FEFF}\u{FEFF}1", "/* */ 1",
    ])
    func whatIsNoJSONIsAnError(_ text: String) {
        #expect(throws: EngineError.self) { try parse(text) }
    }

    @Test func deepNestingIsAnError() throws {
        #expect(try parse(String(repeating: "[", count: 100) + String(repeating: "]", count: 100)) != .null)
        for text in ["[", "{\"a\":"] {
            #expect(throws: EngineError.self) { try parse(String(repeating: text, count: 100_000)) }
        }
    }

    @Test func textReadsBack() throws {
        let value = JSON.object([
            .init("text", .string("\u{0}\u{1F}\"\\/ä😀\n")), .init("numbers", .array([JSON(-7), .number("1.50")])),
            .init("empty", .object([])), .init("none", .array([])), .init("null", .null), .init("yes", .bool(true)),
        ])
        #expect(try parse(value.text) == value)
        #expect(JSON(Double.nan) == nil)
        #expect(JSON(2.0) == .number("2.0"))
    }

    @Test func membersAreSetInPlace() {
        var value = JSON.object([.init("a", JSON(1)), .init("b", JSON(2))])
        value.set("a", JSON(3))
        value.set("c", JSON(4))
        value.set("b", nil)
        #expect(value == .object([.init("a", JSON(3)), .init("c", JSON(4))]))
    }
}
