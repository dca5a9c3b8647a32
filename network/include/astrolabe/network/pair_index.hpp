/// Number of an ordered pair of hosts: an open-addressing hash table, at most half full, that only grows.
/// 32 bytes per pair at most; look-ups touch one cache line on average.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <astrolabe/network/ids.hpp>

namespace astrolabe::network {

class PairIndex {
public:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    PairIndex()
        : slots_(64) {}

    /// kNone if the pair has no number yet.
    [[nodiscard]] std::uint32_t find(HostId source, HostId destination) const {
        return slots_[slot_of(key(source, destination))].number;
    }

    /// Precondition: the pair has no number yet.
    void insert(HostId source, HostId destination, std::uint32_t number) {
        if (2 * (count_ + 1) > slots_.size()) {
            std::vector<Slot> old(2 * slots_.size());
            old.swap(slots_);
            --shift_;
            for (const Slot& slot : old) {
                if (slot.number != kNone) {
                    slots_[slot_of(slot.key)] = slot;
                }
            }
        }
        const std::uint64_t pair = key(source, destination);
        slots_[slot_of(pair)] = {pair, number};
        ++count_;
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t number = kNone;
    };

    static std::uint64_t key(HostId source, HostId destination) {
        return (std::uint64_t{source.index()} << 32) | destination.index();
    }

    /// Where the key is, or the free slot where it belongs. Fibonacci hashing: the upper bits of a product.
    [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
        std::size_t slot = (key * 0x9e3779b97f4a7c15U) >> shift_;
        while (slots_[slot].number != kNone && slots_[slot].key != key) {
            slot = (slot + 1) & (slots_.size() - 1);
        }
        return slot;
    }

    std::vector<Slot> slots_;  // a power of two, 2^(64 - shift_)
    int shift_ = 58;
    std::size_t count_ = 0;
};

}  // namespace astrolabe::network
