// What every rank of a ring does, one way round, for the algorithms that are made of rings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <astrolabe/system/schedule.hpp>

namespace astrolabe::system::detail {

enum class RingDirection : std::uint8_t {
    kClockwise,         // i sends to i+1
    kCounterClockwise,  // i sends to i-1
};

/// Under the rotation, with as many blocks as `kind` has: one program serves all ranks.
[[nodiscard]] ScheduleBuilder ring_builder(CollectiveKind kind, Position ranks);

/// Appends steps to the one program of a ring: each sends one block ahead and receives one from behind, and
/// waits for what the step before received. Two writers of opposite directions may share a builder; neither
/// waits for the other.
class RingWriter {
public:
    RingWriter(ScheduleBuilder& builder, Position ranks, RingDirection direction);

    void reduce_scatter();
    void all_gather();
    /// all_to_all: every rank's block for the rank `distance` ahead gets there, hop by hop.
    void deliver(Position distance);

private:
    /// Relative position `steps` ahead or behind in the writer's direction.
    [[nodiscard]] Position ahead(Position steps) const;
    [[nodiscard]] Position behind(Position steps) const;
    void step(BlockReference sent, BlockReference received, bool reduce);

    ScheduleBuilder& builder_;
    Position ranks_;
    RingDirection direction_;
    std::vector<ActionIndex> last_receive_;  // none before the first step
};

/// reduce_scatter, all_gather, or all_reduce: the two in a row.
[[nodiscard]] CollectiveSchedule one_way_ring(CollectiveKind kind, Position ranks, RingDirection direction);

/// Why the ring algorithm `name` cannot do `kind` over `ranks` ranks: it has no root, and forwarding an
/// all_to_all takes up to N(N-1) actions, where the executor numbers 2^24.
[[nodiscard]] std::optional<std::string> ring_refusal(const std::string& name, CollectiveKind kind,
                                                      Position ranks);

}  // namespace astrolabe::system::detail
