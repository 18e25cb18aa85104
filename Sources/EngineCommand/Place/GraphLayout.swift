/// Places the nodes of a graph without cycles in layers, from top to bottom, so that edges cross little and run straight.
struct GraphLayout {
    struct Node {
        var width: Double
        var height: Double
    }

    struct Point: Equatable {
        var x: Double
        var y: Double
    }

    struct Edge: Equatable {
        let from: Int
        let to: Int
        /// From the lower border of one node to the upper border of the other, a point in each layer between.
        var points: [Point] = []
    }

    /// The centers of the nodes.
    private(set) var centers: [Point] = []
    private(set) var edges: [Edge] = []
    private(set) var width = 0.0
    private(set) var height = 0.0
    /// The layer of each node, from 0 on.
    private(set) var layers: [Int] = []

    private static let gap = 26.0
    private static let layerGap = 34.0
    /// An edge over more layers than this goes straight: bends in each would make large graphs slow.
    private static let longestBentEdge = 40
    private static let sweeps = 12

    private let nodes: [Node]

    /// - Parameter edges: From a node to one of a larger index; others are left out.
    init(_ nodes: [Node], edges: [(from: Int, to: Int)]) {
        self.nodes = nodes
        var seen: Set<[Int]> = []
        self.edges = edges.filter {
            nodes.indices.contains($0.from) && nodes.indices.contains($0.to) && $0.from < $0.to
                && seen.insert([$0.from, $0.to]).inserted
        }.map { Edge(from: $0.from, to: $0.to) }
        guard !nodes.isEmpty else { return }
        assignLayers()
        place()
    }

    // MARK: - Layers

    private mutating func assignLayers() {
        layers = nodes.map { _ in 0 }
        let incoming = Dictionary(grouping: edges, by: \.to)
        let outgoing = Dictionary(grouping: edges, by: \.from)
        for node in nodes.indices {
            layers[node] = (incoming[node] ?? []).map { layers[$0.from] + 1 }.max() ?? 0
        }
        // What has no more edges from above than to below stands right above what reads it first: no edge gets longer
        // in sum, and what is read late (a state, a mask) does not widen the top.
        for node in nodes.indices.reversed() {
            guard let below = outgoing[node], (incoming[node]?.count ?? 0) <= below.count,
                let next = below.map({ layers[$0.to] }).min()
            else { continue }
            layers[node] = max(layers[node], next - 1)
        }
    }

    // MARK: - Places

    /// A node, or where an edge passes a layer.
    private struct Item {
        let width: Double
        /// Long edges are to be straight, before nodes stand above each other.
        var pull = 1.0
        var x = 0.0
        var above: [Int] = []
        var below: [Int] = []
    }

    private mutating func place() {
        var items = nodes.map { Item(width: $0.width) }
        var rows = [[Int]](repeating: [], count: (layers.max() ?? 0) + 1)
        for node in nodes.indices { rows[layers[node]].append(node) }
        var chains: [[Int]] = []
        for edge in edges {
            var chain = [edge.from]
            let between = (layers[edge.from] + 1)..<max(layers[edge.to], layers[edge.from] + 1)
            if between.count <= Self.longestBentEdge {
                for layer in between {
                    items.append(Item(width: 8, pull: 3))
                    rows[layer].append(items.count - 1)
                    chain.append(items.count - 1)
                }
                chain.append(edge.to)
                for (upper, lower) in zip(chain, chain.dropFirst()) {
                    items[upper].below.append(lower)
                    items[lower].above.append(upper)
                }
            } else {
                chain.append(edge.to)
            }
            chains.append(chain)
        }
        Self.order(&rows, &items)
        Self.straighten(rows, &items)
        finish(rows, items, chains)
    }

    /// Sorts each layer by where the neighbours are, downwards and upwards in turn.
    private static func order(_ rows: inout [[Int]], _ items: inout [Item]) {
        var rank = [Double](repeating: 0, count: items.count)
        func number(_ row: [Int]) { for (index, item) in row.enumerated() { rank[item] = Double(index) } }
        rows.forEach(number)
        for sweep in 0..<sweeps {
            let isDown = sweep % 2 == 0
            for layer in isDown ? Array(rows.indices) : rows.indices.reversed() {
                var keys: [Int: Double] = [:]
                for item in rows[layer] {
                    let neighbours = isDown ? items[item].above : items[item].below
                    keys[item] =
                        neighbours.isEmpty
                        ? rank[item] : neighbours.reduce(0) { $0 + rank[$1] } / Double(neighbours.count)
                }
                rows[layer].sort { (keys[$0] ?? 0, $0) < (keys[$1] ?? 0, $1) }
                number(rows[layer])
            }
        }
    }

    /// Moves items towards their neighbours, as far as their order and the gaps let them.
    private static func straighten(_ rows: [[Int]], _ items: inout [Item]) {
        for row in rows {
            var x = 0.0
            for item in row {
                items[item].x = x + items[item].width / 2
                x += items[item].width + gap
            }
            for item in row { items[item].x -= (x - gap) / 2 }
        }
        for sweep in 0..<(2 * sweeps) {
            for row in sweep % 2 == 0 ? rows : rows.reversed() {
                let wanted = row.map { item -> Double in
                    var sum = 0.0
                    var weight = 0.0
                    for neighbour in items[item].above + items[item].below {
                        let pull = items[item].pull * items[neighbour].pull
                        sum += pull * items[neighbour].x
                        weight += pull
                    }
                    return weight > 0 ? sum / weight : items[item].x
                }
                for (item, x) in zip(row, spread(wanted, widths: row.map { items[$0].width })) { items[item].x = x }
            }
        }
    }

    /// The places nearest to `wanted` that keep the order and the gaps: blocks that collide share their mean.
    private static func spread(_ wanted: [Double], widths: [Double]) -> [Double] {
        var offsets: [Double] = []
        var offset = 0.0
        for (index, width) in widths.enumerated() {
            if index > 0 { offset += (widths[index - 1] + width) / 2 + gap }
            offsets.append(offset)
        }
        var blocks: [(mean: Double, count: Int)] = []
        for (x, offset) in zip(wanted, offsets) {
            blocks.append((x - offset, 1))
            while blocks.count > 1, blocks[blocks.count - 2].mean > blocks[blocks.count - 1].mean {
                let last = blocks.removeLast()
                let other = blocks.removeLast()
                let count = last.count + other.count
                blocks.append(
                    ((last.mean * Double(last.count) + other.mean * Double(other.count)) / Double(count), count))
            }
        }
        let means = blocks.flatMap { Array(repeating: $0.mean, count: $0.count) }
        return zip(means, offsets).map { $0 + $1 }
    }

    private mutating func finish(_ rows: [[Int]], _ items: [Item], _ chains: [[Int]]) {
        var tops: [Double] = []
        var heights: [Double] = []
        var y = 0.0
        for row in rows {
            let height = row.map { $0 < nodes.count ? nodes[$0].height : 0 }.max() ?? 0
            tops.append(y)
            heights.append(height)
            y += height + Self.layerGap
        }
        height = max(0, y - Self.layerGap)
        let left = items.map { $0.x - $0.width / 2 }.min() ?? 0
        width = (items.map { $0.x + $0.width / 2 }.max() ?? 0) - left
        centers = nodes.indices.map {
            Point(x: items[$0].x - left, y: tops[layers[$0]] + heights[layers[$0]] / 2)
        }
        for (index, chain) in chains.enumerated() {
            let (from, to) = (edges[index].from, edges[index].to)
            var points = [Point(x: centers[from].x, y: centers[from].y + nodes[from].height / 2)]
            for (step, item) in chain.dropFirst().dropLast().enumerated() {
                let layer = layers[from] + 1 + step
                points.append(Point(x: items[item].x - left, y: tops[layer]))
                points.append(Point(x: items[item].x - left, y: tops[layer] + heights[layer]))
            }
            points.append(Point(x: centers[to].x, y: centers[to].y - nodes[to].height / 2))
            edges[index].points = points
        }
    }
}
