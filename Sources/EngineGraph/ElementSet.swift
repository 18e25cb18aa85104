/// A set of element types.
package struct ElementSet: Sendable, Hashable {
    private var bits: UInt64

    package init(_ types: some Sequence<ElementType>) {
        bits = types.reduce(0) { $0 | 1 << UInt64($1.rawValue) }
    }

    private init(bits: UInt64) { self.bits = bits }

    package func contains(_ type: ElementType) -> Bool { bits >> UInt64(type.rawValue) & 1 == 1 }

    package func union(_ other: ElementSet) -> ElementSet { ElementSet(bits: bits | other.bits) }

    package static let bool = ElementSet([.bool])
    package static let integers = ElementSet(ElementType.allCases.filter(\.isInteger))
    package static let signedIntegers = ElementSet(ElementType.allCases.filter(\.isSignedInteger))
    package static let unsignedIntegers = ElementSet(ElementType.allCases.filter(\.isUnsignedInteger))
    package static let floats = ElementSet(ElementType.allCases.filter(\.isFloat))
    package static let complex = ElementSet(ElementType.allCases.filter(\.isComplex))
    /// Real numbers: integers and floating point.
    package static let real = integers.union(floats)
    package static let realOrBool = real.union(bool)
    package static let integersOrBool = integers.union(bool)
    package static let floatsOrComplex = floats.union(complex)
    /// Real and complex numbers.
    package static let numbers = real.union(complex)
    package static let any = numbers.union(bool)
    package static let uint8 = ElementSet([.uint8])
    package static let uint1 = ElementSet([.uint1])
}

extension ElementSet: CustomStringConvertible {
    package var description: String {
        let families: [(ElementSet, String)] = [
            (.floats, "floating point"), (.integers, "integer"), (.signedIntegers, "signed integer"),
            (.unsignedIntegers, "unsigned integer"), (.bool, "bool"), (.complex, "complex"),
        ]
        if self == .any { return "any element type" }
        var left = self
        var names: [String] = []
        for (family, name) in families where left.bits & family.bits == family.bits {
            names.append(name)
            left.bits &= ~family.bits
        }
        names += ElementType.allCases.filter(left.contains).map(\.dialectName)
        return names.joined(separator: " or ")
    }
}
