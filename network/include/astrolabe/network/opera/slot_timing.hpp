/// When the packets of a slot leave and arrive: the arithmetic of bulk packets on a circuit.
///
/// All packets take σ = (payload + header) · 8 / rate on every link. A host's network card serves the u
/// circuits of its rack in turn, and h hosts share each, so a host sends on one circuit once per
///     turn = max(h, u) · σ,
/// and, in the time a circuit may be used by bulk traffic, ⌊slot / turn⌋ packets. Packet k (from 0) of a
/// grant of n falls due at the turn at or before k · slot / n, counted from the installation. One packet
/// leaves per turn: those of one host that fall due together follow each other. A packet arrives
///     3σ + propagation + 2 host latencies     later at a host of another rack,
///     2σ + 2 host latencies                   later at a host of its own rack:
/// every node stores it before it sends it on. What waits at a switch for packets of other hosts that come at
/// the same turn, less than h σ, is left out.
#pragma once

#include <algorithm>
#include <cstdint>

#include <astrolabe/core/units.hpp>
#include <astrolabe/network/opera/rotor_network.hpp>

namespace astrolabe::network::opera {

class SlotTiming {
public:
    explicit SlotTiming(const RotorNetwork& network)
        : slot_(network.schedule.bulk_slot()),
          packet_((network.bulk.payload + network.bulk.header) / network.rate),
          turn_(packet_ * std::max(network.hosts_per_rack, network.schedule.uplinks())),
          to_other_rack_(3 * packet_ + network.propagation + 2 * network.host_latency),
          to_own_rack_(2 * packet_ + 2 * network.host_latency) {}

    /// Time of a packet on a link.
    [[nodiscard]] Time packet() const { return packet_; }
    /// Packets a host may send on a circuit while it is installed.
    [[nodiscard]] std::uint32_t packets_per_slot() const {
        return static_cast<std::uint32_t>(std::min<std::int64_t>(slot_ / turn_, 0x7fffffff));
    }
    /// At which turn packet `k` of a grant of `n` falls due; k < n <= packets_per_slot().
    [[nodiscard]] std::uint32_t due(std::uint32_t k, std::uint32_t n) const {
        // k · slot / turn without its fraction, in parts that fit: k · turn <= slot.
        const std::int64_t turns = k * (slot_ / turn_) + (slot_ % turn_) * k / turn_;
        return static_cast<std::uint32_t>(turns / n);
    }
    [[nodiscard]] Time turns(std::uint32_t count) const { return turn_ * count; }
    [[nodiscard]] Time to_other_rack() const { return to_other_rack_; }
    [[nodiscard]] Time to_own_rack() const { return to_own_rack_; }
    /// From the installation to the last arrival, at most.
    [[nodiscard]] Time longest() const { return slot_ + std::max(to_other_rack_, to_own_rack_); }

private:
    Time slot_;
    Time packet_;
    Time turn_;
    Time to_other_rack_;
    Time to_own_rack_;
};

}  // namespace astrolabe::network::opera
