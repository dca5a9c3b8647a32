/// What the flows that one link limits weigh together on every other link of their routes.
///
/// A change of the link's level changes what its flows take of each of those links at once: on routes of
/// eight links between 256 hosts 9 times fewer than they have legs.
///
/// A table with open addressing, which is its own list; links that no flow is on any more keep their place
/// until it grows. Complexity: O(1) to add or to take away, O(links) to go through. Memory: 32 to 64 bytes a
/// link.
#pragma once

#include "exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace astrolabe::network {

class OwnLoads {
public:
    void add(std::uint32_t link, double load) {
        if (4 * (used_ + 1) > 3 * items_.size()) {
            grow();
        }
        Item& item = place_of(link);
        used_ += item.link == kNone ? 1 : 0;
        item.link = link;
        ++item.flows;
        item.load.add(load);
    }
    /// What was added.
    void take(std::uint32_t link, double load) {
        Item& item = place_of(link);
        item.load.add(-load);
        if (--item.flows == 0) {
            item.load = {};
        }
    }
    /// Calls visit(link, load) for those with a flow.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Item& item : items_) {
            if (item.flows > 0) {
                visit(item.link, item.load);
            }
        }
    }
    /// Links with a flow, and some without.
    [[nodiscard]] std::size_t size() const { return used_; }
    [[nodiscard]] bool empty() const { return items_.empty(); }
    void clear() { *this = {}; }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr std::size_t kLeast = 16;
    static constexpr std::uint32_t kGoldenRatio =
        0x9e3779b9U;  ///< of 2^32: spreads numbers that follow each other

    struct Item {
        std::uint32_t link = kNone;
        std::uint32_t flows = 0;
        ExactSum load;
    };

    [[nodiscard]] Item& place_of(std::uint32_t link) {
        std::size_t place = (link * kGoldenRatio) >> shift_;
        while (items_[place].link != link && items_[place].link != kNone) {
            place = (place + 1) & (items_.size() - 1);
        }
        return items_[place];
    }
    void grow() {
        const auto live = static_cast<std::size_t>(
            std::ranges::count_if(items_, [](const Item& item) { return item.flows > 0; }));
        std::vector<Item> before = std::exchange(items_, std::vector<Item>(std::bit_ceil(2 * live + kLeast)));
        shift_ = 32 - static_cast<unsigned>(std::countr_zero(items_.size()));
        used_ = live;
        for (const Item& item : before) {
            if (item.flows > 0) {
                place_of(item.link) = item;
            }
        }
    }

    std::vector<Item> items_;  // a power of two of them
    std::size_t used_ = 0;
    unsigned shift_ = 0;  // of 32 bits, to the number of a place
};

}  // namespace astrolabe::network
