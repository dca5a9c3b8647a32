/// The transmission slot in which a packet of a grant leaves (slot_timing.hpp), looked up where slots are
/// short.
///
/// Memory: 4 bytes for every packet of every grant that a host may have, k < n <= packets_per_slot(), up to
/// 512 KiB; what is used of it are grants of few sizes. Slots of more packets have no table, and divide.
#pragma once

#include "slot_timing.hpp"

#include <cstdint>
#include <vector>

namespace astrolabe::network::rotor {

class TransmissionSlotTable {
public:
    /// `timing` outlives it.
    explicit TransmissionSlotTable(const SlotTiming& timing)
        : timing_(timing),
          largest_(timing.packets_per_slot() <= kLargest ? timing.packets_per_slot() : 0) {
        slots_.reserve(first_of(largest_ + 1));
        for (std::uint32_t n = 1; n <= largest_; ++n) {
            for (std::uint32_t k = 0; k < n; ++k) {
                slots_.push_back(timing.transmission_slot_of(k, n));
            }
        }
    }

    /// Of packet `k` of a grant of `n` of rank 0; k < n <= packets_per_slot().
    [[nodiscard]] std::uint32_t transmission_slot_of(std::uint32_t k, std::uint32_t n) const {
        return n <= largest_ ? slots_[first_of(n) + k] : timing_.transmission_slot_of(k, n);
    }

private:
    static constexpr std::uint32_t kLargest = 511;

    /// Of a grant of `n`, in slots_.
    [[nodiscard]] static std::size_t first_of(std::uint32_t n) { return std::size_t{n} * (n - 1) / 2; }

    const SlotTiming& timing_;
    std::uint32_t largest_;             // grant in the table
    std::vector<std::uint32_t> slots_;  // by grant, packet
};

}  // namespace astrolabe::network::rotor
