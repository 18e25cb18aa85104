import Foundation

/// Writes values as JSON: keys sorted, so that the same value gives the same text.
enum JSONText {
    static func encode(_ value: some Encodable, isPretty: Bool = true) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.keyEncodingStrategy = .convertToSnakeCase
        // JSON has no numbers for these.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<T: Decodable>(_ type: T.Type, from text: Data) throws -> T {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode(type, from: text)
    }

    /// Writes `value` to the file at `path`, which is replaced in one step.
    static func write(_ value: some Encodable, to path: String) throws {
        let text = try encode(value) + "\n"
        let file = try AtomicFile(path)
        try file.write(Array(text.utf8)[...])
        try file.commit()
    }
}
