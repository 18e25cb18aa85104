import CoreAI
import Foundation
import Testing

/// The code that the README shows: it compiles, and reads an upright stroke as a one.
@Suite struct ReadmeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func twentyLines() async throws {
        let url = Self.root.appending(path: "Models/digits.aimodel")
        let model = try await AIModel(contentsOf: url)
        let classify = try #require(try model.loadFunction(named: "main"))

        var image = NDArray(shape: [1, 1, 8, 8], scalarType: .float32)
        do {
            var pixels = image.mutableView(as: Float.self)
            for row in 1..<7 { pixels[scalarAt: [0, 0, row, 4]] = 16 }
        }

        var outputs = try await classify.run(inputs: ["image": image])
        let output = outputs.remove("logits")?.ndArray
        let logits = try #require(output)
        #expect(logits.shape == [1, 10])
        let scores = logits.view(as: Float.self)
        var best: Int?
        if let elements = scores.contiguousElements {
            best = elements.indices.max { elements[$0] < elements[$1] }
        }
        #expect(best == 1)
    }
}
