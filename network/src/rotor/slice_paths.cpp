#include <algorithm>
#include <utility>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>
#include <astrolabe/network/rotor/slice_paths.hpp>

namespace astrolabe::network::rotor {

ShortestSlicePaths::ShortestSlicePaths(RotorSchedule schedule, std::size_t most, std::uint64_t seed)
    : schedule_(std::move(schedule)),
      most_(most),
      seed_(seed) {
    ASTROLABE_ASSERT(most_ > 0, "a pair has a path");
    constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    const std::size_t racks = schedule_.racks();
    const std::size_t bytes =
        racks * racks * sizeof(std::uint16_t) + racks * schedule_.uplinks() * sizeof(Rack);
    kept_.resize(std::clamp<std::size_t>(kMostBytes / bytes, 1, schedule_.superslices()));
}

const MeasuredGraph& ShortestSlicePaths::slice(std::uint32_t superslice) const {
    Kept& kept = kept_[superslice % kept_.size()];
    if (!kept.slice.has_value() || kept.superslice != superslice) {
        const SliceGraph graph(schedule_, superslice);
        kept = {superslice, MeasuredGraph{graph, graph.distances()}};
    }
    return *kept.slice;
}

void ShortestSlicePaths::find(std::uint64_t superslice, Rack from, Rack to, PathList& paths) const {
    paths.clear();
    const auto in_cycle = static_cast<std::uint32_t>(superslice % schedule_.superslices());
    const std::scoped_lock lock(in_use_);
    list_shortest_paths(slice(in_cycle), from, to, most_, seed_, in_cycle, paths);
}

}  // namespace astrolabe::network::rotor
