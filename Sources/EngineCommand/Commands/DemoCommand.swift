import CoreAI
import EngineGraph
import Foundation

/// `engine demo`: a small model at work.
enum DemoCommand: Subcommand {
    static let spec = CommandSpec(
        name: "demo", summary: "Shows a small model at work: reads handwritten digits.", operands: "digits",
        operandCount: 1...1,
        options: [OptionSpec("--models", "DIR", help: "the folder with digits.aimodel; Models, if not given")],
        examples: ["engine demo digits --models Models"])

    private static let shownDigits = 6
    /// By how much the accuracy may miss what the model's metadata claims.
    private static let slack = 0.005

    static func run(_ arguments: ParsedArguments, _ console: Console) async throws -> Int32 {
        guard arguments.operands[0] == "digits" else {
            throw CommandError.usage("unknown demo '\(arguments.operands[0])'", hint: "there is one: digits")
        }
        let folder = URL(fileURLWithPath: arguments.value("--models") ?? "Models")
        let asset = folder.appendingPathComponent("digits.aimodel")
        guard FileManager.default.fileExists(atPath: asset.path) else {
            throw CommandError.failure(
                "\(asset.path): there is no such asset", hint: "--models DIR names the folder that holds it")
        }
        let images = try NumPyArchive(folder.appendingPathComponent("digits-inputs.npz").path).array("image")
        let labels = try integers(NumPyFile.read(folder.appendingPathComponent("digits-labels.npy").path))

        let model = try await AIModel(contentsOf: asset)
        guard let function = try model.loadFunction(named: "main") else {
            throw CommandError.failure("\(asset.path) has no function 'main'")
        }
        let start = ContinuousClock.now
        var outputs = try await function.run(inputs: ["image": NDArray(images, expected: .float32)])
        let time = ContinuousClock.now - start
        guard let logits = outputs.remove("logits")?.ndArray, logits.shape.count == 2, logits.shape[0] == labels.count
        else { throw CommandError.failure("\(asset.path): the output 'logits' has not a row for each label") }
        let predictions = try predictions(logits)

        try showPictures(images, predictions, labels, console)
        let right = zip(predictions, labels).count { $0 == $1 }
        let accuracy = Double(right) / Double(max(labels.count, 1))
        console.out("")
        console.out(
            String(
                format: "%ld of %ld digits read right: accuracy %.4f, in %.1f ms", right, labels.count, accuracy,
                time.milliseconds))
        let claimed = try AIModelAsset(contentsOf: asset).metadata["testAccuracy", Double.self] ?? 0
        guard accuracy >= claimed - slack else {
            throw CommandError.failure("the model's metadata claims an accuracy of \(claimed)")
        }
        return 0
    }

    /// For each row, the position of the largest number.
    private static func predictions(_ logits: NDArray) throws -> [Int] {
        let classes = logits.shape[1]
        let values = try logits.numbers().asReals
        return (0..<logits.shape[0]).map { row in
            (0..<classes).max { values[row * classes + $0] < values[row * classes + $1] } ?? 0
        }
    }

    private static func integers(_ array: NumPyArray) throws -> [Int] {
        guard let type = array.type.elementType, case .integers(let values) = array.numbers(asStored: type) else {
            throw CommandError.failure("the labels are no integers")
        }
        return values.map { Int(truncatingIfNeeded: $0) }
    }

    /// The first pictures beside each other, with what was read and what is right below.
    private static func showPictures(
        _ images: NumPyArray, _ predictions: [Int], _ labels: [Int], _ console: Console
    ) throws {
        guard images.shape.count == 4, images.shape[2] == 8, images.shape[3] == 8,
            let pixels = images.numbers(asStored: .float32)?.asReals, images.shape[0] == labels.count
        else { throw CommandError.failure("the pictures are not 8 x 8, one for each label") }
        let shown = min(shownDigits, labels.count)
        let shades = Array(" .:-=+*#%@")
        for row in 0..<8 {
            let line = (0..<shown).map { digit in
                (0..<8).map { column in
                    let value = pixels[digit * 64 + row * 8 + column] / 16
                    let shade = shades[Int((min(max(value, 0), 1) * Double(shades.count - 1)).rounded())]
                    return String(repeating: shade, count: 2)
                }.joined()
            }
            console.out(line.joined(separator: "  "))
        }
        let captions = (0..<shown).map { digit in
            let isRight = predictions[digit] == labels[digit]
            let caption = padded("read \(predictions[digit]), is \(labels[digit])", 16)
            return isRight ? console.style.green(caption) : console.style.red(caption)
        }
        console.out(captions.joined(separator: "  "))
    }
}
