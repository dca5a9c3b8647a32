/// The traffic of a schedule, counted from the schedule alone: no time, no executor.
///
/// Every message is counted once at its sender and once at its receiver with the exact bytes of its blocks,
/// so Σ sent = Σ received = the bytes an executor must deliver. O(actions · ranks of a symmetric schedule),
/// and for uneven sizes O(blocks of all messages).
#pragma once

#include <cstdint>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/system/collectives/algorithm.hpp>
#include <astrolabe/system/schedule/schedule.hpp>

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

/// The same, stage by stage.
[[nodiscard]] std::vector<Traffic> traffic_by_stage(const CollectiveSchedule& schedule, Bytes size);

/// Chunk `chunk` of `chunks` of an uneven all_to_all: that part (executor.hpp: part_size) of every pair's
/// bytes. Messages without bytes are not sent, so they are not counted.
[[nodiscard]] Traffic traffic_of(const CollectiveSchedule& schedule, const PairSizes& sizes,
                                 std::uint32_t chunk = 0, std::uint32_t chunks = 1);

/// A whole collective of `size` bytes per rank cut in `chunks` chunks (executor.hpp), each with the variant
/// that the algorithm chooses. No traffic for zero bytes or one rank.
[[nodiscard]] Traffic traffic_of(const CollectiveAlgorithm& algorithm, CollectiveKind kind,
                                 const Shape& shape, Bytes size, std::uint32_t chunks);

/// A whole uneven all_to_all.
[[nodiscard]] Traffic traffic_of(const CollectiveAlgorithm& algorithm, const Shape& shape,
                                 const PairSizes& sizes, std::uint32_t chunks);

}  // namespace astrolabe::system
