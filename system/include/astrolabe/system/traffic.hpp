/// What a schedule puts on the network, counted from the schedule alone: no time, no executor.
///
/// Every message is counted once at its sender and once at its receiver with the exact bytes of its blocks,
/// so Σ sent = Σ received = the bytes an executor must deliver. O(actions · ranks of a symmetric schedule).
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/algorithm.hpp>
#include <astrolabe/system/schedule.hpp>

namespace astrolabe::system {

struct RankTraffic {
    Bytes bytes_sent;
    Bytes bytes_received;
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_received = 0;
};

struct Traffic {
    std::vector<RankTraffic> ranks;  ///< by position

    [[nodiscard]] Bytes bytes() const;  ///< over all ranks
    [[nodiscard]] std::uint64_t messages() const;
    [[nodiscard]] Bytes bytes_sent_max() const;

    /// Adds `times` copies of `other`, which has the same ranks.
    void add(const Traffic& other, std::int64_t times = 1);
};

/// One chunk of `size` bytes per rank.
[[nodiscard]] Traffic traffic_of(const CollectiveSchedule& schedule, Bytes size);

/// A whole collective of `size` bytes per rank cut in `chunks` chunks (executor.hpp), chunk c using variant
/// c mod variants(). No traffic for zero bytes or one rank.
[[nodiscard]] Traffic traffic_of(const CollectiveAlgorithm& algorithm, CollectiveKind kind, Position ranks,
                                 Bytes size, std::uint32_t chunks);

}  // namespace astrolabe::system
