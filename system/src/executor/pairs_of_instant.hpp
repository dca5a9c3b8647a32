/// The pairs of hosts between which something was sent at one instant, each with a number.
///
/// Of all pairs of a run few send at one instant, so a table of these stays in the cache where one of all
/// pairs would not: an open-addressing hash table, at most half full, which is emptied entry by entry when
/// the instant is over. A table that became large for one instant becomes small after the next.
///
/// Complexity: amortised O(1); at most 104 bytes for each pair of the instant that has the most of
/// them, of which 32 only while the table grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <astrolabe/network/ids.hpp>

namespace astrolabe::system::detail {

class PairsOfInstant {
public:
    PairsOfInstant()
        : slots_(kLeast) {}

    /// The instant is over: there are no pairs.
    void clear() {
        if (slots_.size() > kLeast && slots_.size() / 16 > used_.size()) {
            *this = PairsOfInstant();
            return;
        }
        for (const std::uint32_t slot : used_) {
            slots_[slot].number = kNone;
        }
        used_.clear();
    }

    /// Replaces the number of a pair and returns the one before, which is `number` if there was none.
    /// Precondition: `number` is not the largest that there is.
    std::uint64_t replace(network::HostId source, network::HostId destination, std::uint64_t number) {
        const std::uint64_t key = (std::uint64_t{source.index()} << 32) | destination.index();
        std::uint32_t slot = slot_of(key);
        if (slots_[slot].number != kNone) {
            return std::exchange(slots_[slot].number, number);
        }
        if (2 * (used_.size() + 1) > slots_.size()) {
            grow();
            slot = slot_of(key);
        }
        slots_[slot] = {key, number};
        used_.push_back(slot);
        return number;
    }

private:
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};
    static constexpr std::size_t kLeast = 64;

    struct Slot {
        std::uint64_t key = 0;
        std::uint64_t number = kNone;
    };

    /// Where the key is, or the free slot where it belongs. Fibonacci hashing: the upper bits of a product.
    [[nodiscard]] std::uint32_t slot_of(std::uint64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = (key * 0x9e3779b97f4a7c15U) >> 32 & mask;
        while (slots_[slot].number != kNone && slots_[slot].key != key) {
            slot = (slot + 1) & mask;
        }
        return static_cast<std::uint32_t>(slot);
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (std::uint32_t& used : used_) {
            const Slot& slot = old[used];
            used = slot_of(slot.key);
            slots_[used] = slot;
        }
    }

    std::vector<Slot> slots_;  // a power of two
    std::vector<std::uint32_t> used_;
};

}  // namespace astrolabe::system::detail
