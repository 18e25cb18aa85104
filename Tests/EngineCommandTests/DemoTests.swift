import Foundation
import Testing

@testable import EngineCommand

@Suite struct DemoTests {
    @Test func readsTheHeldOutDigits() async throws {
        let models = repository.appendingPathComponent("Models").path
        let result = await Transcript("demo", "digits", "--models", models)
        #expect(result.status == 0, "\(result.error)")
        let lines = result.out.split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.count > 10)
        // Eight rows of six pictures, sixteen characters wide each.
        #expect(lines.prefix(8).allSatisfy { $0.count == 6 * 16 + 5 * 2 })
        #expect(result.out.contains("@"))
        #expect(lines[8].components(separatedBy: "read ").count == 7)
        #expect(result.out.contains("of 360 digits read right: accuracy 0.99"))
    }

    @Test func saysWhatIsMissing() async {
        let elsewhere = await Transcript("demo", "digits", "--models", "/nowhere")
        #expect(elsewhere.status == 1)
        #expect(elsewhere.error.contains("/nowhere/digits.aimodel") && elsewhere.error.contains("--models DIR"))
        #expect(await Transcript("demo", "letters").status == 2)
    }
}
