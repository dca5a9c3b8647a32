/// Cycles that repeat one another: found, and passed over in one step.
///
/// Model. What the slot engine does in a cycle follows from the packets that wait, from those between hops,
/// and from the turn of the remainders; which messages they are of changes nothing. RotorLB compares what
/// waits with numbers up to a threshold, the greater of a slot and what a host may relay for one destination,
/// so longer queues act like one another. As long as
///   - nothing is sent, and
///   - every queue of own packets stays at the threshold or above, or loses nothing,
/// a cycle that begins like an earlier one, in all but those long queues, goes on like it, and so does all
/// that follows. With remainders in turn a cycle begins like one P cycles before when what is relayed and on
/// its way is the same, packet by packet of a pair of hosts, and every remainder of r over m elements in
/// between has P r = 0 (mod m): then the turn P later does what this one did.
///
/// So once a cycle begins like an earlier one, cycles are in a *loop* until something is sent or a queue that
/// loses gets short, whatever messages end. In a loop every queue loses d packets a period. Where no message
/// that left its source is under way,
///     K = min over queues with d > 0 of ⌊(waiting - threshold) / d⌋ and ⌊(of its message - 1) / d⌋
/// periods of P cycles follow that need not be worked out, as no message ends in them: K d packets leave each
/// queue, links carry K times as many packets again, and what is on its way arrives K P cycles later. Nothing
/// is rounded: a run that works out every cycle comes to the same times and the same counts.
///
/// Loops are looked for from one state that is kept, replaced by a later one after 1, 2, 4, … cycles: found
/// when the first P cycles after the last such replacement have passed.
///
/// States are compared by digests of 64 bits, so two that differ pass for one another with probability 2^-64
/// a comparison.
///
/// Where remainders or offers are drawn at random no cycle repeats another, and none is passed over.
///
/// Complexity: O(queues) per cycle, O(links) where a state is kept or passed over. Memory: 32 bytes for every
/// queue, and twice what links carried.
///
/// Source for finding loops: Brent, An improved Monte Carlo factorization algorithm, BIT 20 (1980).
#pragma once

#include "relay_queues.hpp"
#include "slot_counters.hpp"
#include "slot_links.hpp"
#include "slot_messages.hpp"

#include <cstdint>
#include <optional>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/rotor/packet_counts.hpp>
#include <astrolabe/network/rotor/rotor_schedule.hpp>

namespace astrolabe::network::rotor {

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

    /// A cycle ends before `superslice`, where another begins; `turns` is after how many turns RotorLB would
    /// decide as in it. Passes over the cycles that follow and repeat what was, at most `limit` superslices;
    /// returns how many.
    [[nodiscard]] std::uint64_t pass(std::uint64_t superslice, std::optional<std::uint64_t> turns,
                                     std::uint64_t limit, const SlotState& state);

private:
    /// Own packets of a pair of hosts.
    struct Queue {
        std::uint32_t host = 0;
        std::uint32_t destination = 0;
        std::uint64_t packets = 0;  ///< that wait; in a loop, that leave in a period
        Time latest;                ///< arrival of what left
    };
    struct Snapshot {
        std::uint64_t ended = 0;  // cycles before it
        std::uint64_t sent = 0;   // messages
        std::size_t counts = 0;   // digest
        std::size_t relays = 0;   // digest
        std::vector<Queue> own;
        SlotLinks links;
        SlotCounters counters;
    };
    struct Loop {
        std::uint64_t period = 0;  // cycles
        std::uint64_t sent = 0;    // messages
        std::vector<Queue> losing;
        SlotLinks links_before;
        SlotLinks links_after;
        SlotCounters counters_before;
        SlotCounters counters_after;
    };

    [[nodiscard]] bool goes_on(const SlotState& state) const;
    void search(std::uint64_t superslice, std::uint64_t turns, const SlotState& state);
    [[nodiscard]] std::size_t digest(const SlotState& state) const;
    [[nodiscard]] Snapshot take(std::uint64_t superslice, std::size_t counts, const SlotState& state) const;
    [[nodiscard]] std::optional<Loop> loop_since_kept(Snapshot now) const;
    [[nodiscard]] std::uint64_t periods_ahead(std::uint64_t most, const SlotState& state) const;
    void apply(std::uint64_t times, const SlotState& state) const;

    std::uint32_t superslices_;
    Time cycle_;
    std::uint32_t hosts_;
    std::uint64_t threshold_;
    std::uint64_t next_end_ = 0;  // superslice; cycles in which nothing waits are not worked out
    std::uint64_t ended_ = 0;     // cycles
    std::optional<Snapshot> kept_;
    std::uint64_t replaced_after_ = 1;  // cycles
    std::uint64_t turns_ = 1;           // since kept_ was taken
    std::optional<Loop> loop_;
};

}  // namespace astrolabe::network::rotor
