/// How many packets of a first hop are at the host that relays them, superslice by superslice.
///
/// Of a grant of n packets and rank r (slot_timing.hpp) it is the packets that leave in the last transmission
/// slot from which one arrives in time, or before. A slot is shared out alike again and again, so the counts
/// of recent grants are cached: n and r choose a place, which holds the most recent grant that chose it.
///
/// Complexity: O(1) for a grant that is found, a division for every superslice otherwise. Memory: 4 bytes for
/// each superslice of the horizon, 1,024 times.
#pragma once

#include "slot_timing.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace astrolabe::network::rotor {

class RelayCounts {
public:
    /// `timing` outlives it. Every packet is there `horizon` superslices after its grant or before.
    RelayCounts(const SlotTiming& timing, Time superslice, std::uint64_t horizon)
        : timing_(timing),
          keys_(kPlaces, kNobody) {
        for (std::uint64_t later = 0; later <= horizon; ++later) {
            last_transmission_slots_.push_back(timing.last_transmission_slot_for(superslice * later));
        }
        counts_.resize(kPlaces * last_transmission_slots_.size());
    }

    /// Of a grant of `packets` > 0, by superslices after its own. Valid until the next call.
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t packets, std::uint32_t rank) {
        const std::uint64_t key = std::uint64_t{packets} << 32 | rank;
        const std::size_t place = (packets * kRanks + rank) % kPlaces;
        std::uint32_t* const counts = &counts_[place * last_transmission_slots_.size()];
        if (keys_[place] != key) {
            keys_[place] = key;
            for (std::size_t later = 0; later < last_transmission_slots_.size(); ++later) {
                counts[later] = timing_.packets_by(last_transmission_slots_[later] - rank, packets);
            }
        }
        return {counts, last_transmission_slots_.size()};
    }

private:
    static constexpr std::size_t kPlaces = 1024;
    /// Of ranks below it, no two grants of up to 26 packets share a place.
    static constexpr std::uint32_t kRanks = 37;
    static constexpr std::uint64_t kNobody = 0;  // no grant is of 0 packets

    const SlotTiming& timing_;
    std::vector<std::int64_t> last_transmission_slots_;  // by superslices
    std::vector<std::uint64_t> keys_;                    // by place
    std::vector<std::uint32_t> counts_;                  // by place, then by superslices
};

}  // namespace astrolabe::network::rotor
