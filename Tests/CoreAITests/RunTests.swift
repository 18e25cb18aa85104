import CoreAI
import Foundation
import Testing

@Suite struct RunTests {
    private static let assets = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/assets")

    @Test func linearAndRelu() async throws {
        let model = try await AIModel(contentsOf: Self.assets.appending(path: "linear_relu.aimodel"))
        let function = try #require(try model.loadFunction(named: "main"))
        print(function.descriptor.inputNames, function.descriptor.outputNames)
    }
}
