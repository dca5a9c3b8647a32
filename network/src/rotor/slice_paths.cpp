#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/core/random.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::network::rotor {

namespace {

/// Depth-first search down the distances to the destination.
class PathSearch {
public:
    PathSearch(const RotorSchedule& schedule, const std::vector<std::uint16_t>& hops,
               std::uint32_t superslice, Rack to, std::size_t most, std::uint64_t order, PathList& paths)
        : schedule_(schedule),
          hops_(hops),
          superslice_(superslice),
          to_(to),
          most_(most),
          order_(order),
          paths_(paths) {}

    void search(Rack at) {
        if (at == to_) {
            paths_.add(path_);
            return;
        }
        const std::uint32_t uplinks = schedule_.uplinks();
        const auto first = static_cast<Rotor>(mix_bits(order_ + kGoldenGamma * (at + 1)) % uplinks);
        for (std::uint32_t i = 0; i < uplinks && paths_.size() < most_; ++i) {
            const Rotor rotor = (first + i) % uplinks;
            const Rack next = schedule_.peer(rotor, at, superslice_);
            if (!schedule_.goes_dark(rotor, superslice_) && distance(next) < distance(at)) {
                path_.push_back(static_cast<std::uint16_t>(rotor));
                search(next);
                path_.pop_back();
            }
        }
    }

private:
    // Distances are the same both ways, so one row is enough.
    [[nodiscard]] std::uint16_t distance(Rack rack) const {
        return hops_[std::size_t{to_} * schedule_.racks() + rack];
    }

    const RotorSchedule& schedule_;
    const std::vector<std::uint16_t>& hops_;
    std::uint32_t superslice_;
    Rack to_;
    std::size_t most_;
    std::uint64_t order_;
    PathList& paths_;
    std::vector<std::uint16_t> path_;
};

}  // namespace

ShortestSlicePaths::ShortestSlicePaths(RotorSchedule schedule, std::size_t most, std::uint64_t seed)
    : schedule_(std::move(schedule)),
      most_(most),
      seed_(seed) {
    ASTROLABE_ASSERT(most_ > 0, "a pair has a path");
    constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    const std::size_t bytes = std::size_t{schedule_.racks()} * schedule_.racks() * sizeof(std::uint16_t);
    kept_.resize(std::clamp<std::size_t>(kMostBytes / bytes, 1, schedule_.superslices()));
}

const std::vector<std::uint16_t>& ShortestSlicePaths::distances(std::uint32_t superslice) const {
    Distances& kept = kept_[superslice % kept_.size()];
    if (kept.hops.empty() || kept.superslice != superslice) {
        kept = {superslice, SliceGraph(schedule_, superslice).distances()};
    }
    return kept.hops;
}

void ShortestSlicePaths::find(std::uint64_t superslice, Rack from, Rack to, PathList& paths) const {
    paths.clear();
    const auto in_cycle = static_cast<std::uint32_t>(superslice % schedule_.superslices());
    const std::scoped_lock lock(in_use_);
    const std::vector<std::uint16_t>& hops = distances(in_cycle);
    if (from == to || hops[std::size_t{from} * schedule_.racks() + to] == SliceGraph::kUnreachable) {
        return;
    }
    const std::uint64_t pair = std::uint64_t{from} << 32 | to;
    const std::uint64_t order =
        mix_bits(mix_bits(mix_bits(seed_ + kGoldenGamma) + kGoldenGamma * in_cycle) ^ pair);
    PathSearch(schedule_, hops, in_cycle, to, most_, order, paths).search(from);
}

}  // namespace astrolabe::network::rotor
