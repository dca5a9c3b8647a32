/// When the packets of a slot leave and arrive: the arithmetic of bulk packets on a circuit.
///
/// A packet takes σ = (payload + header) · 8 / R on the link of a host, of rate R, and σ' on a circuit, of
/// rate R'. A host's network card transmits on the u circuits of its rack round-robin, and h hosts share
/// each, so a host sends on one circuit once in every *transmission slot* of
///     τ = max(u, ⌈h R / R'⌉) · σ,        max(h, u) · σ where all links have one rate,
/// and ⌊slot / τ⌋ packets in the time in which bulk traffic may use a circuit. What a host may send on a
/// circuit is several grants; with r the rank of one among them, the largest first, its packet k (from 0) of
/// n leaves in transmission slot
///     ⌊k · slot / (n · τ)⌋ + r    from the installation,
/// evenly over the slot, and beside the first packets of the others. At least r + 1 grants have n packets or
/// more, so (r + 1) n transmission slots fit into the slot, and the last packet leaves within it. That two
/// grants may use one transmission slot later is left out. A packet arrives
///     2σ + σ' + propagation + 2 host latencies     later at a host of another rack,
///     2σ + 2 host latencies                   later at a host of the same rack:
/// every node stores it before it sends it on. What waits at a switch for packets of other hosts that come in
/// the same transmission slot, less than h σ, is left out.
///
/// Example: with a slot of 12 τ, a grant of 4 packets and one of 3. The larger has rank 0 and leaves in
/// transmission slots 0, 3, 6 and 9; the other has rank 1 and leaves in ⌊12k/3⌋ + 1 = 1, 5 and 9.
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
          packet_(network.packet_of_host()),
          transmission_slot_(packet_ * network.parts_of_host()),
          transmission_slots_(slot_ / transmission_slot_),
          fraction_((slot_ % transmission_slot_).count()),
          to_other_rack_(2 * packet_ + network.packet_between_racks() + network.propagation +
                         2 * network.host_latency),
          to_intra_rack_(2 * packet_ + 2 * network.host_latency),
          to_circuit_(packet_ + network.host_latency) {}

    [[nodiscard]] Time slot() const { return slot_; }

    /// Time of a packet on the link of a host.
    [[nodiscard]] Time packet() const { return packet_; }
    /// So many transmission slots can be counted in 32 bits, and multiplied in 64; a slot with as many is
    /// refused.
    static constexpr std::uint32_t kMaxPackets = 0x7fffffff;
    /// Packets a host may send on a circuit while it is installed, no more than that.
    [[nodiscard]] std::uint32_t packets_per_slot() const {
        return static_cast<std::uint32_t>(std::min<std::int64_t>(transmission_slots_, kMaxPackets));
    }
    /// The transmission slot of packet `k` of a grant of `n` of rank 0; k < n <= packets_per_slot().
    [[nodiscard]] std::uint32_t transmission_slot_of(std::uint32_t k, std::uint32_t n) const {
        // k · slot / τ without its fraction, in parts that fit: k · τ <= slot.
        const std::int64_t passed = k * transmission_slots_ + fraction_ * k / transmission_slot_.count();
        return static_cast<std::uint32_t>(passed / n);
    }
    /// Of a grant of `n` of rank 0, how many packets leave in transmission slot `last` or before.
    [[nodiscard]] std::uint32_t packets_by(std::int64_t last, std::uint32_t n) const {
        if (last < 0) {
            return 0;
        }
        if (last >= transmission_slots_) {
            return n;
        }
        // k · slot < (last + 1) · n · τ, where (last + 1) · τ <= slot
        const auto limit =
            static_cast<astrolabe::detail::Int128>((last + 1) * transmission_slot_.count()) * n - 1;
        const auto most = static_cast<std::int64_t>(limit / slot_.count());
        return static_cast<std::uint32_t>(std::min<std::int64_t>(n, most + 1));
    }
    [[nodiscard]] Time transmission_slots(std::uint32_t count) const { return transmission_slot_ * count; }
    /// The last transmission slot from which a packet is in another rack `after` the installation; negative:
    /// none.
    [[nodiscard]] std::int64_t last_transmission_slot_for(Time after) const {
        return after < to_other_rack_ ? -1 : (after - to_other_rack_) / transmission_slot_;
    }
    [[nodiscard]] Time to_other_rack() const { return to_other_rack_; }
    [[nodiscard]] Time to_intra_rack() const { return to_intra_rack_; }
    /// From when a packet leaves its host to when it starts on the circuit, and from when it starts on the
    /// link down to its host to when it is there.
    [[nodiscard]] Time to_circuit() const { return to_circuit_; }
    [[nodiscard]] Time from_last_link() const { return to_circuit_; }
    /// From the installation to the last arrival, at most.
    [[nodiscard]] Time longest() const { return slot_ + std::max(to_other_rack_, to_intra_rack_); }

private:
    Time slot_;
    Time packet_;
    Time transmission_slot_;           // τ
    std::int64_t transmission_slots_;  // of a slot
    std::int64_t fraction_;            // of a transmission slot, ps
    Time to_other_rack_;
    Time to_intra_rack_;
    Time to_circuit_;  // as from_last_link
};

}  // namespace astrolabe::network::rotor
