import Foundation
import Testing

@testable import EngineCommand

@Suite struct DemoTests {
    @Test func saysWhatIsMissing() async {
        let elsewhere = await Transcript("demo", "digits", "--models", "/nowhere")
        #expect(elsewhere.status == 1)
        #expect(elsewhere.error.contains("/nowhere/digits.aimodel") && elsewhere.error.contains("--models DIR"))
        #expect(await Transcript("demo", "letters").status == 2)
    }
}
