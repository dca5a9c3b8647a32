/// A calendar queue: events by time, for many that are due within the next few buckets.
///
/// Time is cut into buckets of equal length. Events of the next `buckets` buckets are appended to theirs and
/// sorted when the bucket opens. Those of the open bucket and those beyond all buckets are in a heap. Events
/// of one time leave in the order pushed. Example: buckets of 1 us, 4 of them, and bucket 2 (2 to 3 us) is
/// open. Events at 2.5 us and at 9 us go to the heap, one at 4.2 us to bucket 4.
///
/// Complexity: push O(1), or O(log heap) for an event in the heap; pop amortised O(log events of its bucket).
/// The search for the next event skips empty buckets, at most `buckets`. Memory: the event and 32 bytes.
///
/// Source: Brown, Calendar queues, CACM 31 (1988), with a given length of a bucket.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include <astrolabe/core/units.hpp>

namespace astrolabe {

template <class Event>
class CalendarQueue {
public:
    /// Precondition: both positive.
    CalendarQueue(Time bucket, std::uint64_t buckets)
        : length_(bucket),
          buckets_(buckets) {}

    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] std::size_t size() const { return open_.size() + in_buckets_ + heap_.size(); }

    /// Of the next event; Time::max() if there is none.
    [[nodiscard]] Time next_time() {
        if (open_.empty() && in_buckets_ > 0) {
            open_next_bucket();
        }
        const Time open = open_.empty() ? Time::max() : open_.back().time;
        return heap_.empty() ? open : std::min(open, heap_.top().time);
    }

    /// `time` is no earlier than that of the event popped last.
    void push(Time time, const Event& event) {
        const auto bucket = static_cast<std::uint64_t>(time / length_);
        if (bucket > current_ && bucket - current_ <= buckets_.size()) {
            buckets_[bucket % buckets_.size()].push_back({time, pushed_++, event});
            ++in_buckets_;
        } else {
            heap_.push({time, pushed_++, event});
        }
    }

    /// Removes and returns the next event. Precondition: `next_time` was called since the last change.
    [[nodiscard]] Event pop() {
        if (is_next_open()) {
            constexpr std::size_t kAhead = 8;
            if (open_.size() > kAhead) {
                __builtin_prefetch(&current_events_[open_[open_.size() - 1 - kAhead].number].event);
            }
            const Event event = current_events_[open_.back().number].event;
            open_.pop_back();
            return event;
        }
        const Entry entry = heap_.top();
        heap_.pop();
        if (open_.empty() && in_buckets_ == 0) {
            // After a pause longer than all buckets, later events go to buckets again.
            current_ = std::max(current_, static_cast<std::uint64_t>(entry.time / length_));
        }
        return entry.event;
    }

    /// `visit(event)` for each, in no order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Key& key : open_) {
            visit(current_events_[key.number].event);
        }
        for (const std::vector<Entry>& bucket : buckets_) {
            for (const Entry& entry : bucket) {
                visit(entry.event);
            }
        }
        for (auto left = heap_; !left.empty(); left.pop()) {
            visit(left.top().event);
        }
    }

private:
    struct Entry {
        Time time;
        std::uint64_t pushed = 0;  ///< before it, since the start
        Event event;

        bool operator>(const Entry& other) const {
            return time > other.time || (time == other.time && pushed > other.pushed);
        }
    };
    struct Key {
        Time time;
        std::uint32_t number = 0;  ///< in current_events_, where they are in the order pushed

        bool operator>(const Key& other) const {
            return time > other.time || (time == other.time && number > other.number);
        }
    };

    [[nodiscard]] bool is_next_open() const {
        return !open_.empty() && (heap_.empty() || heap_.top() > current_events_[open_.back().number]);
    }

    /// Precondition: no event is left of the current bucket, and some bucket has one.
    void open_next_bucket() {
        do {
            ++current_;
        } while (buckets_[current_ % buckets_.size()].empty());
        current_events_.clear();
        current_events_.swap(buckets_[current_ % buckets_.size()]);
        in_buckets_ -= current_events_.size();
        for (const Entry& entry : current_events_) {
            open_.push_back({entry.time, static_cast<std::uint32_t>(open_.size())});
        }
        std::sort(open_.begin(), open_.end(), std::greater<>());
    }

    Time length_;
    std::vector<std::vector<Entry>> buckets_;  // after the current one, cyclic
    std::uint64_t in_buckets_ = 0;
    std::uint64_t current_ = 0;
    std::vector<Entry> current_events_;
    std::vector<Key> open_;  // left of the current bucket; the next one last
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
    std::uint64_t pushed_ = 0;
};

}  // namespace astrolabe
