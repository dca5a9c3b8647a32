/// Cycles that repeat an earlier one: found, and fast-forwarded in one step.
///
/// Why cycles repeat. What the slot engine does in a cycle follows from the packets that wait, from those
/// between hops, and from the round-robin index of remainders (fair_share.hpp); which messages they belong to
/// changes nothing. RotorLB compares what waits with numbers up to a threshold, the larger of a slot and what
/// a host may relay for one destination, so all queues above it are treated alike. As long as
///   - nothing is sent, and
///   - every queue of own packets stays at the threshold or above, or loses nothing,
/// a cycle that starts in the state of an earlier one, but for the lengths of those long queues, continues
/// like it, and so do all that follow. With round-robin remainders a cycle starts in the state of P cycles
/// before when what is relayed and in flight is the same, packet by packet of a pair of hosts, and every
/// remainder of r over m elements in between has P r = 0 (mod m): then index + P gives what index gave.
///
/// Fast-forward. Once such a cycle is found, cycles are in a *loop* until something is sent or a queue that
/// loses packets gets short, whatever messages end. In a loop every queue loses d packets in each period.
/// Where no message in flight has left its source,
///     K = min over queues with d > 0 of ⌊(waiting - threshold) / d⌋ and ⌊(of its message - 1) / d⌋
/// periods of P cycles follow that need not be simulated, as no message ends in them: K d packets leave each
/// queue, links carry K times as many packets again, and what is in flight arrives K P cycles later. Nothing
/// is rounded: a run that simulates every cycle has the same times and the same counts.
///
/// Example: 1,000 packets of one message of one pair of hosts wait, of which 8 leave in each cycle; the
/// threshold is 24. After two cycles 984 wait, and the state is that of a cycle before but for the long
/// queue: P = 1, d = 8. K = min(⌊(984 - 24) / 8⌋, ⌊(984 - 1) / 8⌋) = min(120, 122), so 120 cycles are
/// skipped, and the last 24 packets are simulated.
///
/// Search. One state is stored, and replaced by a later one after 1, 2, 4, … cycles; a loop is found when the
/// first P cycles after the last such replacement have been simulated.
///
/// States are compared by digests of 64 bits: two that differ are taken for equal with probability 2^-64 in
/// each comparison.
///
/// Where remainders or offers are drawn at random no cycle repeats another, and none is skipped.
///
/// Complexity: O(queues) per cycle, O(links) where a state is stored or a loop is fast-forwarded. Memory: 32
/// bytes for every queue, and twice what links carried.
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

    /// A cycle ends before `superslice`, where another starts; RotorLB decides the same again after `indices`
    /// steps of its round-robin index, if ever. Fast-forwards the cycles that repeat earlier ones, at most
    /// `limit` superslices; returns how many.
    [[nodiscard]] std::uint64_t fast_forward(std::uint64_t superslice, std::optional<std::uint64_t> indices,
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
    void search(std::uint64_t superslice, std::uint64_t indices, const SlotState& state);
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
    std::uint64_t indices_ = 1;         // since kept_ was taken
    std::optional<Loop> loop_;
};

}  // namespace astrolabe::network::rotor
