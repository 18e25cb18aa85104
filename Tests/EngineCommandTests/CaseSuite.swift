import Foundation

@testable import EngineCommand

/// A suite of cases on disk, made for a test.
struct CaseSuite {
    let folder: URL

    /// Adds a case over a fixture's asset.
    ///
    /// - Parameter asset: The fixture; nil leaves the model out.
    func add(
        _ name: String, asset: String?, _ calls: [[(name: String, array: NumPyArray)]], meta: String? = nil
    ) throws {
        let place = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        if let asset {
            try FileManager.default.createSymbolicLink(
                atPath: place.appendingPathComponent("model.aimodel").path, withDestinationPath: assetFixture(asset))
        }
        for (index, arrays) in calls.enumerated() {
            try NumPyArchive.write(arrays, to: place.appendingPathComponent("case_\(index).npz").path)
        }
        if let meta { try write(meta, to: "\(name)/meta.json") }
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    func verify(_ options: String...) async -> Transcript { await Transcript(["verify", folder.path] + options) }
}

func floats(_ values: [Float], _ shape: [Int]) throws -> NumPyArray { try .of(values, .float(4), shape: shape) }

func integers(_ values: [Int32]) throws -> NumPyArray { try .of(values, .int(4), shape: [values.count]) }

/// The rectifier among the fixtures, with a reference that is right but for `error` in the element of 2.
func rectifier(error: Float = 0) throws -> [(name: String, array: NumPyArray)] {
    [
        ("input_x", try floats([-1, 0, 1, 2, -3, .infinity], [2, 3])),
        ("expected_y", try floats([0, 0, 1, 2 + error, 0, .infinity], [2, 3])),
    ]
}
