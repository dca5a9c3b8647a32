/// Links between nodes on the way with fewest, found when first asked for; 2 bytes for every two nodes asked.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include <astrolabe/network/fabric.hpp>

namespace astrolabe::network::detail {

class HopTable {
public:
    static constexpr std::uint16_t kFar = std::numeric_limits<std::uint16_t>::max();

    explicit HopTable(const Fabric& fabric)
        : fabric_(fabric),
          found_(std::make_unique<std::once_flag[]>(fabric.node_count())),
          hops_(fabric.node_count()) {}

    /// From `node` to every other; kFar where no way leads. Lives as long as the table. Several threads may
    /// ask at once.
    [[nodiscard]] const std::vector<std::uint16_t>& of(NodeId node) {
        std::vector<std::uint16_t>& hops = hops_[node.index()];
        std::call_once(found_[node.index()], [&] { hops = find(node); });
        return hops;
    }

private:
    [[nodiscard]] std::vector<std::uint16_t> find(NodeId origin) const {
        std::vector<std::uint16_t> hops(fabric_.node_count(), kFar);
        hops[origin.index()] = 0;
        std::vector<NodeId> queue{origin};
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const NodeId node = queue[next];
            for (std::size_t i = 0; i < fabric_.out_degree(node); ++i) {
                const NodeId neighbour = fabric_.target(LinkId(fabric_.first_link(node).index() + i));
                if (hops[neighbour.index()] == kFar) {
                    hops[neighbour.index()] = static_cast<std::uint16_t>(hops[node.index()] + 1);
                    queue.push_back(neighbour);
                }
            }
        }
        return hops;
    }

    const Fabric& fabric_;
    std::unique_ptr<std::once_flag[]> found_;       // by node asked for
    std::vector<std::vector<std::uint16_t>> hops_;  // the same
};

}  // namespace astrolabe::network::detail
