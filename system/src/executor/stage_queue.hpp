/// The queue of one logical dimension in one group: which chunk's stage each rank starts next, where a rank
/// may have a limited number of stages of the dimension under way (executor.hpp, "Dimensions").
///
/// A stage is *ready* on a rank once the rank has done the stages of its chunk before it. Agreed: a rank that
/// has followed the queue's order to its end and has room extends it by the best stage ready on it; all ranks
/// start stages in that order. Independent: every rank starts the best stage ready on it.
///
/// A rank that has nothing to do in a stage takes its turn without room.
///
/// Complexity: a choice costs O(stages without a place in the order), a place in the order O(ranks), all else
/// O(1). Memory: a time per rank for every stage that some rank is ready for and some rank has not started.
#pragma once

#include "agreed_order.hpp"
#include "compiled_schedule.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system::detail {

inline constexpr Time kNever = Time::max();

using TurnIndex = std::uint32_t;

class StageQueue {
public:
    /// A stage of a chunk, and what decides when its turn comes.
    struct Claim {
        std::uint32_t run = 0;  // the chunk, as its owner knows it
        std::uint32_t stage = 0;
        const CompiledSchedule* schedule = nullptr;
        CollectiveKind kind{};    // of the stage
        std::int64_t weight = 0;  // the least goes first
        bool is_highest = false;
        std::int64_t priority = 0;
        std::uint64_t sequence = 0;  // of the collective
        std::uint32_t number = 0;    // of the chunk in it
    };

    StageQueue(std::size_t ranks, const SystemOptions& options);

    /// Before the first rank is ready; valid until every rank has started the stage.
    [[nodiscard]] TurnIndex open(const Claim& claim);
    void make_ready(TurnIndex turn, Position position, Time now);
    /// What the rank starts now, with a slot of its own; nothing where it has to wait.
    [[nodiscard]] std::optional<Claim> start_next(Position position);
    /// The rank has done a stage and gives back its slot.
    void leave(Position position) { --under_way_[position]; }

    [[nodiscard]] std::uint32_t under_way(Position position) const { return under_way_[position]; }
    /// Stages that are ready on the rank and not started, for reports.
    [[nodiscard]] std::vector<Claim> waiting(Position position) const;

private:
    struct Turn {
        Claim claim;
        std::vector<Time> ready_at;  // by position; kNever before, and from the start on
        Position started = 0;
        bool is_ordered = false;
    };

    [[nodiscard]] TurnIndex next_agreed(Position position);
    [[nodiscard]] TurnIndex next_independent(Position position);
    [[nodiscard]] std::optional<std::size_t> best(Position position) const;  // into waiting_
    [[nodiscard]] bool is_ahead(const Turn& first, const Turn& second, Position position) const;
    [[nodiscard]] std::int64_t weight(const Claim& claim, Position position) const;
    void remember_kind(CollectiveKind kind, Position position);
    void place(std::size_t waiting);
    void remove_waiting(std::size_t waiting);

    std::uint32_t limit_;
    bool is_agreed_;
    bool alternates_;
    std::vector<Turn> turns_;
    std::vector<TurnIndex> free_turns_;
    std::vector<TurnIndex> waiting_;        // agreed: without a place in the order; else: not started by all
    std::vector<std::uint32_t> ready_;      // by position: how many of `waiting_`
    std::vector<std::uint32_t> under_way_;  // by position
    std::vector<bool> gathers_next_;        // alternate: an all_gather is due; of all ranks, or by position
    AgreedOrder<TurnIndex> order_;
};

}  // namespace astrolabe::system::detail
