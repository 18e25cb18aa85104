import Testing

@testable import EngineCommand

@Suite struct ParsedArgumentsTests {
    private let spec = CommandSpec(
        name: "try", summary: "tries", operands: "FILE", operandCount: 1...2,
        options: [
            OptionSpec("--input", "NAME=FILE", isRepeatable: true, help: "an input"),
            OptionSpec("--count", "N", help: "how many"),
            OptionSpec("--json", help: "as JSON"),
        ], examples: ["engine try a"])

    private func parse(_ arguments: String...) throws(CommandError) -> ParsedArguments {
        try ParsedArguments(arguments, for: spec)
    }

    @Test func sortsOptionsAndOperands() throws {
        let parsed = try parse("--input", "a=1", "one", "--input=b=2=3", "--json", "--count", "-1", "--", "--two")
        #expect(parsed.operands == ["one", "--two"])
        #expect(parsed.has("--json"))
        #expect(try parsed.pairs("--input").map(\.key) == ["a", "b"])
        #expect(try parsed.pairs("--input").map(\.value) == ["1", "2=3"])
        #expect(parsed.value("--count") == "-1")
        #expect { try parsed.integer("--count", atLeast: 0) } throws: { "\($0)".contains("'-1'") }
    }

    @Test func namesWhatIsWrong() {
        #expect { try parse("a", "--jsn") } throws: { error in
            error as? CommandError == .usage("unknown option '--jsn'", hint: "did you mean '--json'?")
        }
        #expect { try parse("a", "--count") } throws: { "\($0)".contains("'--count' needs a value: --count N") }
        #expect { try parse("a", "--count", "--json") } throws: { "\($0)".contains("'--count' needs a value") }
        #expect { try parse("a", "--count", "1", "--count", "2") } throws: { "\($0)".contains("given twice") }
        #expect { try parse("a", "--json=1") } throws: { "\($0)".contains("takes no value") }
        #expect { try parse() } throws: { "\($0)".contains("FILE is missing") }
        #expect { try parse("a", "b", "c") } throws: { "\($0)".contains("unexpected argument 'c'") }
        #expect { try parse("a", "--input", "x").pairs("--input") } throws: { "\($0)".contains("NAME=VALUE") }
        #expect { try parse("a", "--input", "x=1", "--input", "x=2").pairs("--input") } throws: {
            "\($0)".contains("twice for 'x'")
        }
    }

    @Test func everyErrorOfUseExitsWithTwo() async {
        #expect(await Transcript().status == 2)
        #expect(await Transcript("--no").status == 2)
        #expect(await Transcript("--version").status == 0)
        #expect(await Transcript("--help").status == 0)
        #expect(await Transcript("help").out == (await Transcript("--help").out))
    }

    @Test func asksForHelpBeforeAnythingElse() throws {
        #expect(try parse("--nonsense", "--help").wantsHelp)
        #expect(try !parse("--", "--help").wantsHelp)
    }

    @Test func suggestsOnlyWhatIsNear() {
        #expect(Suggestion.nearest(to: "inspct", among: ["inspect", "run"]) == "inspect")
        #expect(Suggestion.nearest(to: "flower", among: ["inspect", "run"]) == nil)
        #expect(Suggestion.nearest(to: String(repeating: "x", count: 5000), among: ["run"]) == nil)
    }
}
