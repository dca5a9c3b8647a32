/// When the packets of a slot leave and arrive: the arithmetic of bulk packets on a circuit.
///
/// All packets take σ = (payload + header) · 8 / rate on every link. A host's network card serves the u
/// circuits of its rack in turn, and h hosts share each, so a host sends on one circuit once per
///     turn = max(h, u) · σ,
/// and, in the time a circuit may be used by bulk traffic, ⌊slot / turn⌋ packets. What a host may send on a
/// circuit are several grants; with r the rank of one among them, the largest first, its packet k (from 0)
/// of n leaves at turn
///     ⌊k · slot / (n · turn)⌋ + r    from the installation,
/// evenly over the slot, and beside the first packets of the others. At least r + 1 grants have n packets or
/// more, so (r + 1) n turns fit into the slot, and the last packet leaves within it. That two grants may use
/// one turn later is left out. A packet arrives
///     3σ + propagation + 2 host latencies     later at a host of another rack,
///     2σ + 2 host latencies                   later at a host of its own rack:
/// every node stores it before it sends it on. What waits at a switch for packets of other hosts that come at
/// the same turn, less than h σ, is left out.
#pragma once

#include <algorithm>
#include <cstdint>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/rotor/rotor_network.hpp>

namespace astrolabe::network::rotor {

class SlotTiming {
public:
    explicit SlotTiming(const RotorNetwork& network)
        : slot_(network.schedule.bulk_slot()),
          packet_((network.bulk.payload + network.bulk.header) / network.rate),
          turn_(packet_ * std::max(network.hosts_per_rack, network.schedule.uplinks())),
          whole_turns_(slot_ / turn_),
          fraction_((slot_ % turn_).count()),
          to_other_rack_(3 * packet_ + network.propagation + 2 * network.host_latency),
          to_intra_rack_(2 * packet_ + 2 * network.host_latency) {}

    /// Time of a packet on a link.
    [[nodiscard]] Time packet() const { return packet_; }
    /// Of which turns can be counted in 32 bits, and multiplied in 64; a slot with as many is refused.
    static constexpr std::uint32_t kMostPackets = 0x7fffffff;
    /// Packets a host may send on a circuit while it is installed, no more than that.
    [[nodiscard]] std::uint32_t packets_per_slot() const {
        return static_cast<std::uint32_t>(std::min<std::int64_t>(whole_turns_, kMostPackets));
    }
    /// The turn of packet `k` of a grant of `n` of rank 0; k < n <= packets_per_slot().
    [[nodiscard]] std::uint32_t turn_of(std::uint32_t k, std::uint32_t n) const {
        // k · slot / turn without its fraction, in parts that fit: k · turn <= slot.
        const std::int64_t turns = k * whole_turns_ + fraction_ * k / turn_.count();
        return static_cast<std::uint32_t>(turns / n);
    }
    /// Of a grant of `n` of rank 0, how many packets leave at turn `last` or before.
    [[nodiscard]] std::uint32_t packets_by(std::int64_t last, std::uint32_t n) const {
        if (last < 0) {
            return 0;
        }
        if (last >= whole_turns_) {
            return n;
        }
        // k · slot < (last + 1) · n · turn, where (last + 1) · turn <= slot
        const auto limit = static_cast<astrolabe::detail::Int128>((last + 1) * turn_.count()) * n - 1;
        const auto most = static_cast<std::int64_t>(limit / slot_.count());
        return static_cast<std::uint32_t>(std::min<std::int64_t>(n, most + 1));
    }
    [[nodiscard]] Time turns(std::uint32_t count) const { return turn_ * count; }
    /// The last turn from which a packet is in another rack `after` the installation; negative: none.
    [[nodiscard]] std::int64_t last_turn_for(Time after) const {
        return after < to_other_rack_ ? -1 : (after - to_other_rack_) / turn_;
    }
    [[nodiscard]] Time to_other_rack() const { return to_other_rack_; }
    [[nodiscard]] Time to_intra_rack() const { return to_intra_rack_; }
    /// From the installation to the last arrival, at most.
    [[nodiscard]] Time longest() const { return slot_ + std::max(to_other_rack_, to_intra_rack_); }

private:
    Time slot_;
    Time packet_;
    Time turn_;
    std::int64_t whole_turns_;  // of a slot
    std::int64_t fraction_;     // of a turn, ps
    Time to_other_rack_;
    Time to_intra_rack_;
};

}  // namespace astrolabe::network::rotor
