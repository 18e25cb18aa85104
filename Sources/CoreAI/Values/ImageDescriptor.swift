/// What a function expects of an image, or tells about one.
public struct ImageDescriptor: Sendable, Equatable {
    /// The number of rows of pixels.
    public let height: Int
    /// The number of pixels in a row.
    public let width: Int
    /// The pixel format's four-character code.
    public let pixelFormatType: UInt32

    package init(height: Int, width: Int, pixelFormatType: UInt32) {
        self.height = height
        self.width = width
        self.pixelFormatType = pixelFormatType
    }
}
