#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/rack_graph.hpp>

namespace astrolabe::network::rotor {

namespace {

/// Depth-first search down the distances to the destination.
class PathSearch {
public:
    PathSearch(const MeasuredGraph& slice, Rack to, std::size_t most, std::uint64_t order, PathList& paths)
        : graph_(slice.graph),
          hops_(slice.hops),
          to_(to),
          most_(most),
          order_(order),
          paths_(paths) {}

    void search(Rack at) {
        if (at == to_) {
            paths_.add(path_);
            return;
        }
        const std::uint32_t uplinks = graph_.uplinks();
        const auto first = static_cast<Rotor>(mix_bits(order_ + kGoldenGamma * (at + 1)) % uplinks);
        for (std::uint32_t i = 0; i < uplinks && paths_.size() < most_; ++i) {
            const Rotor rotor = (first + i) % uplinks;
            const Rack next = graph_.neighbour(at, rotor);
            if (distance(next) < distance(at)) {
                path_.push_back(static_cast<std::uint16_t>(rotor));
                search(next);
                path_.pop_back();
            }
        }
    }

private:
    // Distances are the same both ways, so one row is enough.
    [[nodiscard]] std::uint16_t distance(Rack rack) const {
        return hops_[std::size_t{to_} * graph_.racks() + rack];
    }

    const RackGraph& graph_;
    const std::vector<std::uint16_t>& hops_;
    Rack to_;
    std::size_t most_;
    std::uint64_t order_;
    PathList& paths_;
    std::vector<std::uint16_t> path_;
};

}  // namespace

RackGraph::RackGraph(std::uint32_t racks, std::uint32_t uplinks, std::vector<Rack> neighbours)
    : racks_(racks),
      uplinks_(uplinks),
      neighbours_(std::move(neighbours)) {
    ASTROLABE_ASSERT(neighbours_.size() == std::size_t{racks} * uplinks, "every uplink has a neighbour");
}

std::vector<std::uint16_t> RackGraph::distances() const {
    std::vector<std::uint16_t> hops_between(std::size_t{racks_} * racks_, kUnreachable);
    for (Rack rack = 0; rack < racks_; ++rack) {
        hops_between[std::size_t{rack} * racks_ + rack] = 0;
    }
    search([&](std::uint16_t hops, Rack from, std::size_t word, std::uint64_t found) {
        for (; found != 0; found &= found - 1) {
            const std::size_t to = word * 64 + static_cast<std::size_t>(__builtin_ctzll(found));
            hops_between[std::size_t{from} * racks_ + to] = hops;
        }
    });
    return hops_between;
}

void list_shortest_paths(const MeasuredGraph& slice, Rack from, Rack to, std::size_t most, std::uint64_t seed,
                         std::uint32_t superslice, PathList& paths) {
    if (from == to || slice.hops[std::size_t{from} * slice.graph.racks() + to] == RackGraph::kUnreachable) {
        return;
    }
    const std::uint64_t pair = std::uint64_t{from} << 32 | to;
    const std::uint64_t order =
        mix_bits(mix_bits(mix_bits(seed + kGoldenGamma) + kGoldenGamma * superslice) ^ pair);
    PathSearch(slice, to, most, order, paths).search(from);
}

}  // namespace astrolabe::network::rotor
