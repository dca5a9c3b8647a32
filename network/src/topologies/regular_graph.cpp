#include "regular_graph.hpp"

#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::network {

std::vector<std::uint32_t> draw_regular_graph(std::uint32_t nodes, std::uint32_t degree, RandomStream& random) {
    ASTROLABE_ASSERT(degree < nodes && std::uint64_t{nodes} * degree % 2 == 0, "a regular graph exists");
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        for (std::uint32_t i = 1; i <= degree / 2; ++i) {
            edges.emplace_back(node, (node + i) % nodes);
        }
        if (degree % 2 != 0 && node < nodes / 2) {
            edges.emplace_back(node, node + nodes / 2);
        }
    }
    std::vector<std::uint8_t> connected(std::size_t{nodes} * nodes, 0);
    const auto connect = [&](std::uint32_t a, std::uint32_t b, std::uint8_t value) {
        connected[std::size_t{a} * nodes + b] = connected[std::size_t{b} * nodes + a] = value;
    };
    for (const auto& [a, b] : edges) {
        connect(a, b, 1);
    }
    const auto count = static_cast<std::uint32_t>(edges.size());
    constexpr std::uint64_t kSwitchesPerEdge = 20;
    for (std::uint64_t i = 0; i < kSwitchesPerEdge * count; ++i) {
        auto& [a, b] = edges[random.below(count)];
        auto& [c, d] = edges[random.below(count)];
        if (random.below(2) == 0) {
            std::swap(c, d);
        }
        if (a == c || b == d || a == d || b == c || connected[std::size_t{a} * nodes + c] != 0 ||
            connected[std::size_t{b} * nodes + d] != 0) {
            continue;
        }
        connect(a, b, 0);
        connect(c, d, 0);
        connect(a, c, 1);
        connect(b, d, 1);
        std::swap(b, c);
    }
    std::vector<std::uint32_t> neighbours;
    neighbours.reserve(std::size_t{nodes} * degree);
    for (std::size_t pair = 0; pair < connected.size(); ++pair) {
        if (connected[pair] != 0) {
            neighbours.push_back(static_cast<std::uint32_t>(pair % nodes));
        }
    }
    return neighbours;
}

}  // namespace astrolabe::network
