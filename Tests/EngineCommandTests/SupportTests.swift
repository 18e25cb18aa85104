import Foundation
import Testing

@testable import EngineCommand

@Suite struct SupportTests {
    @Test func listsWhatUnitsTake() async {
        let text = await Transcript("support", "--unit", "cpu", "--op", "softmax")
        #expect(text.status == 0 && text.out == "softmax\n  cpu          all 4 types\n")
        let markdown = await Transcript("support", "--unit", "cpu", "--op", "softmax", "--markdown")
        #expect(markdown.out == "| op | cpu |\n|---|---|\n| `softmax` | all 4 types |\n")
        let json = await Transcript("support", "--unit", "cpu", "--op", "softmax", "--json")
        #expect(json.out.contains("\"op\" : \"softmax\"") && json.out.contains("\"declined\" : 0"))
    }

    @Test func checksAndTimes() async {
        let checked = await Transcript("support", "--unit", "cpu", "--op", "softmax", "--check")
        #expect(checked.status == 0 && checked.out.hasSuffix("passed, 0 failed, 0 declined\n"))
        let timed = await Transcript("support", "--unit", "cpu", "--op", "not", "--time")
        #expect(timed.status == 0 && timed.out.contains("not.i1.3x5"))
    }

    @Test func refusesWhatMakesNoSense() async {
        #expect(await Transcript("support", "--check", "--time").status == 2)
        let near = await Transcript("support", "--op", "softmx")
        #expect(near.status == 2 && near.error.contains("did you mean 'softmax'?"))
        let absent = await Transcript("support", "--unit", "accelerator")
        #expect(absent.status == 1 && absent.error.contains("no accelerator"))
    }
}
