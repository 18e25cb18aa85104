import EngineGraph
import Testing

@testable import EngineCommand

@Suite struct NumPyFileTests {
    static let types = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]

    @Test(arguments: types, ["stored.npz", "deflated.npz"])
    func readsEveryTypeInBothByteOrders(type: String, file: String) throws {
        let archive = try NumPyArchive(numPyFixture(file))
        let counted = [0.0, 1, 2, 3, 4, 5]
        for order in ["little", "big"] {
            let array = try archive.array("\(order)_\(type)")
            #expect(array.shape == [2, 3])
            #expect(array.type == NumPyType(descriptor: "<" + type))
            let elementType = try #require(array.type.elementType)
            let numbers = try #require(array.numbers(asStored: elementType))
            switch numbers {
            case .integers(let values):
                #expect(
                    values.map { Double($0) }
                        == (type == "b1" ? counted.map { $0.remainder(dividingBy: 2).magnitude } : counted))
            case .reals(let values): #expect(values == counted)
            case .complex(let values): #expect(values == counted.flatMap { [$0, 0] })
            }
        }
    }

    @Test func bringsColumnMajorArraysToRowMajorOrder() throws {
        let archive = try NumPyArchive(numPyFixture("deflated.npz"))
        for name in ["order_C", "order_F"] {
            let array = try archive.array(name)
            #expect(array.shape == [2, 3, 4])
            #expect(array.numbers(asStored: .int32) == .integers((0..<24).map { Int128($0) }))
        }
        let complex = try archive.array("big_column_major")
        #expect(complex.numbers(asStored: .complexFloat32) == .complex((0..<6).flatMap { [Double($0), 0] }))
    }

    @Test func readsScalarsEmptyAndLargeArrays() throws {
        let archive = try NumPyArchive(numPyFixture("deflated.npz"))
        let scalar = try archive.array("scalar")
        #expect(scalar.shape == [])
        #expect(scalar.numbers(asStored: .float32) == .reals([7]))
        let empty = try archive.array("empty")
        #expect(empty.shape == [0, 3])
        #expect(empty.elementCount == 0)
        let large = try archive.array("large")
        #expect(large.shape == [1000, 1000])
        #expect(large.numbers(asStored: .int32) == .integers((0..<1_000_000).map { Int128($0 % 5) }))
    }

    @Test func takesRawBytesAsTheTypeThatIsAskedFor() throws {
        let archive = try NumPyArchive(numPyFixture("stored.npz"))
        let two = try archive.array("raw2")
        #expect(two.type == .raw(2))
        #expect(two.numbers(asStored: .float32) == nil)
        // The codes 0, 1, 2, 3 are subnormal.
        let step = Double(Float(bitPattern: 1 << 16))
        #expect(two.numbers(asStored: .bfloat16) == .reals([0, step, 2 * step, 3 * step]))
        let one = try archive.array("raw1")
        #expect(one.numbers(asStored: .float4e2m1fn) == .reals([0, 0.5, 1, 1.5]))
        #expect(one.numbers(asStored: .int2) == .integers([0, 1, -2, -1]))
    }

    @Test(arguments: [1, 2, 3])
    func readsEveryVersion(version: Int) throws {
        let array = try NumPyFile.read(numPyFixture("version_\(version).npy"))
        #expect(array.shape == [2, 2])
        #expect(array.numbers(asStored: .int16) == .integers([0, 1, 2, 3]))
    }

    @Test func readsZip64() throws {
        let archive = try NumPyArchive(numPyFixture("zip64.npz"))
        #expect(archive.names == ["x"])
        #expect(try archive.array("x").numbers(asStored: .float32) == .reals([0, 1, 2, 3, 4]))
    }

    @Test func refusesRecordsAndText() {
        #expect { try NumPyFile.read(numPyFixture("record.npy")) } throws: { "\($0)".contains("several fields") }
        #expect { try NumPyFile.read(numPyFixture("text.npy")) } throws: { "\($0)".contains("'<U3'") }
    }

    @Test func namesTheArraysThatAreThere() throws {
        let archive = try NumPyArchive(numPyFixture("zip64.npz"))
        #expect { try archive.array("y") } throws: { "\($0)".contains("no array 'y'") && "\($0)".contains("holds x") }
    }

    @Test(arguments: [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2L,)}",
        " { 'shape' : ( 2 , ) , 'fortran_order' : True , 'descr' : '<f4' } ",
    ])
    func readsHeadersOfOtherWriters(text: String) throws {
        let header = try NumPyHeader(npy(text)[...])
        #expect(header.type == .float(4))
        #expect(header.shape == [2])
    }

    @Test(arguments: [
        "", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f99999999999999999999', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} and more",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + String(repeating: "1,", count: 65) + ")}",
    ])
    func refusesMalformedHeaders(text: String) {
        #expect(throws: CommandError.self) { try NumPyFile.decode(npy(text) + [UInt8](repeating: 0, count: 8)) }
    }

    @Test func survivesEveryCutAndEveryChangedByte() throws {
        let whole = try FileReader(numPyFixture("version_1.npy"))
        let bytes = try whole.read(offset: 0, count: whole.byteCount)
        for count in 0..<bytes.count {
            #expect(throws: CommandError.self) { try NumPyFile.decode(Array(bytes[..<count])) }
        }
        for position in bytes.indices {
            for value in [0, 0x27, 0x39, 0xFF] as [UInt8] {
                var changed = bytes
                changed[position] = value
                // Many stay readable; none may trap.
                _ = try? NumPyFile.decode(changed)
            }
        }
    }

    private func npy(_ header: String) -> [UInt8] {
        NumPyHeader.magic + [1, 0, UInt8(header.utf8.count & 0xFF), UInt8(header.utf8.count >> 8)] + Array(header.utf8)
    }
}
