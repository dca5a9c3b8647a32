/// The queue of one logical dimension in one group: which stage each rank starts next where a rank may have a
/// limited number of stages of the dimension in flight (executor.hpp, "Dimensions").
///
/// A stage is *ready* on a rank once the rank has completed the earlier stages of its chunk.
///   - Agreed: all ranks start stages in one order. A rank that has followed it to its end and has a free
///   slot
///     extends it by the best stage that is ready on it.
///   - Independent: every rank starts the best stage that is ready on it.
/// A rank that has no actions in a stage passes its entry without a slot.
///
/// Example. One slot; the stage of chunk x becomes ready on rank 0 at 3 us and on rank 1 at 6 us, that of
/// chunk y on rank 0 at 5 us and on rank 1 at 2 us. Agreed: rank 1 extends the order by y at 2 us and starts
/// it; rank 0 has x ready at 3 us but follows the order, so it starts y at 5 us, and both start x when y is
/// complete. Independent: rank 1 starts y at 2 us and rank 0 starts x at 3 us. Neither stage can complete
/// without the other rank, whose slot is taken: the two wait for each other forever.
///
/// Complexity: a choice costs O(stages outside the order), an entry of the order O(ranks), all else O(1).
/// Memory: a time per rank for every stage that is ready on some rank and not started on all.
#pragma once

#include "agreed_order.hpp"
#include "compiled_schedule.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::system::detail {

inline constexpr Time kNever = Time::max();

using EntryIndex = std::uint32_t;

class StageQueue {
public:
    /// A stage of a chunk, and what its place in the order depends on.
    struct Claim {
        std::uint32_t run = 0;  // the chunk, in its owner's numbers
        std::uint32_t stage = 0;
        const CompiledSchedule* schedule = nullptr;
        CollectiveKind kind{};    // of the stage
        std::int64_t weight = 0;  // the smallest goes first
        bool is_highest = false;
        std::int64_t priority = 0;
        std::uint64_t sequence = 0;  // of the collective
        std::uint32_t number = 0;    // of the chunk in it
    };

    StageQueue(std::size_t ranks, const SystemOptions& options);

    /// Before the first rank is ready; valid until every rank has started the stage.
    [[nodiscard]] EntryIndex open(const Claim& claim);
    void make_ready(EntryIndex entry, Position position, Time now);
    /// The stage that the rank starts now, in a slot of its own; none where it has to wait.
    [[nodiscard]] std::optional<Claim> start_next(Position position);
    /// The rank has completed a stage and frees its slot.
    void leave(Position position) { --in_flight_[position]; }

    [[nodiscard]] std::uint32_t in_flight(Position position) const { return in_flight_[position]; }
    /// Stages that are ready on the rank and not started, for reports.
    [[nodiscard]] std::vector<Claim> waiting(Position position) const;

private:
    struct Entry {
        Claim claim;
        std::vector<Time> ready_at;  // by position; kNever before, and from the start on
        Position started = 0;
        bool is_ordered = false;
    };

    [[nodiscard]] EntryIndex next_agreed(Position position);
    [[nodiscard]] EntryIndex next_independent(Position position);
    [[nodiscard]] std::optional<std::size_t> best(Position position) const;  // into waiting_
    [[nodiscard]] bool is_ahead(const Entry& first, const Entry& second, Position position) const;
    [[nodiscard]] std::int64_t weight(const Claim& claim, Position position) const;
    void remember_kind(CollectiveKind kind, Position position);
    void place(std::size_t waiting);
    void remove_waiting(std::size_t waiting);

    std::uint32_t limit_;
    bool is_agreed_;
    bool alternates_;
    std::vector<Entry> entries_;
    std::vector<EntryIndex> free_entries_;
    std::vector<EntryIndex> waiting_;       // agreed: outside the order; else: not started by all
    std::vector<std::uint32_t> ready_;      // by position: how many of `waiting_`
    std::vector<std::uint32_t> in_flight_;  // by position
    std::vector<bool> gathers_next_;        // alternate: an all_gather is next; of all ranks, or by position
    AgreedOrder<EntryIndex> order_;
};

}  // namespace astrolabe::system::detail
