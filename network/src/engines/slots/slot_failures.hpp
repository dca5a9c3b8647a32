/// What failures in the course of a run change for the slot engine (rotor_network.hpp describes them).
///
/// Model. Packet k of a grant that is installed at b leaves its host in a transmission slot
/// (slot_timing.hpp) and comes out of the rotor
///     2σ + host latency + propagation     later.
/// Through a circuit that fails at t go those that come out before t. All others of the grant stay with their
/// sender, and count again from the start of the superslice in which hosts know of the failure: as if what
/// was sent in vain had come back. Intra-rack packets do not need the circuit. From that start on the
/// circuits that are installed, and the racks that they ever connect, are those of the new state.
///
/// Memory: 24 bytes for every grant with packets that are held.
#pragma once

#include "slot_timing.hpp"

#include <cstdint>
#include <vector>

#include <astrolabe/network/rotor/packet_counts.hpp>
#include <astrolabe/network/rotor/rotor_lb.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::network::rotor {

class SlotFailures {
public:
    /// Both outlive it.
    SlotFailures(const RotorNetwork& network, const SlotTiming& timing)
        : network_(network),
          timing_(timing) {}

    /// That hosts know of.
    [[nodiscard]] const RotorSchedule& schedule() const { return network_.schedule_of(state_); }

    /// At the start of `superslice`: what is known then. True if that is more than before; RotorLB has been
    /// notified, and what was held counts again.
    bool learn(std::uint64_t superslice, RotorLb& lb, PacketCounts& own, PacketCounts& relayed);

    /// When the circuit of `rack` under a matching fails, unless it has or does so after its slot from
    /// `start` on; Time::max() then.
    [[nodiscard]] Time failure(Rotor rotor, std::uint32_t matching, Rack rack, Time start) const;

    /// Of a grant of this rank installed at `start`, the packets that get through a circuit that fails at
    /// `failure`, the first ones; the others are held.
    [[nodiscard]] std::uint32_t packets_through(const Grant& grant, std::uint32_t rank, Time start,
                                                Time failure);

    [[nodiscard]] bool holds_any() const { return !held_.empty(); }

private:
    struct Held {
        std::uint32_t host;
        std::uint32_t destination;
        std::uint32_t packets;
        bool is_relayed;
        std::uint64_t until;  // superslice
    };

    const RotorNetwork& network_;
    const SlotTiming& timing_;
    std::size_t state_ = 0;
    std::vector<Held> held_;
};

}  // namespace astrolabe::network::rotor
