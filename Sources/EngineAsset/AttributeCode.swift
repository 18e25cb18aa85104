/// The leading numbers of the dialect's attributes on disk.
enum AttributeCode {
    static let string: UInt64 = 1
    static let integer: UInt64 = 2
    static let float: UInt64 = 3
    static let type: UInt64 = 4
    static let array: UInt64 = 5
    static let denseElements: UInt64 = 6
    static let denseResource: UInt64 = 7
    static let opaque: UInt64 = 9
    static let hardwareConstraints: UInt64 = 12
    static let symbol: UInt64 = 14
    static let parameter: UInt64 = 16
    static let paddingMode: UInt64 = 17
    static let approximation: UInt64 = 19
    static let scatterMode: UInt64 = 20
    static let sparseEncoding: UInt64 = 21
    static let scanCombiner: UInt64 = 25
    static let fourCC: UInt64 = 27
    static let file: UInt64 = 30
    static let sourceLocation: UInt64 = 31
    static let metadataData: UInt64 = 33
    static let metadata: UInt64 = 35
    static let location: UInt64 = 40
    static let interpolationMode: UInt64 = 43
    static let dictionary: UInt64 = 45
    static let unit: UInt64 = 46
}
