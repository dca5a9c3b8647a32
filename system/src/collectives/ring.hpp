// What every rank of a ring does, for the algorithms that are made of rings.
//
// A ring of stride p goes from rank i to i+p (mod N). It visits all ranks if and only if p and N have no
// common divisor: p = 1 is the ring in the order of the group, p = N-1 the same ring the other way round.
#pragma once

#include "simple_algorithm.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace astrolabe::system {

/// The ring in the order of the group (stride 1), which is the default of hierarchical's dimensions.
[[nodiscard]] AlgorithmPointer make_ring();

namespace detail {

/// The stride of the ring that goes the other way round.
[[nodiscard]] constexpr Position backward(Position ranks, Position stride) {
    return ranks - stride;
}

/// How the ranks of a ring keep together.
enum class RingSteps : std::uint8_t {
    kFree,    ///< a step waits for what the one before brought to the same rank
    kStages,  ///< each step is a stage (schedule.hpp), so that barriers can separate them
};

/// Under the rotation, with as many blocks as `kind` has: one program serves all ranks.
[[nodiscard]] ScheduleBuilder ring_builder(CollectiveKind kind, Position ranks,
                                           std::vector<Stage> stages = {});

/// Appends steps to the one program of a ring: each sends one block ahead and receives one from behind, and
/// waits for what the step before received. Two writers of different rings may share a builder; neither waits
/// for the other.
class RingWriter {
public:
    RingWriter(ScheduleBuilder& builder, Position ranks, Position stride, RingSteps steps = RingSteps::kFree);

    void reduce_scatter();
    void all_gather();
    /// all_to_all: every rank's block for the rank `distance` hops ahead gets there, hop by hop.
    void deliver(Position distance);

private:
    /// Relative position `steps` <= N hops ahead or behind.
    [[nodiscard]] Position ahead(Position steps) const;
    [[nodiscard]] Position behind(Position steps) const;
    void step(BlockReference sent, BlockReference received, bool reduce);

    ScheduleBuilder& builder_;
    Position ranks_;
    Position stride_;
    RingSteps steps_;
    std::size_t next_stage_ = 0;
    std::vector<ActionIndex> last_receive_;  // none before the first step
};

/// Any kind but point_to_point on the ring of one stride. A broadcast is a pipelined chain from the root
/// all the way round, a reduce the chain back. Steps may be stages where `stages_unsupported` has no
/// objection.
[[nodiscard]] CollectiveSchedule ring_schedule(CollectiveKind kind, Position ranks, Position stride,
                                               RingSteps steps = RingSteps::kFree);

/// Why the ring algorithm `name` cannot do `kind` over `ranks` ranks: a ring has no single pair; forwarding
/// an all_to_all takes up to N(N-1) actions, and a chain 2N(N-1) over all ranks, where the executor numbers
/// 2^24.
[[nodiscard]] std::optional<std::string> ring_unsupported(const std::string& name, CollectiveKind kind,
                                                          Position ranks);

/// Why the ring algorithm `name` cannot have barriers between its steps: in an all_to_all and a chain ranks
/// have unequal numbers of them, and a schedule has at most 2^16 stages.
[[nodiscard]] std::optional<std::string> stages_unsupported(const std::string& name, CollectiveKind kind,
                                                            Position ranks);

}  // namespace detail

}  // namespace astrolabe::system
