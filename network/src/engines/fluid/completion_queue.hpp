/// When each connection will have served its current message, for many connections that end together and
/// whose times change often.
///
/// Connections planned one after another for the same time share a *bucket*; a heap holds buckets, not
/// connections. To plan anew writes the time and adds an entry elsewhere; the old entry is stale and dropped
/// when met. When more entries are stale than not, all are thrown out.
///
/// A connection whose time changes often is planned for a *bound*, a time that is not after its end, and its
/// end is asked for only when no other is earlier (`next_end`). A bound that stays valid costs nothing when
/// the time behind it changes.
///
/// Complexity: O(1) to plan for a time met shortly before, O(log buckets) otherwise; O(log) amortised to take
/// what is due. Memory: 9 bytes per connection, 8 per entry, 24 per bucket.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe::network {

class CompletionQueue {
public:
    void add_connection() {
        planned_.push_back(Time::max());
        is_bound_.push_back(0);
    }

    /// The time or bound planned for; Time::max(): none.
    [[nodiscard]] Time planned(std::uint32_t connection) const { return planned_[connection]; }
    /// What is planned for the connection is from now on a bound.
    void loosen(std::uint32_t connection) {
        bounds_ += is_bound_[connection] == 0 ? 1 : 0;
        is_bound_[connection] = 1;
    }

    [[nodiscard]] bool contains(std::uint32_t connection) const {
        return planned_[connection] != Time::max();
    }

    /// time < Time::max().
    void set(std::uint32_t connection, Time time) {
        if (planned_[connection] == time) {
            tighten(connection);
            return;
        }
        tighten(connection);
        count_ += contains(connection) ? 0 : 1;
        planned_[connection] = time;
        insert(connection, time);
        if (used_entries_ > 2 * count_ + kTolerated) {
            throw_out_stale();
        }
    }

    void remove(std::uint32_t connection) {
        tighten(connection);
        count_ -= contains(connection) ? 1 : 0;
        planned_[connection] = Time::max();
    }

    [[nodiscard]] bool empty() const { return count_ == 0; }

    /// The earliest planned; Time::max() if nothing is.
    [[nodiscard]] Time next_time() {
        while (!heap_.empty()) {
            Bucket& bucket = buckets_[heap_.front().bucket];
            const Time time = heap_.front().time;
            while (bucket.first != kNone && planned_[entries_[bucket.first].connection] != time) {
                bucket.first = release_entry(bucket.first);
            }
            if (bucket.first != kNone) {
                return time;
            }
            drop_first_bucket();
        }
        return Time::max();
    }

    /// Replaces bounds by what `end_of(connection)` returns, Time::max() if there is no end, until none is
    /// before or at the earliest end, or all are after `limit`; returns next_time().
    template <class EndOf>
    Time next_end(Time limit, EndOf&& end_of) {
        for (;;) {
            const Time time = next_time();
            if (bounds_ == 0 || time == Time::max() || time > limit) {
                return time;
            }
            find_bounds(time);
            if (bounds_at_front_.empty()) {
                return time;
            }
            for (const std::uint32_t connection : bounds_at_front_) {
                const Time end = end_of(connection);
                if (end == Time::max()) {
                    remove(connection);
                } else {
                    set(connection, end);
                }
            }
        }
    }

    /// Removes what is planned for next_time() and returns it in the order of numbers, valid until the next
    /// call of `take`.
    std::span<const std::uint32_t> take() {
        taken_.clear();
        for (const Time time = next_time(); !heap_.empty() && heap_.front().time == time;) {
            for (std::uint32_t entry = buckets_[heap_.front().bucket].first; entry != kNone;) {
                const std::uint32_t connection = entries_[entry].connection;
                if (planned_[connection] == time) {
                    remove(connection);
                    taken_.push_back(connection);
                }
                entry = release_entry(entry);
            }
            drop_first_bucket();
        }
        // Often in order, or in order twice where ranks pass something on in a ring.
        const auto second = std::is_sorted_until(taken_.begin(), taken_.end());
        if (std::is_sorted(second, taken_.end())) {
            std::inplace_merge(taken_.begin(), second, taken_.end());
        } else {
            std::sort(taken_.begin(), taken_.end());
        }
        return taken_;
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr std::size_t kTolerated = 1024;  ///< stale entries
    static constexpr std::size_t kRecent = 16;

    struct Entry {
        std::uint32_t connection;
        std::uint32_t next;  ///< of the bucket, or of the free ones
    };
    struct Bucket {
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
    };
    struct HeapItem {
        Time time;
        std::uint32_t bucket;
    };
    /// A time planned for lately; the bucket may have been dropped since.
    struct Recent {
        Time time = Time::max();
        std::uint32_t bucket = kNone;
    };

    void tighten(std::uint32_t connection) {
        bounds_ -= is_bound_[connection];
        is_bound_[connection] = 0;
    }

    /// Into bounds_at_front_, those for `time`, which is the earliest.
    void find_bounds(Time time) {
        bounds_at_front_.clear();
        places_.assign(1, 0);
        while (!places_.empty()) {
            const std::size_t place = places_.back();
            places_.pop_back();
            if (place >= heap_.size() || heap_[place].time != time) {
                continue;
            }
            for (std::uint32_t i = buckets_[heap_[place].bucket].first; i != kNone; i = entries_[i].next) {
                const std::uint32_t connection = entries_[i].connection;
                if (planned_[connection] == time && is_bound_[connection] != 0) {
                    bounds_at_front_.push_back(connection);
                }
            }
            places_.push_back(2 * place + 1);
            places_.push_back(2 * place + 2);
        }
        // One that was planned for this time twice has two entries.
        std::sort(bounds_at_front_.begin(), bounds_at_front_.end());
        const auto last = std::unique(bounds_at_front_.begin(), bounds_at_front_.end());
        bounds_at_front_.erase(last, bounds_at_front_.end());
    }

    static bool later(const HeapItem& a, const HeapItem& b) { return a.time > b.time; }

    [[nodiscard]] Recent& recent(Time time) {
        return recent_[(static_cast<std::uint64_t>(time.count()) * 0x9e3779b97f4a7c15U) >> 60];
    }

    void insert(std::uint32_t connection, Time time) {
        std::uint32_t entry = free_entry_;
        if (entry == kNone) {
            entry = static_cast<std::uint32_t>(entries_.size());
            entries_.push_back({connection, kNone});
        } else {
            free_entry_ = entries_[entry].next;
            entries_[entry] = {connection, kNone};
        }
        ++used_entries_;
        Recent& known = recent(time);
        if (known.time == time) {
            entries_[std::exchange(buckets_[known.bucket].last, entry)].next = entry;
            return;
        }
        std::uint32_t number = 0;
        if (free_buckets_.empty()) {
            number = static_cast<std::uint32_t>(buckets_.size());
            buckets_.emplace_back();
        } else {
            number = free_buckets_.back();
            free_buckets_.pop_back();
        }
        buckets_[number] = {entry, entry};
        known = {time, number};
        heap_.push_back({time, number});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    /// Returns the entry behind it.
    std::uint32_t release_entry(std::uint32_t entry) {
        --used_entries_;
        return std::exchange(entries_[entry].next, std::exchange(free_entry_, entry));
    }

    void drop_first_bucket() {
        const HeapItem first = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end(), later);
        heap_.pop_back();
        free_buckets_.push_back(first.bucket);
        Recent& known = recent(first.time);
        if (known.bucket == first.bucket) {
            known = Recent{};
        }
    }

    void throw_out_stale() {
        std::vector<std::uint32_t> live;
        live.reserve(count_);
        for (const HeapItem& item : heap_) {
            for (std::uint32_t i = buckets_[item.bucket].first; i != kNone; i = entries_[i].next) {
                if (planned_[entries_[i].connection] == item.time) {
                    live.push_back(entries_[i].connection);
                }
            }
        }
        std::sort(live.begin(), live.end(), [this](std::uint32_t a, std::uint32_t b) {
            return planned_[a] < planned_[b] || (planned_[a] == planned_[b] && a < b);
        });
        live.erase(std::unique(live.begin(), live.end()), live.end());
        entries_.clear();
        buckets_.clear();
        free_buckets_.clear();
        heap_.clear();
        recent_.fill(Recent{});
        free_entry_ = kNone;
        used_entries_ = 0;
        for (const std::uint32_t connection : live) {
            insert(connection, planned_[connection]);
        }
    }

    std::vector<Time> planned_;           // by connection
    std::vector<std::uint8_t> is_bound_;  // by connection: 1 if what is planned is a bound
    std::size_t count_ = 0;               // of those planned
    std::size_t bounds_ = 0;              // of these, how many are bounds
    std::vector<Entry> entries_;
    std::uint32_t free_entry_ = kNone;
    std::size_t used_entries_ = 0;
    std::vector<Bucket> buckets_;
    std::vector<std::uint32_t> free_buckets_;
    std::vector<HeapItem> heap_;
    std::array<Recent, kRecent> recent_;
    std::vector<std::uint32_t> taken_;
    std::vector<std::uint32_t> bounds_at_front_;
    std::vector<std::size_t> places_;  // in heap_, to be looked at
};

}  // namespace astrolabe::network
