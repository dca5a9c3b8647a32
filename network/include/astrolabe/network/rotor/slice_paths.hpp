/// Paths of low-latency packets: which uplinks lead from rack to rack in a superslice.
///
/// Model. A packet sent in superslice s follows a path of circuits that stay to its end (slice_graph.hpp),
/// fixed when it leaves its host: the list of uplinks to take, one for each hop, whatever racks they lead to
/// when the packet gets there. A sender picks one of the listed paths of its pair at random.
///
/// `ShortestSlicePaths` lists shortest paths of a schedule, at most `most` for a pair: all of them where
/// there are no more, else those found first by a search that tries the uplinks of a rack in a random order
/// of their own for each (seed, superslice, source, destination, rack), so that no uplink is preferred.
/// Distances of a superslice are found when it is first asked for, O(N² + edges) (rack_graph.hpp), and kept
/// in at most 64 MiB for all superslices; a query then costs O(uplinks * hops) for each path.
///
/// Source: Opera (NSDI 2020), section 4.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include <astrolabe/network/rotor/rotor_schedule.hpp>
#include <astrolabe/network/rotor/slice_graph.hpp>

namespace astrolabe::network::rotor {

class SlicePaths {
public:
    virtual ~SlicePaths() = default;

    /// Replaces `paths` by those of the pair in this superslice (of any cycle); none if no path joins them or
    /// they are one rack. Several threads may ask at once.
    virtual void find(std::uint64_t superslice, Rack from, Rack to, PathList& paths) const = 0;
};

class ShortestSlicePaths final : public SlicePaths {
public:
    ShortestSlicePaths(RotorSchedule schedule, std::size_t most, std::uint64_t seed);

    void find(std::uint64_t superslice, Rack from, Rack to, PathList& paths) const override;

private:
    struct Kept {
        std::uint32_t superslice = 0;
        std::optional<MeasuredGraph> slice;  // empty until asked for
    };

    /// Precondition: `in_use_` is held.
    [[nodiscard]] const MeasuredGraph& slice(std::uint32_t superslice) const;

    RotorSchedule schedule_;
    std::size_t most_;
    std::uint64_t seed_;
    mutable std::mutex in_use_;
    mutable std::vector<Kept> kept_;  // that of superslice s at s mod size
};

}  // namespace astrolabe::network::rotor
