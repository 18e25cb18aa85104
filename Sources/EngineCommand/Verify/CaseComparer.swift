import CoreAI
import EngineGraph

/// Holds the outputs and states of a call against their references.
struct CaseComparer {
    let request: CaseRequest
    let folder: CaseFolder
    let traits: ProgramTraits
    /// In the function's order.
    let outputNames: [String]

    func compare(
        _ call: CaseCall, number: Int, _ outputs: [(name: String, array: NDArray)], _ states: [String: NDArray]
    ) throws(CommandError) -> [CaseResult.Output] {
        var results: [CaseResult.Output] = []
        for key in call.expectedNames {
            let (name, array) = try actual(key, outputs, states)
            let expected = try call.expected(key)
            guard expected.shape == array.shape else {
                throw .failure(
                    "output \(name): the shape is \(array.shape), expected is \(expected.shape) (call \(number))")
            }
            results.append(try compare(array, expected, name: name, key: key, call: number))
        }
        return results
    }

    /// The array that `expected_KEY` is the reference for.
    private func actual(
        _ key: String, _ outputs: [(name: String, array: NDArray)], _ states: [String: NDArray]
    ) throws(CommandError) -> (String, NDArray) {
        if let output = outputs.first(where: { $0.name == key }) { return output }
        if key.hasPrefix("state_"), let state = states[String(key.dropFirst(6))] { return (key, state) }
        if let position = Int(key), position >= 0 {
            let names = folder.meta.outputs ?? outputNames
            guard position < names.count else {
                throw .failure("expected_\(key): there are \(names.count) outputs")
            }
            if let output = outputs.first(where: { $0.name == names[position] }) { return output }
            throw .failure("output \(names[position]): the function has none of this name")
        }
        throw .failure("expected_\(key): the function has no output or state of this name")
    }

    private func compare(
        _ array: NDArray, _ expected: NumPyArray, name: String, key: String, call: Int
    ) throws(CommandError) -> CaseResult.Output {
        let type = array.scalarType.elementType
        let storedType = try declaredType(name: name, key: key) ?? type
        guard let reference = expected.numbers(asStored: storedType) else {
            throw .failure(
                "expected_\(key): \(expected.type.descriptor) can't be compared with \(type.displayName)",
                hint: "meta.json's dtypes can name its type")
        }
        let standard = Tolerance.standard(for: type).scaled(by: traits.toleranceFactor(for: type, on: request.unit))
        let tolerance = Tolerance(
            rtol: request.rtol ?? folder.meta.rtol ?? standard.rtol,
            atol: request.atol ?? folder.meta.atol ?? standard.atol)
        let comparison = Comparison(try array.numbers(), with: reference, tolerance: tolerance)
        return CaseResult.Output(
            name: name, call: call, passed: comparison.isWithinTolerance, count: comparison.count,
            maxAbs: comparison.maximumAbsoluteError, maxRel: comparison.maximumRelativeError, psnr: comparison.psnr,
            rtol: tolerance.rtol, atol: tolerance.atol, failures: comparison.failureCount,
            firstFailure: comparison.firstFailure.map { first in
                "at \(Self.position(first.index, array.shape)): \(first.actual), expected \(first.expected)"
            })
    }

    /// The type that meta.json says the reference's bits are of.
    private func declaredType(name: String, key: String) throws(CommandError) -> ElementType? {
        guard let text = folder.meta.dtypes?["expected_\(key)"] ?? folder.meta.dtypes?[name] else { return nil }
        let wanted = text.lowercased()
        guard
            let type = ElementType.allCases.first(where: {
                $0.displayName.lowercased() == wanted || $0.dialectName.lowercased() == wanted
                    || String(describing: $0).lowercased() == wanted
            })
        else { throw .failure("meta.json: dtypes: '\(text)' is no type") }
        return type
    }

    private static func position(_ index: Int, _ shape: [Int]) -> [Int] {
        var rest = index
        var position: [Int] = []
        for extent in shape.reversed() {
            position.append(rest % max(extent, 1))
            rest /= max(extent, 1)
        }
        return position.reversed()
    }
}
