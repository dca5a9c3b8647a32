/// Cycles that repeat one another: found, and passed over in one step.
///
/// Model. What the slot engine does in a cycle follows from the packets that wait, from those between hops,
/// and from the turn of the remainders. RotorLB compares what waits with numbers up to a threshold, the
/// greater of a slot and what a host may relay for one destination, so longer queues act like one another. As
/// long as
///   - nothing is sent, no message ends at its source, none is about to be delivered, and no timer goes off,
///   - every queue of own packets stays at the threshold or above, or loses nothing,
/// a cycle that begins like an earlier one, in all but those long queues, goes on like it, and so does all
/// that follows. With remainders in turn a cycle begins like one P cycles before when what is relayed and on
/// its way is the same, packet by packet, and every remainder of r over m elements began at the same one:
/// then P · r = 0 (mod m), and the turn P later does what this one did.
///
/// So: when the last P cycles granted the same as the P before them, state is kept; if P cycles later it is
/// the same and no message came or went, every queue has lost d packets in between, and
///     K = min over queues with d > 0 of ⌊(waiting - threshold) / d⌋ and ⌊(of its message - 1) / d⌋
/// periods of P cycles follow that need not be worked out: K d packets leave each queue, links carry K times
/// as much again, and what is on its way arrives K P cycles later. Nothing is rounded: a run that works out
/// every cycle comes to the same times and the same counts.
///
/// Where remainders or offers are drawn at random no cycle repeats another, and none is passed over.
///
/// Complexity: O(grants) to compare cycles, O(pairs + links) twice to pass over any number of them; an
/// attempt that fails doubles the cycles until the next. Memory: twice the levels of pairs, and what links
/// carried.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/opera/packet_counts.hpp>
#include <astrolabe/network/opera/relay_queues.hpp>
#include <astrolabe/network/opera/rotor_lb.hpp>
#include <astrolabe/network/opera/rotor_schedule.hpp>
#include <astrolabe/network/opera/slot_counters.hpp>
#include <astrolabe/network/opera/slot_links.hpp>
#include <astrolabe/network/opera/slot_messages.hpp>

namespace astrolabe::network::opera {

/// What a cycle changes, of an engine.
struct SlotState {
    PacketCounts& own;
    PacketCounts& relayed;
    SlotMessages& messages;
    RelayQueues& relays;
    SlotLinks& links;
    SlotCounters& counters;
};

class SlotRepetition {
public:
    /// `hosts`: of the network. `slot`: packets a host may send on a circuit.
    SlotRepetition(const RotorSchedule& schedule, std::uint32_t hosts, std::uint32_t hosts_per_rack,
                   std::uint32_t slot);

    /// What was granted in the cycle that is open.
    void note(std::span<const Grant> grants);
    /// A cycle ends before `superslice`, where another begins; `turns` is what RotorLB depended on in it.
    /// Passes over the cycles that follow and repeat what was, at most `limit` superslices; returns how many.
    [[nodiscard]] std::uint64_t pass(std::uint64_t superslice, std::optional<std::size_t> turns,
                                     std::uint64_t limit, const SlotState& state);

private:
    /// Packets for a destination; or a host, and how many destinations follow.
    struct Level {
        std::uint32_t destination = 0;
        std::uint64_t packets = 0;

        friend bool operator==(const Level&, const Level&) = default;
    };
    struct Snapshot {
        std::uint64_t ended = 0;    // cycles before it
        std::size_t period = 0;     // cycles
        std::uint64_t changes = 0;  // of messages
        std::vector<Level> own;
        std::vector<Level> relayed;
        std::size_t relays = 0;
        std::vector<SlotMessages::Leaving> leaving;
        SlotLinks links;
        SlotCounters counters;
    };

    [[nodiscard]] bool repeats(std::size_t period) const;
    [[nodiscard]] std::optional<std::size_t> shortest_period() const;
    [[nodiscard]] std::vector<Level> levels(const PacketCounts& counts) const;
    [[nodiscard]] Snapshot take(std::uint64_t superslice, std::size_t period, const SlotState& state) const;
    /// Periods that can be passed over after `now`, at most `most`.
    [[nodiscard]] std::uint64_t periods_ahead(const Snapshot& now, std::uint64_t most) const;
    void apply(const Snapshot& now, std::uint64_t times, const SlotState& state) const;
    [[nodiscard]] Time length(std::size_t period) const { return cycle_ * static_cast<std::int64_t>(period); }

    std::uint32_t superslices_;
    Time cycle_;
    std::uint32_t hosts_;
    std::uint64_t threshold_;
    std::size_t open_ = 0;             // digest of the cycle so far
    std::vector<std::size_t> cycles_;  // digests of the latest
    std::uint64_t next_end_ = 0;       // superslice; cycles in which nothing waits are not worked out
    std::uint64_t ended_ = 0;          // cycles
    std::uint64_t next_try_ = 0;       // not before so many ended
    std::uint64_t wait_ = 0;           // after an attempt that failed; cycles
    std::optional<Snapshot> before_;
};

}  // namespace astrolabe::network::opera
