package import EngineGraph

/// How near an answer must come, by what an op does.
package enum Precision: String, Sendable, Codable {
    /// The very bits; a NaN for a NaN.
    case exact
    case arithmetic
    /// Exponentials, trigonometry, roots: a GPU may be four times as far off in `f32`.
    case transcendental
    /// Products and long sums: four times as far off.
    case product
}

package struct Tolerance: Sendable, Hashable {
    package var relative: Double
    package var absolute: Double

    package init(relative: Double, absolute: Double) {
        self.relative = relative
        self.absolute = absolute
    }

    /// What a result of this type may be off by; zero for integers and bools.
    package init(_ type: ElementType, _ precision: Precision, onCPU: Bool) {
        switch type.complexPart ?? type {
        case .float64, .float32, .tensorFloat32: self.init(relative: 1e-4, absolute: 1e-5)
        case .float16: self.init(relative: 2e-3, absolute: 1e-3)
        case .bfloat16: self.init(relative: 2e-2, absolute: 1e-2)
        default: self.init(relative: 0, absolute: 0)
        }
        let isWider = precision == .product || (precision == .transcendental && type == .float32 && !onCPU)
        if isWider {
            relative *= 4
            absolute *= 4
        }
    }
}

extension Elements {
    /// What is wrong with these results, compared with `expected`; nil where nothing is.
    package func difference(from expected: Elements, _ tolerance: Tolerance, _ precision: Precision) -> String? {
        guard shape == expected.shape, count == expected.count else {
            return "the shape is \(shape), expected \(expected.shape)"
        }
        let isExact = precision == .exact && type.elementType == expected.type.elementType
        if isExact || !(type.elementType.isFloat || type.elementType.isComplex) {
            let same = type.elementType == expected.type.elementType ? expected.bits : expected.rounded(to: type).bits
            guard let index = bits.indices.first(where: { bits[$0] != same[$0] && !isNaN(at: $0, other: expected) })
            else { return nil }
            return "element \(index) is \(reals[index]), expected \(expected.reals[index])"
        }
        // The reference may be wider: what is past the type's largest value is infinite.
        let rounded = expected.rounded(to: type).reals
        var worst: (index: Int, error: Double)?
        for (index, (value, exact)) in zip(reals, expected.reals).enumerated() {
            if value == exact || value == rounded[index] || (value.isNaN && exact.isNaN) { continue }
            let error = abs(value - exact)
            // An infinite number is near no other.
            if exact.isFinite, error <= tolerance.absolute + tolerance.relative * abs(exact) { continue }
            if worst.map({ !($0.error >= error) }) ?? true { worst = (index, error) }
        }
        return worst.map { "element \($0.index) is \(reals[$0.index]), expected \(expected.reals[$0.index])" }
    }

    private func isNaN(at index: Int, other: Elements) -> Bool {
        type.elementType.isFloat && reals[index].isNaN && other.reals[index].isNaN
    }

    private func rounded(to other: TensorType) -> Elements {
        if type.elementType.isInteger, other.elementType.isInteger {
            return Elements(shape, other.elementType, integers)
        }
        return Elements(shape, other.elementType, reals)
    }
}
