import EngineDelegation
import EngineGraph
import EngineTestSupport
import Testing

@Suite struct MemoryPlanTests {
    private func padded(_ byteCount: Int) -> Int { (byteCount + 63) / 64 * 64 }

    /// Checks that no two live buffers overlap; the plan's size over the most that is live at once.
    private func check(_ buffers: [BufferLifetime], _ label: String) throws -> Double {
        let plan = try MemoryPlan(buffers)
        var events: [(step: Int, isEnd: Bool, buffer: Int)] = []
        for (index, buffer) in buffers.enumerated() where buffer.byteCount > 0 {
            events.append((buffer.steps.lowerBound, false, index))
            events.append((buffer.steps.upperBound + 1, true, index))
            #expect(plan.offsets[index] % 64 == 0, "alignment in \(label)")
            #expect(plan.offsets[index] + buffer.byteCount <= plan.byteCount, "end in \(label)")
        }
        events.sort { ($0.step, $0.isEnd ? 0 : 1) < ($1.step, $1.isEnd ? 0 : 1) }
        var live: Set<Int> = []
        var (now, most) = (0, 0)
        for event in events {
            let size = padded(buffers[event.buffer].byteCount)
            if event.isEnd {
                live.remove(event.buffer)
                now -= size
                continue
            }
            let own = plan.offsets[event.buffer]..<(plan.offsets[event.buffer] + size)
            for other in live {
                let theirs = plan.offsets[other]..<(plan.offsets[other] + padded(buffers[other].byteCount))
                #expect(!own.overlaps(theirs), "buffers \(event.buffer) and \(other) of \(label)")
            }
            live.insert(event.buffer)
            now += size
            most = max(most, now)
        }
        return most == 0 ? 1 : Double(plan.byteCount) / Double(most)
    }

    @Test func randomLifetimes() throws {
        var ratios: [Double] = []
        for seed in 0..<60 {
            var dice = Dice(seed)
            let count = 2 + dice.below(80)
            let buffers = (0..<count).map { _ in
                let start = dice.below(100)
                let length = dice.below(4) == 0 ? dice.below(60) : dice.below(5)
                return BufferLifetime(steps: start...(start + length), byteCount: dice.below(1 << (4 + dice.below(12))))
            }
            ratios.append(try check(buffers, "seed \(seed)"))
        }
        #expect(ratios.max() ?? 9 <= 1.2)
    }

    /// As a transformer's blocks: a residual that lives through the block, wide and narrow values in between.
    @Test func lifetimesOfATransformer() throws {
        var buffers: [BufferLifetime] = []
        for block in 0..<24 {
            let step = block * 8
            buffers.append(BufferLifetime(steps: step...(step + 8), byteCount: 1 << 20))
            for part in 0..<3 {
                buffers.append(BufferLifetime(steps: (step + 1 + part)...(step + 4), byteCount: 1 << 20))
            }
            buffers.append(BufferLifetime(steps: (step + 4)...(step + 5), byteCount: 3 << 20))
            buffers.append(BufferLifetime(steps: (step + 5)...(step + 6), byteCount: 4 << 20))
            buffers.append(BufferLifetime(steps: (step + 6)...(step + 7), byteCount: 4 << 20))
        }
        #expect(try check(buffers, "transformer") <= 1.2)
    }

    /// As a network with skips between its halves: early values live until their late partner.
    @Test func lifetimesOfAnHourglass() throws {
        var buffers: [BufferLifetime] = []
        for level in 0..<6 {
            let size = 1 << (22 - 2 * level)
            buffers.append(BufferLifetime(steps: level...(level + 1), byteCount: size))
            buffers.append(BufferLifetime(steps: level...(20 - level), byteCount: size / 2))
            buffers.append(BufferLifetime(steps: (20 - level)...(21 - level), byteCount: size))
        }
        #expect(try check(buffers, "hourglass") <= 1.2)
    }

    @Test func sharedStepMeansNoSharedMemory() throws {
        let plan = try MemoryPlan([
            BufferLifetime(steps: 0...1, byteCount: 100), BufferLifetime(steps: 1...2, byteCount: 100),
            BufferLifetime(steps: 2...3, byteCount: 100), BufferLifetime(steps: 0...3, byteCount: 0),
        ])
        #expect(plan.offsets[0] != plan.offsets[1] && plan.offsets[1] != plan.offsets[2])
        #expect(plan.byteCount == 256)
    }

    @Test func sumsBeyondAddressSpaceAreAnError() {
        let half = BufferLifetime(steps: 0...0, byteCount: 1 << 62)
        #expect(throws: EngineError.self) { try MemoryPlan([half, half]) }
        #expect(throws: EngineError.self) { try MemoryPlan([BufferLifetime(steps: 0...0, byteCount: .max)]) }
    }

    /// Thirty thousand buffers: planned in no time, and still in little memory.
    @Test func manyBuffers() throws {
        let buffers = (0..<30_000).map { step in
            BufferLifetime(steps: step...(step + 1 + step % 3), byteCount: 64 << (step % 4))
        }
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try check(buffers, "many buffers") <= 3)
        #expect(clock.now - start < .seconds(20))
    }

    @Test func nothingTakesNothing() throws {
        #expect(try MemoryPlan([]).byteCount == 0)
    }
}
