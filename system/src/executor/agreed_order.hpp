/// One order for the ranks of a group: a rank that reaches its end may extend it, all follow it.
///
/// Entries that every rank has passed are dropped, so memory follows the skew between ranks. All O(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/schedule/shape.hpp>

namespace astrolabe::system::detail {

template <class T>
class AgreedOrder {
public:
    explicit AgreedOrder(std::size_t ranks)
        : next_(ranks, 0) {}

    /// The rank's next entry; null where it has followed the order to its end.
    [[nodiscard]] const T* next(Position position) const {
        const std::uint64_t index = next_[position] - first_;
        return index == entries_.size() ? nullptr : &entries_[index].value;
    }
    void extend(T value) { entries_.push_back({std::move(value), 0}); }
    /// The rank passes its next entry.
    void pass(Position position) {
        Entry& entry = entries_[next_[position]++ - first_];
        if (++entry.passed == next_.size()) {
            ASTROLABE_ASSERT(&entry == &entries_.front(), "ranks keep to the agreed order");
            entries_.pop_front();
            ++first_;
        }
    }

private:
    struct Entry {
        T value;
        std::size_t passed;  // by so many ranks
    };
    std::deque<Entry> entries_;
    std::uint64_t first_ = 0;          // number of the first entry that is not dropped
    std::vector<std::uint64_t> next_;  // number of the next entry, by position
};

}  // namespace astrolabe::system::detail
