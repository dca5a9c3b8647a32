/// When each connection will have served its current message: a binary heap keyed by connection, so that a
/// change of rate moves one entry. Equal times leave in the order of connection numbers. O(log n) per change.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network {

class CompletionHeap {
public:
    struct Entry {
        Time time;
        std::uint32_t connection;
    };

    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] const Entry& top() const { return entries_.front(); }
    /// Time::max() when empty.
    [[nodiscard]] Time next_time() const { return entries_.empty() ? Time::max() : entries_.front().time; }
    [[nodiscard]] bool contains(std::uint32_t connection) const { return positions_[connection] != kAbsent; }

    void add_connection() { positions_.push_back(kAbsent); }

    void set(std::uint32_t connection, Time time) {
        std::uint32_t position = positions_[connection];
        if (position == kAbsent) {
            position = static_cast<std::uint32_t>(entries_.size());
            entries_.push_back({time, connection});
            positions_[connection] = position;
            rise(position);
            return;
        }
        const bool earlier = time < entries_[position].time;
        entries_[position].time = time;
        if (earlier) {
            rise(position);
        } else {
            sink(position);
        }
    }

    void remove(std::uint32_t connection) {
        const std::uint32_t position = positions_[connection];
        if (position == kAbsent) {
            return;
        }
        positions_[connection] = kAbsent;
        const Entry last = entries_.back();
        entries_.pop_back();
        if (position < entries_.size()) {
            entries_[position] = last;
            positions_[last.connection] = position;
            rise(position);
            sink(positions_[last.connection]);
        }
    }

private:
    static constexpr std::uint32_t kAbsent = 0xffffffffU;

    static bool before(const Entry& a, const Entry& b) {
        return a.time < b.time || (a.time == b.time && a.connection < b.connection);
    }

    void place(std::uint32_t position, const Entry& entry) {
        entries_[position] = entry;
        positions_[entry.connection] = position;
    }

    void rise(std::uint32_t position) {
        const Entry entry = entries_[position];
        while (position > 0) {
            const std::uint32_t parent = (position - 1) / 2;
            if (!before(entry, entries_[parent])) {
                break;
            }
            place(position, entries_[parent]);
            position = parent;
        }
        place(position, entry);
    }

    void sink(std::uint32_t position) {
        const Entry entry = entries_[position];
        const auto size = static_cast<std::uint32_t>(entries_.size());
        for (;;) {
            std::uint32_t child = 2 * position + 1;
            if (child >= size) {
                break;
            }
            if (child + 1 < size && before(entries_[child + 1], entries_[child])) {
                ++child;
            }
            if (!before(entries_[child], entry)) {
                break;
            }
            place(position, entries_[child]);
            position = child;
        }
        place(position, entry);
    }

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> positions_;  // by connection
};

}  // namespace astrolabe::network
